-- one row per run and reason for time of which nobody knows what it was spent on; one row of zero where there is none
-- do not add shares over runs
-- reason: why the time is unknown
-- share: gpu_s of capacity less planned time
with

reasons as (
    select
        w.run_id,
        w.gpu_us,
        case
            when w.category = 'unobserved' then 'held, and no trainer log of that time exists'
            when w.category <> 'unattributed' then 'counted as unknown by policy: ' || c.title
            when w.attempt is null and w.held then 'held, outside any attempt, and no line says what happened'
            when w.attempt is null then 'no line and no accounting of that time'
            else 'inside an attempt, and no line says what happened'
        end as reason,
    from ledger.window_intervals as w
    inner join seeds.categories as c using (category)
    where w.layer = 'unknown' and w.part <> 'spare'
),

sums as (
    select run_id, reason, sum(gpu_us) as gpu_us
    from reasons
    group by all
),

final as (
    select
        p.run_id,
        coalesce(s.reason, 'none: everything is attributed') as reason,
        coalesce(s.gpu_us, 0) / 1e6 as gpu_s,
        coalesce(s.gpu_us, 0) / 1e6 / nullif(p.capacity_gpu_s - p.planned_gpu_s, 0) as share,
    from marts.period as p
    left join sums as s using (run_id)
    where p.run_id <> '(all)'
)

select * from final
order by run_id, gpu_s desc, reason
