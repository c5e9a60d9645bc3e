-- one row per phase of recovery over the disruptions of the period: how long it usually takes, and how long it took at worst
-- medians do not add: the row (all) is the way from the fault to the first step, taken per disruption
-- phase: name of the phase, as in seeds.recovery_phases, or (all)
-- rank: place of the phase in the order; that of (all) is the last
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

outages as (
    select
        '(all)' as phase,
        8 as rank,
        'from the fault to the first step' as title,
        null::varchar as owner,
        null::boolean as is_downtime,
        count(outage_s) as disruptions,
        quantile_cont(outage_s, 0.5) as median_s,
        quantile_cont(outage_s, 0.9) as p90_s,
        max(outage_s) as worst_s,
        arg_max(incident_id, (outage_s, incident_id)) filter (where outage_s is not null) as worst_incident_id,
        null::double as gpu_s,
    from marts.recovery
    where kind <> 'planned'
    having count(*) > 0
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
