-- one row per scope: run and window, run over the period, window over all runs, and everything
-- do not sum over scopes: each scope holds all GPU-time once; and never add or average shares
-- scope: run_window, run, window or all
-- run_id: run, or (all)
-- windows: windows that the row covers
with

base as (
    select
        s.*,
        r.gpus,
        -- nominal accelerators count once per run, however many windows it has
        row_number() over (partition by s.run_id order by s.window_start) = 1 as first_of_run,
        -- integers, in millionths of a FLOP: their sums do not depend on the order of the rows
        (s.capacity_gpu_us - s.planned_gpu_us) * r.peak_flops_per_gpu::hugeint as peak_flop_budget,
        s.productive_gpu_us * r.peak_flops_per_gpu::hugeint as productive_peak_flop,
        case
            when s.productive_gpu_us = 0 then 0
            -- one is counted then, and what many did would be many times its peak
            when r.gpus_source not like 'not known%' or r.gpus_source is null then m.model_flops
        end as model_flops,
        m.steady_flops,
        m.steady_peak_flops,
        case
            when s.productive_gpu_us = 0 then null
            when r.gpus_source like 'not known%' then 'the number of accelerators is not known'
            when r.peak_flops_per_gpu is null then 'the peak FLOP/s of the accelerator is not known'
            when m.model_flops is null then coalesce(m.flops_reason, 'no step line lies in the productive time')
        end as missing,
    from marts.layer_sums as s
    inner join ledger.runs as r using (run_id)
    left join marts.model_work as m using (run_id, window_start, window_end)
),

sums as (
    select
        grouping(run_id, window_start) as level,
        run_id,
        window_start,
        window_end,
        count(distinct window_start) as windows,
        sum(gpus) as window_gpus,
        sum(gpus) filter (where first_of_run) as run_gpus,
        coalesce(sum(capacity_gpu_us), 0) as capacity_gpu_us,
        coalesce(sum(held_gpu_us), 0) as held_gpu_us,
        coalesce(sum(productive_gpu_us), 0) as productive_gpu_us,
        coalesce(sum(infrastructure_gpu_us), 0) as infrastructure_gpu_us,
        coalesce(sum(framework_gpu_us), 0) as framework_gpu_us,
        coalesce(sum(planned_gpu_us), 0) as planned_gpu_us,
        coalesce(sum(unknown_gpu_us), 0) as unknown_gpu_us,
        coalesce(sum(spare_gpu_us), 0) as spare_gpu_us,
        coalesce(sum(provisional_gpu_us), 0) as provisional_gpu_us,
        coalesce(sum(provisional_end_gpu_us), 0) as provisional_end_gpu_us,
        coalesce(sum(first_queue_wait_gpu_us), 0) as first_queue_wait_gpu_us,
        coalesce(sum(sst_gpu_us), 0) as sst_gpu_us,
        coalesce(sum(lst_gpu_us), 0) as lst_gpu_us,
        case when count(model_flops) = count(*) then sum(model_flops) end as model_flops,
        case when count(peak_flop_budget) = count(*) then sum(peak_flop_budget) end as peak_flop_budget,
        case when count(productive_peak_flop) = count(*) then sum(productive_peak_flop) end as productive_peak_flop,
        case when count(missing) = 0 then sum(steady_flops) end as steady_flops,
        case when count(missing) = 0 then sum(steady_peak_flops) end as steady_peak_flops,
        min(missing) as missing,
        string_agg(distinct run_id, ', ' order by run_id) filter (where missing is not null) as missing_runs,
    from base
    group by grouping sets ((run_id, window_start, window_end), (run_id), (window_start, window_end), ())
),

-- the ledger's letters: W capacity, L planned, U unknown, I infrastructure, F framework, P productive
lettered as (
    select
        *,
        capacity_gpu_us as w,
        capacity_gpu_us - planned_gpu_us as w_l,
        capacity_gpu_us - planned_gpu_us - unknown_gpu_us as w_lu,
        capacity_gpu_us - planned_gpu_us - unknown_gpu_us - infrastructure_gpu_us as w_lui,
        productive_gpu_us as p,
    from sums
),

final as (
    select
        ['run_window', 'run', 'window', 'all'][level + 1] as scope,
        coalesce(run_id, '(all)') as run_id,
        window_start,
        window_end,
        windows,
        coalesce(case when level in (0, 2) then window_gpus else run_gpus end, 0)::bigint as gpus,

        -- GPU-seconds
        capacity_gpu_us / 1e6 as capacity_gpu_s,
        held_gpu_us / 1e6 as held_gpu_s,
        productive_gpu_us / 1e6 as productive_gpu_s,
        infrastructure_gpu_us / 1e6 as infrastructure_gpu_s,
        framework_gpu_us / 1e6 as framework_gpu_s,
        planned_gpu_us / 1e6 as planned_gpu_s,
        unknown_gpu_us / 1e6 as unknown_gpu_s,
        spare_gpu_us / 1e6 as spare_gpu_s,
        case when level in (0, 2) then provisional_gpu_us else provisional_end_gpu_us end / 1e6 as provisional_gpu_s,
        sst_gpu_us / 1e6 as sst_gpu_s,
        lst_gpu_us / 1e6 as lst_gpu_s,

        -- shares; a division by zero is null
        p / nullif(w, 0) as productive_share,
        p / nullif(w_l, 0) as training_time_goodput,
        w_lu / nullif(w_l, 0) as g_known,
        w_lui / nullif(w_lu, 0) as g_infra,
        p / nullif(w_lui, 0) as g_framework,
        (w - sst_gpu_us - lst_gpu_us) / nullif(w, 0) as g_framework_article,
        model_flops / nullif(productive_peak_flop / 1e6, 0) as g_model,
        steady_flops / nullif(steady_peak_flops, 0) as mfu_steady,
        model_flops / nullif(peak_flop_budget / 1e6, 0) as composite,

        -- FLOPs
        model_flops::double as model_flops,
        peak_flop_budget / 1e6 as peak_flop_budget,

        -- shown apart
        first_queue_wait_gpu_us / 1e6 as first_queue_wait_gpu_s,
        case
            when w = 0 then 'no run in this span'
            when w_l = 0 then 'all of it was planned'
            when w_lu = 0 then 'nothing is known about it'
            when w_lui = 0 then 'no time at work'
        end as undefined_reason,
        case
            when p = 0 then 'no productive time'
            when missing is null then null
            when level in (0, 1) then missing
            else format('not known for {}: {}', missing_runs, missing)
        end as g_model_reason,
    from lettered
)

select * from final
order by scope, run_id, window_start
