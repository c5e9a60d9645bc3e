-- one row per attempt that ended with nothing but a symptom, or nothing at all: where a cause was looked for
-- do not count: one sentence per attempt
with

hosts as (
    select distinct split_part(host, '.', 1) as host
    from staging.sources
    where format in ('kernel', 'syslog', 'journal_json') and host is not null
),

own_files as (
    select run_id, count(*) as files
    from staging.sources
    where run_id is not null
    group by all
),

elsewhere as (
    select
        coalesce(bool_or(format in ('slurmctld', 'slurmd', 'lsf_messages', 'pbs_messages', 'kubernetes', 'kubernetes_events_text')), false) as has_daemons,
        coalesce(bool_or(format in ('dcgm', 'dcgm_csv', 'dcgmi_dmon', 'nvidia_smi_q', 'nvidia_smi_csv', 'nvidia_smi_dmon', 'fabric_manager')), false) as has_devices,
    from staging.sources
),

seen as (
    select
        e.run_id,
        e.attempt,
        coalesce(o.files, 0) as files,
        coalesce(p.from_accounting, false) as from_accounting,
        len(p.nodes) as nodes,
        (
            select count(*) from hosts as h
            where list_contains(list_transform(p.nodes, lambda x: split_part(x, '.', 1)), h.host)
        ) as kernels,
        w.has_daemons,
        w.has_devices,
    from ledger.ends as e
    inner join ledger.progress as p using (run_id, attempt)
    left join own_files as o using (run_id)
    cross join elsewhere as w
    left join seeds.causes as c on c.code = e.cause
    where e.kind in ('unplanned', 'unknown') and (e.cause = 'unknown' or c.domain = 'unknown')
)

select
    run_id,
    attempt,
    concat(
        'looked at ', files, case when files = 1 then ' file' else ' files' end, ' of the run',
        case when from_accounting then ', accounting' end,
        case when has_daemons then ', the scheduler''s daemons' end,
        case when has_devices then ', monitors of devices' end,
        case
            when nodes is null then '; which hosts it held is not known'
            when kernels = 0 then '; no kernel log of its ' || case when nodes = 1 then 'host' else nodes || ' hosts' end
            else ', kernel logs of ' || kernels || ' of ' || nodes || case when nodes = 1 then ' host' else ' hosts' end
        end,
        case when not has_daemons then '; no log of the scheduler''s daemons' end
    ) as sought,
from seen
