-- one row per interruption in the period: how long its hang, its detection and its recovery took, each apart
-- the three do not add to the cost of an incident, which holds lost work too; hang_s and detection_s overlap
-- inside_allocation: whether the next attempt started inside the same allocation
-- hang_s: time in which the loop stood still and nobody had noticed, as the ledger counts it; in seconds; null where detection_s is
-- detection_s: from the fault to its detection; in seconds; null where nobody knows when the fault was, or who noticed
-- recovery_s: from the detection, else the release, to the first step of the next attempt that made one; in seconds
-- outage_s: from the fault, else the last progress, else the release, to the first step of the next attempt that made one; in seconds
-- catch_up_s: from that step to the one that had been reached before; in seconds
-- failed_starts: attempts between the interruption and that step that made none
-- back_ts: first step of the next attempt that made one
with

interruptions as (
    select distinct incident_id, run_id, attempt, kind, gpus, inside_allocation
    from marts.recovery_phases
),

hangs as (
    select incident_id, sum(epoch_us(end_ts) - epoch_us(start_ts)) / 1e6 as hang_s
    from ledger.intervals
    where category = 'hang' and part = 'active' and incident_id is not null
    group by incident_id
),

-- the next attempt that made a step; those between were failed starts
backs as (
    select
        i.incident_id,
        min(a.first_step_ts) as back_ts,
        min(a.attempt) - any_value(i.attempt) - 1 as failed_starts,
    from interruptions as i
    inner join ledger.attempts as a on a.run_id = i.run_id and a.attempt > i.attempt and a.first_step_ts is not null
    group by i.incident_id
),

final as (
    select
        r.incident_id,
        r.run_id,
        r.attempt,
        r.kind,
        r.gpus,
        i.cause,
        i.owner,
        r.inside_allocation,
        i.fault_ts,
        i.detected_ts,
        i.detected_estimated,
        b.back_ts,
        -- a loop whose fault or whose detection nobody dates may have stood still for any time
        case when i.detected_ts is not null and i.fault_ts is not null then coalesce(h.hang_s, 0) end as hang_s,
        (epoch_us(i.detected_ts) - epoch_us(i.fault_ts)) / 1e6 as detection_s,
        -- of an attempt that nobody saw, nobody knows when it stood still or who noticed: it counts from what is known
        (epoch_us(b.back_ts) - epoch_us(coalesce(i.detected_ts, i.released_ts))) / 1e6 as recovery_s,
        (epoch_us(b.back_ts) - epoch_us(coalesce(i.fault_ts, i.last_progress_ts, i.detected_ts, i.released_ts))) / 1e6 as outage_s,
        case when i.caught_up_ts is not null then greatest(epoch_us(i.caught_up_ts) - epoch_us(b.back_ts), 0) end / 1e6 as catch_up_s,
        b.failed_starts,
        i.mark,
    from interruptions as r
    inner join ledger.incidents as i using (incident_id)
    left join hangs as h using (incident_id)
    left join backs as b using (incident_id)
)

select * from final
order by coalesce(fault_ts, detected_ts, back_ts), incident_id
