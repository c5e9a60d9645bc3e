-- one row per run and window with surviving steps: model FLOPs, and the FLOPs that the silicon could have done
-- do not divide model_flops of one window by the productive time of another
-- sums are integers, so that they are the same whatever the order of the rows
-- model_flops: model FLOPs of surviving steps; null where neither configuration nor lines nor the shape of the model tell
-- steady_flops: model FLOPs of surviving steps in clean spans only
-- steady_peak_flops: net time of those spans × accelerators × peak FLOP/s
-- flops_source: what the FLOPs of a step were taken from
-- flops_reason: why model_flops is not known
with

blocks as (
    select distinct run_id
    from ledger.closed_spans
    where is_block
),

spans as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        s.window_start,
        s.surviving_steps,
        s.net_us * s.surviving_steps / s.steps as net_us,
        not s.first_span and not s.holds_stall as steady,
        s.tflops_per_gpu,
        s.mfu,
        a.counted_gpus as gpus,
        r.peak_flops_per_gpu,
        f.flops_per_token,
        f.source as token_source,
        f.reason as flops_reason,
        coalesce(p.recompute_counted, false) as recompute_counted,
        -- a printed share is one of the peak that its program divides by
        coalesce(d.logged_peak_flops, r.peak_flops_per_gpu) as mfu_peak_flops,
        s.tokens / s.steps as printed_tokens,
        -- what the start of a log tells is of a step of the optimizer, not of a block of training
        case when b.run_id is null then m.tokens_per_step end as tokens_per_step,
        b.run_id is not null as in_blocks,
        s.tokens_per_s,
        s.tokens_per_s_per_gpu,
        -- a printed rate holds for the printed step time, else for all the time since the line before
        coalesce(s.step_time_s, (epoch_us(s.end_ts) - epoch_us(s.start_ts)) / 1e6 / s.steps) as rated_s,
    from ledger.steps as s
    inner join ledger.runs as r using (run_id)
    inner join ledger.attempts as a using (run_id, attempt)
    left join ledger.flops as f using (run_id)
    left join ledger.printed_rates as p using (run_id)
    left join ledger.device_peaks as d using (run_id)
    left join ledger.model_shapes as m using (run_id)
    left join blocks as b using (run_id)
    where s.surviving_steps > 0
),

tokens as (
    select
        *,
        coalesce(printed_tokens, tokens_per_s * rated_s, tokens_per_s_per_gpu * gpus * rated_s, tokens_per_step) as step_tokens,
    from spans
),

sources as (
    select
        *,
        case
            when token_source = 'configured' and flops_per_token * step_tokens > 0 then 'configured FLOPs per token'
            -- what is computed a second time is no work of the model
            when tflops_per_gpu > 0 and not recompute_counted then 'printed TFLOP/s'
            when mfu * mfu_peak_flops > 0 then 'printed MFU'
            when flops_per_token * step_tokens > 0
                then
                case token_source
                    when 'line_ratio' then 'TFLOP/s ÷ tokens/s of other lines × tokens'
                    when 'log' then 'FLOPs printed at the start × tokens'
                    when 'shape' then 'shape of the model × tokens'
                    else '6 × parameters × tokens'
                end
        end as flops_source,
    from tokens
),

told as (
    select
        *,
        case
            when flops_source = 'printed TFLOP/s' then tflops_per_gpu * 1e12 * gpus * rated_s
            when flops_source = 'printed MFU' then mfu * mfu_peak_flops * gpus * rated_s
            when flops_source is not null then flops_per_token * step_tokens
        end as step_flops,
    from sources
),

-- a step of one model and batch always takes the same FLOPs: a few lines without a rate may borrow them
runs as (
    select
        run_id,
        median(step_flops) as usual_step_flops,
        coalesce(sum(surviving_steps) filter (where step_flops is not null), 0) / sum(surviving_steps) as told_share,
    from told
    group by run_id
),

main_sources as (
    select run_id, arg_max(flops_source, (steps, flops_source)) as flops_source
    from (
        select run_id, flops_source, sum(surviving_steps) as steps
        from told
        where flops_source is not null
        group by all
    )
    group by run_id
),

filled as (
    select
        t.* exclude (step_flops, flops_source),
        m.flops_source,
        r.told_share,
        case when r.told_share >= 0.9 then coalesce(t.step_flops, r.usual_step_flops) * t.surviving_steps end as flops,
    from told as t
    inner join runs as r using (run_id)
    left join main_sources as m using (run_id)
),

-- a span that crosses a border counts in each window by its share
weighted as (
    select
        f.* exclude (window_start),
        coalesce(f.window_start, b.window_start) as window_start,
        case when f.window_start is not null then 1.0 else coalesce(b.share, 0.0) end as weight,
    from filled as f
    left join ledger.border_spans as b using (run_id, attempt, step_first)
    where f.window_start is not null or b.window_start is not null
),

sums as (
    select
        run_id,
        window_start,
        sum((flops * weight)::hugeint) as model_flops,
        sum((flops * weight)::hugeint) filter (where steady) as steady_flops,
        sum((net_us / 1e6 * gpus * peak_flops_per_gpu * weight)::hugeint) filter (where steady) as steady_peak_flops,
        any_value(flops_source) as flops_source,
        any_value(told_share) as told_share,
        any_value(
            case
                when flops_per_token is null then flops_reason
                when in_blocks then 'progress is counted in blocks of training, and no line tells their tokens'
                else 'no line tells how many tokens a step has'
            end
        ) as why,
    from weighted
    group by run_id, window_start
),

final as (
    select
        s.run_id,
        s.window_start,
        w.window_end,
        s.* exclude (run_id, window_start, told_share, why),
        case
            when told_share = 0 then coalesce(why, 'no step line tells TFLOP/s, MFU or tokens with FLOPs per token')
            when told_share < 0.9 then format('only {:.0f} % of the steps tell their FLOPs', 100 * told_share)
        end as flops_reason,
    from sums as s
    inner join ledger.windows as w using (window_start)
)

select * from final
order by run_id, window_start
