-- one row per incident that a part of a host brought about, in the twelve weeks before the end of the period
-- count rows with is_event: one fault may end several attempts, and a crash loop is one event
-- host: the host, without its domain; an address is kept whole
-- at_ts: its fault, else its detection, else the last progress before it
-- is_event: whether it is an event of its own, and not the same fault again within ten minutes or in a crash loop
-- gpu_s: what the incident cost, over all its time; in GPU-seconds
with

period as (
    select max(window_end) as period_end
    from ledger.windows
),

-- file servers, schedulers and services are shared: that a host was the first to say so is chance
known as (
    select
        regexp_extract(i.host, '^[0-9.]+$|^[^.]+') as host,
        i.incident_id,
        i.run_id,
        i.attempt,
        i.at_ts,
        i.cause,
        i.domain,
        i.gpu,
        i.total_gpu_s as gpu_s,
        l.crash_loop,
    from ledger.incidents as i
    left join marts.lifetimes as l using (incident_id)
    where i.host is not null
        and i.kind in ('unplanned', 'unknown')
        and i.charged_to = 'infrastructure'
        and (i.domain not in ('storage', 'scheduler', 'preemption', 'external') or i.cause = 'local_disk')
),

recent as (
    select
        k.*,
        lag(k.at_ts) over (partition by k.host order by k.at_ts, k.incident_id) as previous_ts,
    from known as k
    cross join period as p
    where k.at_ts < p.period_end and k.at_ts >= p.period_end - interval 84 day
),

final as (
    select
        host,
        incident_id,
        run_id,
        attempt,
        at_ts,
        cause,
        domain,
        gpu,
        gpu_s,
        coalesce(at_ts - previous_ts >= interval 10 minute, true) and coalesce(crash_loop = incident_id, true) as is_event,
    from recent
)

select * from final
order by host, at_ts, incident_id
