-- one row per incident and category that it cost time in, and what that would have been otherwise
-- do not add the two suppositions to what was paid, or to each other: each is the same cost told once more
-- seconds: wall time of it on the accelerators that the run held
-- gpu_s: what it cost; its sum over an incident is total_gpu_s of ledger.incidents; in GPU-seconds
-- detected_at_once_gpu_s: what would be left of it had the fault been noticed at once: no hang; in GPU-seconds
-- saved_before_gpu_s: what would be left of it had a checkpoint been finished at the last progress: no lost step before that; in GPU-seconds
with

costs as (
    select
        i.incident_id,
        c.category,
        sum(epoch_us(c.end_ts) - epoch_us(c.start_ts)) filter (where c.part = 'active') as wall_us,
        sum(c.gpu_us) as gpu_us,
        sum(
            c.gpus * greatest(0, least(epoch_us(c.end_ts), epoch_us(i.last_progress_ts)) - epoch_us(c.start_ts))
        ) filter (where i.last_progress_ts is not null) as before_us,
    from ledger.incidents as i
    inner join ledger.intervals as c using (incident_id)
    where c.part <> 'spare' and c.layer <> 'productive'
    group by all
),

final as (
    select
        incident_id,
        category,
        coalesce(wall_us, 0) / 1e6 as seconds,
        gpu_us / 1e6 as gpu_s,
        if(category = 'hang', 0, gpu_us) / 1e6 as detected_at_once_gpu_s,
        if(category = 'lost_work', gpu_us - coalesce(before_us, 0), gpu_us) / 1e6 as saved_before_gpu_s,
    from costs
)

select * from final
order by incident_id, gpu_s desc, category
