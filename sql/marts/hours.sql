-- one row per UTC date and hour of the period in which a run lived
-- add GPU-seconds, never loss_share
-- day: UTC date
-- hour: hour of that day, 0 to 23
-- loss_gpu_s: infrastructure, framework and unknown; planned time is neither loss nor capacity here
-- loss_share: loss_gpu_s of capacity less planned time
-- top_category: category that cost most
with

cut as (
    select
        *,
        unnest(generate_series(epoch_us(start_ts) // 3600000000, (epoch_us(end_ts) - 1) // 3600000000)) as hour_no,
    from ledger.window_intervals
    where part <> 'spare' and end_ts > start_ts
),

pieces as (
    select
        hour_no,
        category,
        layer,
        (least(epoch_us(end_ts), (hour_no + 1) * 3600000000) - greatest(epoch_us(start_ts), hour_no * 3600000000))::hugeint
            * gpus as gpu_us,
    from cut
),

categories as (
    select hour_no, category, layer, sum(gpu_us) as gpu_us
    from pieces
    group by all
),

sums as (
    select
        hour_no,
        sum(gpu_us) as capacity_gpu_us,
        coalesce(sum(gpu_us) filter (where layer = 'planned'), 0) as planned_gpu_us,
        coalesce(sum(gpu_us) filter (where layer not in ('planned', 'productive')), 0) as loss_gpu_us,
        arg_max(category, (gpu_us, category)) filter (where layer not in ('planned', 'productive')) as top_category,
    from categories
    group by hour_no
),

final as (
    select
        make_timestamptz(hour_no * 3600000000)::date as day,
        (hour_no % 24)::bigint as hour,
        capacity_gpu_us as w_gpu_us,
        capacity_gpu_us / 1e6 as w_gpu_s,
        planned_gpu_us / 1e6 as planned_gpu_s,
        loss_gpu_us / 1e6 as loss_gpu_s,
        loss_gpu_us / nullif(capacity_gpu_us - planned_gpu_us, 0) as loss_share,
        top_category,
    from sums
)

select * from final
order by day, hour
