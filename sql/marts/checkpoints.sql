-- one row per run that lived in the period: its saves, what they stalled, its restores, and the work that ends cost it
-- do not average medians over runs; add counts and GPU-seconds
-- saves: saves that began in the period
-- durable_saves: saves that were durable in the end
-- failed_saves: saves that a line says failed
-- uncommitted_saves: saves that began and were never committed, though others of the run were
-- unknown_saves: saves of which no line tells how they ended
-- timed_saves: saves whose stall is known
-- interval_steps: median of the steps from save to save
-- interval_s: median of the time in the loop from save to save; in seconds
-- stall_median_s: median stall of a save; in seconds
-- stall_p99_s: stall that one save in a hundred exceeds; in seconds
-- stall_mean_s: mean stall of a save, which is what a model of cost needs; in seconds
-- stall_max_s: longest stall of a save; in seconds
-- background_median_s: median of the time that a save took beside the steps; in seconds
-- stalled_gpu_s: accelerator time of all stalls for saves, those of lost steps included; in GPU-seconds
-- restores: attempts that went on from a checkpoint
-- restore_median_s: median of the time that a restore took; in seconds
-- losing_incidents: interruptions that lost work
-- lost_gpu_s: work that interruptions of the period lost; in GPU-seconds
-- lost_median_s: median over these interruptions of the work lost; in seconds
-- lost_max_s: most work that one of them lost; in seconds
-- reason: why there is no interval or no stall
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

lived as (
    select
        run_id,
        coalesce(sum(gpu_us) filter (where category = 'checkpoint_stall' or was = 'checkpoint_stall'), 0) as stalled_gpu_us,
    from ledger.window_intervals
    where part = 'active'
    group by run_id
),

saves as (
    select
        run_id,
        count(*) as saves,
        count_if(outcome = 'durable') as durable_saves,
        count_if(outcome = 'failed') as failed_saves,
        count_if(outcome = 'never committed') as uncommitted_saves,
        count_if(outcome = 'not known') as unknown_saves,
        count(stall_s) as timed_saves,
        coalesce(median(interval_steps) filter (where after_save), median(interval_steps)) as interval_steps,
        coalesce(median(interval_s) filter (where after_save and interval_s > 0), median(interval_s) filter (where interval_s > 0)) as interval_s,
        median(stall_s) as stall_median_s,
        quantile_cont(stall_s, 0.99) as stall_p99_s,
        sum((stall_s * 1000000)::bigint) / count(stall_s) / 1e6 as stall_mean_s,
        max(stall_s) as stall_max_s,
        median(background_s) as background_median_s,
    from marts.saves
    group by run_id
),

restores as (
    select
        r.run_id,
        count(*) as restores,
        median(r.duration_s) as restore_median_s,
    from ledger.restores as r
    left join ledger.attempts as a using (run_id, attempt)
    cross join period as p
    where not r.cold and coalesce(r.step, a.restored_step) > 0
        and coalesce(r.end_ts, a.loop_start_ts, a.start_ts) >= p.period_start
        and coalesce(r.end_ts, a.loop_start_ts, a.start_ts) < p.period_end
    group by r.run_id
),

losses as (
    select
        run_id,
        count_if(i.lost_gpu_s > 0) as losing_incidents,
        sum((i.lost_gpu_s * 1000000)::hugeint) / 1e6 as lost_gpu_s,
        median(i.lost_work_s) filter (where i.lost_gpu_s > 0) as lost_median_s,
        max(i.lost_work_s) filter (where i.lost_gpu_s > 0) as lost_max_s,
    from marts.incidents as i
    cross join period as p
    where i.kind not in ('completed', 'ongoing')
        and i.at_ts >= p.period_start
        and i.at_ts < p.period_end
    group by run_id
),

final as (
    select
        l.run_id,
        u.gpus,
        coalesce(s.saves, 0) as saves,
        coalesce(s.durable_saves, 0) as durable_saves,
        coalesce(s.failed_saves, 0) as failed_saves,
        coalesce(s.uncommitted_saves, 0) as uncommitted_saves,
        coalesce(s.unknown_saves, 0) as unknown_saves,
        coalesce(s.timed_saves, 0) as timed_saves,
        s.interval_steps,
        s.interval_s,
        s.stall_median_s,
        s.stall_p99_s,
        s.stall_mean_s,
        s.stall_max_s,
        s.background_median_s,
        l.stalled_gpu_us / 1e6 as stalled_gpu_s,
        coalesce(r.restores, 0) as restores,
        r.restore_median_s,
        coalesce(x.losing_incidents, 0) as losing_incidents,
        coalesce(x.lost_gpu_s, 0) as lost_gpu_s,
        x.lost_median_s,
        x.lost_max_s,
        case
            when coalesce(s.saves, 0) = 0 then 'no save in the logs of the period'
            when s.timed_saves = 0 then 'no line tells how long a save stopped the loop'
            when s.interval_s is null then 'no two saves to measure an interval between'
        end as reason,
    from lived as l
    inner join ledger.runs as u using (run_id)
    left join saves as s using (run_id)
    left join restores as r using (run_id)
    left join losses as x using (run_id)
)

select * from final
order by run_id
