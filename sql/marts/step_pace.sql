-- one row per step line that the period saw whose steps survive: what one of its steps took, and the MFU of that
-- do not sum or average: a line stands for several steps; first lines of attempts are left out, for their warm-up
-- step_s: net time of one step, without the stalls around it; in seconds
-- mfu: model FLOPs of its steps / (net time × accelerators × peak FLOP/s); null where the run's FLOPs or peak are not known
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

spans as (
    select
        s.run_id,
        s.attempt,
        s.start_ts,
        s.end_ts,
        s.steps,
        s.first_span,
        s.net_us / 1e6 / s.steps as step_s,
        s.tokens / s.steps as step_tokens,
        a.counted_gpus as gpus,
        r.peak_flops_per_gpu,
        -- of a line that crosses a bound of the period, the steps that lie inside
        s.surviving_steps
            * (epoch_us(least(s.end_ts, p.period_end)) - epoch_us(greatest(s.start_ts, p.period_start)))
            / (epoch_us(s.end_ts) - epoch_us(s.start_ts)) as surviving_steps,
    from ledger.steps as s
    inner join period as p on s.start_ts < p.period_end and s.end_ts > p.period_start
    inner join ledger.runs as r using (run_id)
    inner join ledger.attempts as a using (run_id, attempt)
    where s.surviving_steps > 0 and s.net_us > 0 and s.end_ts > s.start_ts
),

work as (
    select run_id, sum(model_flops)::double as model_flops
    from marts.model_work
    group by run_id
    having count(model_flops) = count(*)
),

-- what the run's FLOPs come to for a token, or for a step where lines tell no tokens
rates as (
    select
        s.run_id,
        w.model_flops / sum(s.surviving_steps * s.step_tokens) as flops_per_token,
        w.model_flops / sum(s.surviving_steps) as flops_per_step,
        count(s.step_tokens) = count(*) as tells_tokens,
    from spans as s
    inner join work as w using (run_id)
    group by s.run_id, w.model_flops
),

final as (
    select
        s.run_id,
        s.attempt,
        s.start_ts,
        s.end_ts,
        s.steps,
        s.step_s,
        case when r.tells_tokens then r.flops_per_token * s.step_tokens else r.flops_per_step end
            / (s.step_s * s.gpus * s.peak_flops_per_gpu) as mfu,
    from spans as s
    left join rates as r using (run_id)
    where not s.first_span
)

select * from final
order by run_id, attempt, start_ts
