-- one row per run and interval between saves: modelled overhead, from an eighth of the shorter to eight times the longer of the interval used and the best
-- do not add overheads of several intervals: each row is another world
-- interval_s: interval between saves; in seconds
-- stall_share: stall / interval; share of progress
-- loss_share: (interval / 2 + background) / time to failure; share of progress
-- overhead: both together; share of progress
-- is_flat: whether it is within 5 % of the least
with

bounds as (
    select
        run_id,
        stall_s,
        background_s,
        mttf_s,
        flat_from_s,
        flat_to_s,
        least(young_s, interval_s) / 8 as low_s,
        greatest(young_s, interval_s) * 8 as high_s,
    from marts.checkpoint_cost
    where young_s is not null
),

places as (
    select
        *,
        unnest(range(0, 97)) as n,
    from bounds
),

intervals as (
    select
        *,
        low_s * power(high_s / low_s, n / 96) as interval_s,
    from places
),

final as (
    select
        run_id,
        interval_s,
        stall_s / interval_s as stall_share,
        (interval_s / 2 + background_s) / mttf_s as loss_share,
        stall_s / interval_s + (interval_s / 2 + background_s) / mttf_s as overhead,
        interval_s between flat_from_s and flat_to_s as is_flat,
    from intervals
)

select * from final
order by run_id, interval_s
