-- one row per attempt that ended with nothing but a symptom, or nothing at all: where a cause was looked for
-- do not count: one sentence per attempt
-- host_told: whether a log was read of the host that the line names, else of every host, that has no line after the end only
with

hosts as (
    select
        split_part(s.host, '.', 1) as host,
        min(epoch_us(t.ts)) as first_us,
    from staging.sources as s
    left join staging.stream as t using (source_id)
    where s.role = 'node' and s.host is not null
    group by all
),

own_files as (
    select run_id, count(*) as files
    from staging.sources
    where run_id is not null
    group by all
),

schedulers as (
    select count(*) as files
    from staging.sources
    where role = 'scheduler'
),

seen as (
    select
        e.run_id,
        e.attempt,
        coalesce(o.files, 0) as files,
        case when p.nodes is not null then len(r.hosts) end as nodes,
        len(r.hosts) - len(r.silent_hosts) as told_hosts,
        list_transform(
            case when e.signal_host is not null then [e.signal_host] else p.nodes end, lambda x: split_part(x, '.', 1)
        ) as suspects,
        coalesce(e.fault_us, e.detected_us, e.release_us) as end_us,
        w.files as scheduler_files,
    from ledger.ends as e
    inner join ledger.progress as p using (run_id, attempt)
    left join ledger.reach as r using (run_id, attempt)
    left join own_files as o using (run_id)
    cross join schedulers as w
    left join seeds.causes as c on c.code = e.cause
    where e.kind in ('unplanned', 'unknown')
        and (
            e.cause in ('unknown', 'node_failure', 'requeue')
            or c.domain = 'unknown'
            or (e.cause = 'gpu_other' and e.own)
        )
)

select
    run_id,
    attempt,
    concat(
        'looked at ', files, case when files = 1 then ' file' else ' files' end, ' of the run',
        case when scheduler_files > 0 then ', those of the scheduler' end,
        case
            when nodes is null then '; which hosts it held is not known'
            when told_hosts = 0 then '; no log of its ' || case when nodes = 1 then 'host' else nodes || ' hosts' end || ' speaks of that time'
            else ', logs of that time of ' || told_hosts || ' of ' || nodes || case when nodes = 1 then ' host' else ' hosts' end
        end,
        case when scheduler_files = 0 then '; none of the scheduler' end
    ) as sought,
    coalesce(len(suspects) > 0 and len(suspects) = (
        select count(*) from hosts as h where list_contains(suspects, h.host) and (h.first_us is null or h.first_us <= end_us)
    ), false) as host_told,
from seen
