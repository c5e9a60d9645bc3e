-- one row per group of attempts and age at which one of them ended: the curve of Kaplan and Meier
-- never sum: each row is the share of attempts that outlive this age; sum failures over the ages of one group
-- gpus_class: size of the attempts, such as 9-32; (all) for all of them
-- attempts: attempts of the group: those of the twelve weeks before the end of the period, by their begin, that made a step
-- group_failures: failures of the group; a curve of fewer than five is none: is_enough says so
-- is_enough: whether the group has five failures or more
-- age_s: age of attempts; in seconds
-- at_risk: attempts that had lived this long or longer
-- failures: attempts that failed at this age
-- censored: attempts that ended at this age by something other than failure, or were still running
-- survival: share of attempts that outlive this age
-- variance: of survival, by Greenwood's formula; null once nobody is left
-- survival_low: lower end of the band of 95 %, from the variance of log(-log survival); null where it is not defined
-- survival_high: upper end of the same band
with

period as (
    select max(window_end) as period_end
    from ledger.windows
),

cohort as (
    select
        l.gpus_class,
        l.gpus_from,
        l.life_s,
        l.outcome,
    from marts.lifetimes as l
    cross join period as p
    where l.counted and l.start_ts >= p.period_end - interval 84 day
),

-- each attempt counts among all, and among those of its size
members as (
    select '(all)' as gpus_class, 0 as gpus_from, life_s, outcome from cohort
    union all
    select gpus_class, gpus_from, life_s, outcome from cohort
),

ages as (
    select
        gpus_class,
        gpus_from,
        life_s as age_s,
        count(*) filter (where outcome = 'failure') as failures,
        count(*) filter (where outcome <> 'failure') as censored,
    from members
    group by all
),

-- who ends at an age was at risk at that age, those that are censored there included
risks as (
    select
        *,
        (sum(failures + censored) over (partition by gpus_class))::bigint as attempts,
        (sum(failures) over (partition by gpus_class))::bigint as group_failures,
        (sum(failures + censored) over (partition by gpus_class order by age_s desc rows unbounded preceding))::bigint as at_risk,
    from ages
),

sums as (
    select
        *,
        product((at_risk - failures) / at_risk) over w as survival,
        sum(case when failures < at_risk then failures / (at_risk * (at_risk - failures)) else 0 end) over w as greenwood,
    from risks
    window w as (partition by gpus_class order by age_s rows unbounded preceding)
),

-- 1.96 standard deviations of log(-log S), brought back to S
bands as (
    select
        *,
        case when survival > 0 and survival < 1 then 1.959963984540054 * sqrt(greenwood) / -ln(survival) end as half_width,
    from sums
),

final as (
    select
        gpus_class,
        gpus_from,
        attempts,
        group_failures,
        group_failures >= 5 as is_enough,
        age_s,
        at_risk,
        failures,
        censored,
        survival,
        case when survival > 0 then survival ** 2 * greenwood end as variance,
        survival ** exp(half_width) as survival_low,
        survival ** exp(-half_width) as survival_high,
    from bands
)

select * from final
order by gpus_from, age_s
