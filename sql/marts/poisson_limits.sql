-- one row per number of failures that occurs: the exact limits of 95 % on the mean that they come from
-- limits do not add: those of a sum of counts belong to the sum
-- events: number of events counted
-- events_low: mean at which this many events or more have a chance of 2.5 %; 0 where none was counted
-- events_high: mean at which this many events or fewer have a chance of 2.5 %
with recursive

counts as (
    select distinct failures as events
    from marts.failure_counts
),

-- A limit is the mean m at which the chance of at most k events is p: half the quantile of chi-square with
-- 2 (k + 1) degrees of freedom (Garwood, 1936). Below a count of n: k = n - 1 and p = 0.975; above: k = n and p = 0.025.
sides as (
    select events, 'low' as side, events - 1 as k, 0.975 as p, -1.959963984540054 as z from counts where events > 0
    union all
    select events, 'high' as side, events as k, 0.025 as p, 1.959963984540054 as z from counts
),

-- the formula of Wilson and Hilferty is near enough to begin with, but for one event
starts as (
    select
        *,
        0 as turn,
        (k + 1) * (1 - 1 / (9.0 * (k + 1)) + z / (3 * sqrt(k + 1))) ** 3 as m,
    from sides
),

-- Newton: the derivative of that chance is minus the chance of exactly k
turns as (
    select * from starts
    union all
    select
        events,
        side,
        k,
        p,
        z,
        turn + 1 as turn,
        m + (list_sum(list_transform(range(0, k + 1), lambda j: exp(j * ln(m) - m - lgamma(j + 1)))) - p)
            / exp(k * ln(m) - m - lgamma(k + 1)) as m,
    from turns
    where turn < 8
),

final as (
    select
        events,
        coalesce(max(m) filter (where side = 'low'), 0) as events_low,
        max(m) filter (where side = 'high') as events_high,
    from turns
    where turn = 8
    group by events
)

select * from final
order by events
