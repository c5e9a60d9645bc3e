-- one row per run, component, and host or rank whose time stands out among all that do the same
-- do not sum: ranks wait for one another, and the same second is counted on each
-- rank: rank that stands out; null where all of a host do
-- component: timer, or computing of a profiler's trace
-- seconds: median time of one step, of a host the mean of its ranks; in seconds
-- median_s: median of all hosts or ranks; in seconds; null where the slowest alone are told of
-- ratio: seconds / median_s
-- p_value: no more than the chance that any one of so many stands out as far if all were alike
with

ranks as (
    select
        *,
        case when all_told then median(seconds) over (partition by run_id, component) end as median_s,
    from ledger.rank_times
),

hosts as (
    select
        run_id,
        component,
        host,
        null::bigint as rank,
        avg(seconds) as seconds,
        count(*) as members,
        any_value(ranks) as ranks,
        any_value(steps) as steps,
        sum(slowest_steps) as slowest_steps,
    from ranks
    where host is not null and all_told
    group by run_id, component, host
),

-- hosts of one rank each are told of as ranks
units as (
    select
        * exclude (members),
        members / ranks as share,
        median(seconds) over w as median_s,
        count(*) over w as units,
    from hosts
    window w as (partition by run_id, component)
    qualify count(*) over w >= 3 and max(members) over w > 1
    union all by name
    select
        run_id,
        component,
        host,
        rank,
        seconds,
        ranks,
        steps,
        slowest_steps,
        1 / ranks as share,
        median_s,
        ranks as units,
    from ranks
    where ranks >= 3
),

spreads as (
    select
        *,
        -- the spread of the others, and no less than what clocks and rounding make of equal ones
        greatest(
            1.4826 * median(abs(seconds - median_s)) over (partition by run_id, component, rank is null), 0.005 * median_s
        ) as spread_s,
        least(slowest_steps / steps, 1) as slowest_share,
    from units
    where median_s is null or median_s > 0
),

tested as (
    select
        *,
        seconds / median_s as ratio,
        case
            -- how often it is the slowest, against a draw in each step (bound of Chernoff), for each of the units
            when steps >= 5 then
                case
                    when slowest_share <= share then 1
                    else units * exp(-steps * (
                        slowest_share * ln(slowest_share / share)
                        + case when slowest_share < 1 then (1 - slowest_share) * ln((1 - slowest_share) / (1 - share)) else 0 end
                    ))
                end
            -- of a few steps the distance from the others tells, as if they were normal
            else units * 0.5 * exp(-0.5 * ((seconds - median_s) / spread_s) ** 2)
        end as chance,
    from spreads
    where seconds > median_s or median_s is null and steps >= 5
),

found as (
    select *, least(chance, 1) as p_value
    from tested
    where chance < 0.01 and coalesce(ratio, 2) >= 1.03
)

select
    f.run_id,
    f.host,
    f.rank,
    f.component,
    f.seconds,
    f.median_s,
    f.ratio,
    f.p_value,
from found as f
-- where a host stands out its ranks are not told again
where f.rank is null
    or not exists (
        from found as h
        where h.rank is null and h.run_id = f.run_id and h.component = f.component and h.host = f.host
    )
order by f.run_id, f.ratio desc, f.component, f.host, f.rank
