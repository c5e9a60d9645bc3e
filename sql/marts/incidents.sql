-- one row per incident that touches the period, with all that it cost, inside the period or not
-- do not add total_gpu_s to marts.causes: that one counts only what lies inside the period
-- lost_work_s: wall time of steps that were lost; in seconds; null, as lost_steps and lost_gpu_s are, where nobody saw whether there were any
-- downtime_s: wall time that the incident cost beside lost work, until the next attempt made progress; in seconds
-- gpus: accelerators of the attempt that ended
-- evidence: path and line of the evidence
-- period_gpu_s: what it cost inside the period, planned time left out; in GPU-seconds
-- price: total_gpu_s at the configured price; null where none is configured
-- detection_s: from the fault to its detection; in seconds; null where nobody knows when the fault was, or who noticed
-- recovery_s: from the detection to the first step of the next attempt; in seconds
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

costs as (
    select
        incident_id,
        coalesce(sum(epoch_us(end_ts) - epoch_us(start_ts)) filter (where category = 'lost_work'), 0) / 1e6 as lost_work_s,
        coalesce(sum(epoch_us(end_ts) - epoch_us(start_ts)) filter (where category <> 'lost_work'), 0) / 1e6 as downtime_s,
    from ledger.intervals
    where part = 'active' and incident_id is not null and layer <> 'productive'
    group by incident_id
),

touching as (
    select
        incident_id,
        coalesce(sum(gpu_us) filter (where layer not in ('productive', 'planned') and part <> 'spare'), 0) / 1e6 as period_gpu_s,
    from ledger.window_intervals
    where incident_id is not null
    group by incident_id
),

final as (
    select
        i.* replace (case when i.lost_steps is not null or not coalesce(i.unseen, false) then i.lost_gpu_s end as lost_gpu_s),
        c.title,
        c.first_action,
        case when i.lost_steps is not null or not coalesce(i.unseen, false) then coalesce(k.lost_work_s, 0) end as lost_work_s,
        coalesce(k.downtime_s, 0) as downtime_s,
        coalesce(a.gpus, r.gpus) as gpus,
        i.evidence_path || ':' || i.evidence_line as evidence,
        coalesce(t.period_gpu_s, 0) as period_gpu_s,
        i.total_gpu_s / 3600 * (select max(gpu_hour) from config.price) as price,
        (epoch_us(i.detected_ts) - epoch_us(i.fault_ts)) / 1e6 as detection_s,
        (epoch_us(i.first_step_ts) - epoch_us(i.detected_ts)) / 1e6 as recovery_s,
    from ledger.incidents as i
    cross join period as p
    left join seeds.causes as c on c.code = i.cause
    left join costs as k using (incident_id)
    left join touching as t using (incident_id)
    left join ledger.attempts as a on a.run_id = i.run_id and a.attempt = i.attempt
    left join ledger.runs as r on r.run_id = i.run_id
    where t.incident_id is not null
        or (
            i.at_ts >= p.period_start
            and i.at_ts < p.period_end
        )
)

select * from final
order by at_ts, run_id, incident_id
