-- one row per run over all windows of the report, and one with run_id (all)
-- do not add the row (all) to the others; provisional_gpu_s is as of the end of the period, not a sum of windows
with

period as (
    select
        min(window_start) as period_start,
        max(window_end) as period_end,
        count(*) as windows,
    from ledger.windows
),

final as (
    select
        f.run_id,
        p.period_start,
        p.period_end,
        p.windows,
        f.* exclude (scope, run_id, window_start, window_end, windows),
    from marts.figures as f
    cross join period as p
    where f.scope in ('run', 'all')
)

select * from final
order by run_id = '(all)', run_id
