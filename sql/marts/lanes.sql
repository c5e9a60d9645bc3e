-- one row per run and stretch of the period that belongs to one lane of the attempts chart
-- do not sum: stalls inside the loop count as productive here; ledger.intervals tells them apart
-- lane: productive, lost, downtime, planned or unknown
with

lanes as (
    select
        run_id,
        start_ts,
        end_ts,
        case
            when category = 'lost_work' then 'lost'
            -- short stalls of a running loop would cut its bar into slivers
            when category in ('productive', 'checkpoint_stall', 'evaluation', 'loop_gap', 'data_stall') then 'productive'
            when layer = 'planned' then 'planned'
            when layer = 'unknown' then 'unknown'
            when layer = 'productive' then 'productive'
            else 'downtime'
        end as lane,
        case when lane in ('lost', 'downtime') then incident_id end as incident_id,
    from ledger.window_intervals
    where part = 'active'
),

marked as (
    select
        *,
        lane is distinct from lag(lane) over w
        or incident_id is distinct from lag(incident_id) over w
        or start_ts is distinct from lag(end_ts) over w as begins,
    from lanes
    window w as (partition by run_id order by start_ts)
),

stretched as (
    select
        *,
        count_if(begins) over (partition by run_id order by start_ts rows unbounded preceding) as stretch,
    from marked
),

final as (
    select
        run_id,
        any_value(lane) as lane,
        min(start_ts) as start_ts,
        max(end_ts) as end_ts,
        any_value(incident_id) as incident_id,
    from stretched
    group by run_id, stretch
)

select * from final
order by run_id, start_ts
