-- one row per run, window and category of lost time, and who pays for it (a category may have several payers)
-- do not add shares over runs or windows: their denominators differ; capacity_missing counts, spares do not
with

capacity as (
    select run_id, window_start, capacity_gpu_us - planned_gpu_us as denominator_gpu_us
    from marts.layer_sums
),

sums as (
    select
        run_id,
        window_start,
        window_end,
        layer,
        category,
        charged_to,
        sum(gpu_us) as gpu_us,
    from ledger.window_intervals
    where part <> 'spare' and layer <> 'productive'
    group by all
),

final as (
    select
        s.run_id,
        s.window_start,
        s.window_end,
        s.layer,
        s.category,
        c.title,
        s.gpu_us,
        s.gpu_us / 1e6 as gpu_s,
        s.gpu_us / nullif(d.denominator_gpu_us, 0) as share,
        s.charged_to,
    from sums as s
    inner join seeds.categories as c using (category)
    inner join capacity as d using (run_id, window_start)
)

select * from final
order by run_id, window_start, gpu_us desc, category, charged_to
