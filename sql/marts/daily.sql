-- one row per window of the report, over all runs
-- add GPU-seconds over windows; never add or average shares: marts.period has their sums
with

final as (
    select
        '(all)' as run_id,
        w.window_start,
        w.window_end,
        coalesce(f.gpus, 0) as gpus,
        coalesce(f.capacity_gpu_s, 0) as capacity_gpu_s,
        coalesce(f.held_gpu_s, 0) as held_gpu_s,
        coalesce(f.productive_gpu_s, 0) as productive_gpu_s,
        coalesce(f.infrastructure_gpu_s, 0) as infrastructure_gpu_s,
        coalesce(f.framework_gpu_s, 0) as framework_gpu_s,
        coalesce(f.planned_gpu_s, 0) as planned_gpu_s,
        coalesce(f.unknown_gpu_s, 0) as unknown_gpu_s,
        coalesce(f.spare_gpu_s, 0) as spare_gpu_s,
        coalesce(f.provisional_gpu_s, 0) as provisional_gpu_s,
        coalesce(f.sst_gpu_s, 0) as sst_gpu_s,
        coalesce(f.lst_gpu_s, 0) as lst_gpu_s,
        f.* exclude (
            scope, run_id, window_start, window_end, windows, gpus, capacity_gpu_s, held_gpu_s, productive_gpu_s,
            infrastructure_gpu_s, framework_gpu_s, planned_gpu_s, unknown_gpu_s, spare_gpu_s, provisional_gpu_s,
            sst_gpu_s, lst_gpu_s, first_queue_wait_gpu_s, undefined_reason, g_model_reason
        ),
        coalesce(f.first_queue_wait_gpu_s, 0) as first_queue_wait_gpu_s,
        case when f.scope is null then 'no run in this span' else f.undefined_reason end as undefined_reason,
        case when f.scope is null then 'no productive time' else f.g_model_reason end as g_model_reason,
    from ledger.windows as w
    left join marts.figures as f on f.scope = 'window' and f.window_start = w.window_start
)

select * from final
order by window_start
