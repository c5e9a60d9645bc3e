-- one row per input file: the log that it is a part of, its job, and the zone that the configuration gives it
-- do not sum: a log that was rotated has a row for each of its parts
-- log: path of the log that the file is a part of, without the ending of a compressed file
-- rotation: how often the file was rotated; 0 for the latest part of its log
-- place: number of the part within its log, the oldest first
-- folder: first folder below the logs; the empty text for a file beside the folders
-- zone: zone that the configuration gives it; null where it says nothing
with

zones as (
    select s.source_id, arg_min(z.zone, z.ord) as zone
    from events.sources as s
    inner join config.zones as z on regexp_full_match(s.path, z.pattern)
    group by s.source_id
),

-- train.log, train.log.1, train.log.2.gz: one log that was rotated, the latest part first; rank.1 without a rank is none
stems as (
    select source_id, regexp_replace(path, '\.(?:gz|zst|xz|bz2)$', '') as stem from events.sources
),

rotated as (
    select
        p.source_id,
        b.stem as log,
        regexp_extract(p.stem, '\.(\d{1,4})$', 1)::integer as rotation,
    from stems as p
    inner join (select distinct stem from stems) as b on b.stem = regexp_replace(p.stem, '\.\d{1,4}$', '')
    where regexp_matches(p.stem, '\.\d{1,4}$')
),

-- an output that bears the number of a job in its name is that job's, where accounting knows it, whatever it says of others
numbered as (
    select
        source_id,
        parse_filename(stem) as name,
        -- job-41233.out, heron-41233.err.2, train.o41233
        coalesce(
            nullif(regexp_extract(name, '(?:^|[-_.])(\d{4,})\.(?:out|err|log|o|e|txt)(?:\.\d{1,4})?$', 1), ''),
            nullif(regexp_extract(name, '\.[oe](\d{3,})$', 1), '')
        ) as job_id,
    from stems
),

named as (
    select source_id, job_id
    from numbered
    where job_id in (select job_id from events.allocations)
),

-- what one part tells of a log holds for all of it; of its job, unless another part says otherwise
logged as (
    select
        s.source_id,
        s.path,
        s.duplicate_of,
        s.role,
        coalesce(w.log, m.stem) as log,
        coalesce(w.rotation, 0) as rotation,
        -- a compressed file beside one of its name is the older one
        row_number() over (
            partition by coalesce(w.log, m.stem) order by coalesce(w.rotation, 0) desc, s.path = m.stem, s.path
        ) as place,
        case when min(j.job_id) over parts = max(j.job_id) over parts then min(j.job_id) over parts end as job_id,
        case when contains(s.path, '/') then split_part(s.path, '/', 1) else '' end as folder,
        z.zone,
    from events.sources as s
    inner join stems as m using (source_id)
    inner join (
        select s.source_id, coalesce(n.job_id, s.job_id) as job_id
        from events.sources as s
        left join named as n using (source_id)
    ) as j using (source_id)
    left join rotated as w using (source_id)
    left join zones as z using (source_id)
    window parts as (partition by coalesce(w.log, m.stem))
)

select * from logged
