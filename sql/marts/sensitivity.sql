-- one row per run over the period, and one with run_id (all): how far goodput moves under other readings
-- compare columns of one row; never average over rows
-- as_is: training-time goodput as reported
-- unknown_all_lost: goodput if all unknown time was lost; the same as reported, which counts it so
-- unknown_all_productive: goodput if all unknown time was productive
-- lost_to_last_announced: goodput if steps had survived to the last announced save instead of the last durable one
-- clocks_not_corrected: goodput had no clock been corrected; the same as reported where none was
-- unknown_gpu_s: unknown time; in GPU-seconds
-- announced_gpu_s: lost step time that a save had been announced for, though never confirmed; in GPU-seconds
with

-- the last save that an attempt began, whatever became of it
announced as (
    select run_id, attempt, max(step) as step
    from ledger.saves
    where begin_ts is not null
    group by run_id, attempt
),

lost_spans as (
    select
        s.run_id,
        s.start_ts,
        s.end_ts,
        -- lost steps of the span up to the announced one
        greatest(least(s.step_last, n.step) - greatest(s.step_first - 1, coalesce(a.survives_to, s.step_first - 1)), 0) as steps,
        s.net_us / s.steps as step_us,
        a.counted_gpus as gpus,
    from ledger.steps as s
    inner join ledger.attempts as a using (run_id, attempt)
    inner join announced as n using (run_id, attempt)
    where s.surviving_steps < s.steps and n.step >= s.step_first
),

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

rescued as (
    select l.run_id, sum((l.steps * l.step_us * l.gpus)::hugeint) as gpu_us
    from lost_spans as l
    inner join period as p on l.start_ts >= p.period_start and l.end_ts <= p.period_end
    group by l.run_id
),

with_all as (
    select run_id, gpu_us / 1e6 as gpu_s from rescued
    union all
    select '(all)' as run_id, sum(gpu_us) / 1e6 as gpu_s from rescued
),

final as (
    select
        p.run_id,
        p.training_time_goodput as as_is,
        p.training_time_goodput as unknown_all_lost,
        p.training_time_goodput + p.unknown_gpu_s / nullif(p.capacity_gpu_s - p.planned_gpu_s, 0) as unknown_all_productive,
        p.training_time_goodput + coalesce(w.gpu_s, 0) / nullif(p.capacity_gpu_s - p.planned_gpu_s, 0) as lost_to_last_announced,
        case when (select count(*) from ledger.unmoved) = 0 then p.training_time_goodput else u.training_time_goodput end as clocks_not_corrected,
        p.unknown_gpu_s,
        coalesce(w.gpu_s, 0) as announced_gpu_s,
    from marts.period as p
    left join with_all as w using (run_id)
    left join ledger.unmoved as u using (run_id)
)

select * from final
order by run_id = '(all)', run_id
