-- one row per incident: where and when lines were looked for that could tell why it happened
-- do not sum: one file serves many incidents
-- from_ts: from when on lines of nodes and schedulers were weighed: two minutes before the last progress
-- to_ts: until when: five minutes after the release
-- own_files: files of the run that hold lines of that time, or lines without any
-- shared_files: files of nodes, services and schedulers that hold lines of that time
-- hosts: nodes that the attempt held, where a source names them
-- silent_hosts: those of them of which no log of a node holds a line of that time
with

reaches as (
    select
        i.incident_id,
        i.run_id,
        make_timestamptz(e.progress_us - 120000000) as from_ts,
        make_timestamptz(e.release_us + 300000000) as to_ts,
        list_transform(e.nodes, lambda x: split_part(x, '.', 1)) as hosts,
    from ledger.incidents as i
    inner join ledger.ends as e on e.run_id = i.run_id and e.attempt = i.attempt
),

files as (
    select
        r.incident_id,
        count(*) filter (where s.run_id = r.run_id) as own_files,
        count(*) filter (where s.run_id is null and s.first_ts is not null) as shared_files,
        list(distinct split_part(s.host, '.', 1)) filter (where s.run_id is null and s.host is not null and s.first_ts is not null) as named,
    from reaches as r
    inner join staging.sources as s
        on (s.run_id = r.run_id or s.run_id is null)
        and (s.first_ts is null or r.from_ts is null or s.first_ts <= r.to_ts)
        and (s.last_ts is null or r.to_ts is null or s.last_ts >= r.from_ts)
    group by all
),

-- one log may hold the lines of many nodes
heard as (
    select
        r.incident_id,
        list(distinct split_part(p.host, '.', 1)) as named,
    from reaches as r
    inner join staging.stream as p on p.run_id is null and p.host is not null and p.ts between r.from_ts and r.to_ts
    group by all
),

final as (
    select
        r.incident_id,
        r.from_ts,
        r.to_ts,
        coalesce(f.own_files, 0) as own_files,
        coalesce(f.shared_files, 0) as shared_files,
        coalesce(list_sort(r.hosts), []) as hosts,
        list_sort(
            list_filter(
                coalesce(r.hosts, []),
                lambda x: not list_contains(coalesce(f.named, []), x) and not list_contains(coalesce(h.named, []), x)
            )
        ) as silent_hosts,
    from reaches as r
    left join files as f using (incident_id)
    left join heard as h using (incident_id)
)

select * from final
order by incident_id
