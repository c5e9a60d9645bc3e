-- one row per phase of recovery over the disruptions of the period: how long it usually takes, and how long it took at worst
-- medians do not add: the row (all) is the way from the fault to the first step, taken per disruption
-- phase: name of the phase; (hang), (recovery), (restart) and (all) are times that several phases share
-- rank: place of the phase in the order; those in brackets come last
-- title: what the phase lasted until
-- owner: team that owns most time of such phases
-- disruptions: disruptions for which the phase is known
-- median_s: half of them took no longer; in seconds
-- p90_s: nine of ten took no longer; in seconds
-- worst_s: the longest; in seconds
-- worst_incident_id: the disruption with the longest
-- gpu_s: seconds × accelerators interrupted, summed
-- downtime_share: gpu_s of all phases without progress; null for catch_up, in which steps are made again
with

phases as (
    select
        phase,
        any_value(rank) as rank,
        any_value(title) as title,
        any_value(owner) as owner,
        bool_or(is_downtime) as is_downtime,
        count(seconds) as disruptions,
        quantile_cont(seconds, 0.5) as median_s,
        quantile_cont(seconds, 0.9) as p90_s,
        max(seconds) as worst_s,
        arg_max(incident_id, (seconds, incident_id)) filter (where seconds is not null) as worst_incident_id,
        coalesce(sum(gpu_s), 0) as gpu_s,
    from marts.recovery_phases
    where kind <> 'planned'
    group by phase
),

-- restarts inside an allocation wait for nobody: their recovery is one of its own
wholes as (
    select
        unnest(['(hang)', '(recovery)', '(restart)', '(all)']) as phase,
        unnest([8, 9, 10, 11]) as rank,
        unnest([
            'standing still before anybody noticed',
            'from noticed to the first step, with a new allocation',
            'from noticed to the first step, inside the allocation',
            'from the fault to the first step'
        ]) as title,
        unnest([
            case when hang_s > 0 then hang_s end,
            case when not inside_allocation then recovery_s end,
            case when inside_allocation then recovery_s end,
            outage_s
        ]) as seconds,
        incident_id,
    from marts.recovery
    where kind <> 'planned'
),

outages as (
    select
        phase,
        any_value(rank) as rank,
        any_value(title) as title,
        null::varchar as owner,
        null::boolean as is_downtime,
        count(seconds) as disruptions,
        quantile_cont(seconds, 0.5) as median_s,
        quantile_cont(seconds, 0.9) as p90_s,
        max(seconds) as worst_s,
        arg_max(incident_id, (seconds, incident_id)) filter (where seconds is not null) as worst_incident_id,
        null::double as gpu_s,
    from wholes
    group by phase
),

final as (
    select
        phase,
        rank,
        title,
        owner,
        disruptions,
        median_s,
        p90_s,
        worst_s,
        worst_incident_id,
        gpu_s,
        case when is_downtime then gpu_s / nullif(sum(gpu_s) filter (where is_downtime) over (), 0) end as downtime_share,
    from (select * from phases union all by name select * from outages)
)

select * from final
order by rank
