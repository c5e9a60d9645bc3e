-- one row per attempt: where and when lines were looked for that could tell why it ended
-- do not sum: one file serves many attempts
-- from_ts: from when on lines of nodes and schedulers were weighed: two minutes before the last progress
-- to_ts: until when: five minutes after the release
-- own_files: files of the run
-- shared_files: files of nodes, services and schedulers that hold lines of that time
-- hosts: nodes that the attempt held, where a source names them
-- silent_hosts: those of them of which no log of a node holds a line of that time
with

reaches as (
    select
        e.run_id,
        e.attempt,
        make_timestamptz(if(e.unseen and e.observed, e.up_us, e.progress_us) - 120000000) as from_ts,
        make_timestamptz(e.release_us + 300000000) as to_ts,
        list_sort(list_distinct(list_transform(coalesce(e.nodes, []), lambda x: split_part(x, '.', 1)))) as hosts,
    from ledger.ends as e
),

own as (
    select run_id, count(*) as own_files
    from staging.sources
    where run_id is not null
    group by run_id
),

-- accounting is dated by when jobs were handed in, and tells of them to their end
accounted as (
    select source_id, max(coalesce(end_ts, start_ts)) as end_ts
    from staging.allocations
    group by source_id
),

-- files that end before a time, and files that begin after it, are neither here nor there: the rest covers it
shared as (
    select
        s.first_ts,
        greatest(s.last_ts, a.end_ts) as last_ts,
        split_part(s.host, '.', 1) as host,
    from staging.sources as s
    left join accounted as a using (source_id)
    where s.run_id is null and s.first_ts is not null and s.last_ts is not null
),

begun as (
    select first_ts as ts, count(*) over (order by first_ts range unbounded preceding) as files
    from shared
    qualify row_number() over (partition by first_ts) = 1
),

over as (
    select last_ts as ts, count(*) over (order by last_ts range unbounded preceding) as files
    from shared
    qualify row_number() over (partition by last_ts) = 1
),

shared_counts as (
    select
        r.run_id,
        r.attempt,
        coalesce(b.files, 0) - coalesce(o.files, 0) as shared_files,
    from reaches as r
    asof left join begun as b on r.to_ts >= b.ts
    asof left join over as o on r.from_ts > o.ts
),

holders as (
    select run_id, attempt, from_ts, to_ts, unnest(hosts) as host
    from reaches
),

-- a log of many nodes speaks of those that a line of it names
told as (
    select distinct split_part(host, '.', 1) as host, ts
    from staging.stream
    where run_id is null and host is not null and ts is not null
),

speaking as (
    select h.run_id, h.attempt, h.host
    from holders as h
    inner join shared as s on s.host = h.host and s.first_ts <= h.to_ts and s.last_ts >= h.from_ts
    union
    select h.run_id, h.attempt, h.host
    from holders as h
    asof join told as t on t.host = h.host and t.ts >= h.from_ts
    where t.ts <= h.to_ts
),

silent as (
    select h.run_id, h.attempt, list(h.host order by h.host) as silent_hosts
    from holders as h
    anti join speaking as s on s.run_id = h.run_id and s.attempt = h.attempt and s.host = h.host
    group by h.run_id, h.attempt
),

final as (
    select
        r.run_id,
        r.attempt,
        r.from_ts,
        r.to_ts,
        coalesce(o.own_files, 0) as own_files,
        coalesce(c.shared_files, 0) as shared_files,
        r.hosts,
        coalesce(s.silent_hosts, []) as silent_hosts,
    from reaches as r
    left join own as o using (run_id)
    left join shared_counts as c using (run_id, attempt)
    left join silent as s using (run_id, attempt)
)

select * from final
order by run_id, attempt
