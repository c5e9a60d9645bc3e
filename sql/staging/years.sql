-- one row per file with stamps that print no year, and per turn of the year in it: the year of its lines from there on
-- do not count: it is a look-up
-- line: first line of which the year holds
-- next_line: first line of which it holds no longer
-- year_from: what the year was taken from: log (stamps with a year in the same log), job (accounting of its job), folder (files beside it, else all of its first folder, which agree), everything (all files, which agree); none where they disagree or there are none
-- year_near: path of the file that it was taken from, or the job; null where several
with

-- lines of which the year is not printed stand in 1972
printed as (
    select source_id, line, ts from events.steps where ts_quality = 'year_assumed'
    union all
    select source_id, line, ts from events.phases where ts_quality = 'year_assumed'
    union all
    select source_id, line, ts from events.checkpoints where ts_quality = 'year_assumed'
    union all
    select source_id, line, ts from events.signals where ts_quality = 'year_assumed'
    union all
    select source_id, line, ts from events.allocations where ts_quality = 'year_assumed'
),

-- a log goes on in time: where its stamps fall back by half a year a year began, and where they leap by a whole one
-- a line of the old year came late
turned as (
    select
        p.source_id,
        p.line,
        l.log,
        l.place,
        epoch_us(p.ts) as us,
        case
            when epoch_us(p.ts) - lag(epoch_us(p.ts)) over w < -15811200000000 then 1
            when epoch_us(p.ts) - lag(epoch_us(p.ts)) over w > 31363200000000 then -1
            else 0
        end as turn,
    from printed as p
    inner join staging.logs as l using (source_id)
    where p.ts is not null
    window w as (partition by l.log order by l.place, p.line, p.ts)
),

summed as (
    select
        *,
        sum(turn) over (partition by log order by place, line, us rows unbounded preceding)::bigint as turns,
    from turned
),

-- what turns time and again is in no order
counted as (
    select * replace (case when max(abs(turns)) over (partition by log) > 20 then 0 else turns end as turns)
    from summed
),

spans as (
    select
        log,
        min(us + turns * 31556952000000) as first_us,
        max(us + turns * 31556952000000) as last_us,
        -- what goes on for years has several readings around a date: logs are kept up to when they are collected
        case when last_us - first_us < 31556952000000 then (first_us + last_us) // 2 else last_us end as near_us,
    from counted
    group by log
),

own as (
    select l.log, avg(epoch_us(a.middle_ts))::bigint as anchor_us, arg_min(l.path, l.place) as near
    from staging.anchors as a
    inner join staging.logs as l using (source_id)
    group by l.log
),

jobs as (
    select
        job_id,
        (epoch_us(min(coalesce(start_ts, submit_ts))) + epoch_us(max(coalesce(end_ts, start_ts, submit_ts)))) // 2 as anchor_us,
    from events.allocations
    where coalesce(start_ts, submit_ts) is not null and ts_quality is distinct from 'year_assumed'
    group by job_id
),

log_jobs as (
    select log, min(job_id) as job_id from staging.logs group by log
),

-- the folder that a log lies in, and the first one below the logs
around as (
    select path, log, source_id, unnest(list_distinct([regexp_replace(log, '/?[^/]*$', ''), folder])) as folder
    from staging.logs
),

folders as (
    select
        l.folder,
        min(epoch_us(a.middle_ts)) as first_us,
        max(epoch_us(a.middle_ts)) as last_us,
        case when count(*) = 1 then min(l.path) end as near,
    from staging.anchors as a
    inner join around as l using (source_id)
    where l.folder <> ''
    group by l.folder
),

-- the innermost of which all that is dated tells the same year
log_folders as (
    select
        s.log,
        arg_max(f.first_us, length(f.folder)) as anchor_us,
        arg_max(struct_pack(near := f.near), length(f.folder)).near as near,
    from spans as s
    inner join (select distinct log, folder from around) as l using (log)
    inner join folders as f using (folder)
    where round((f.first_us - s.near_us) / 31556952000000) = round((f.last_us - s.near_us) / 31556952000000)
    group by s.log
),

-- logs of unrelated years say nothing about this one
everything as (
    select
        case
            when max(epoch_us(middle_ts)) - min(epoch_us(middle_ts)) < 15811200000000
                then avg(epoch_us(middle_ts))::bigint
        end as anchor_us,
        case when count(*) = 1 then min(l.path) end as near,
    from staging.anchors as a
    inner join staging.logs as l using (source_id)
),

anchored as (
    select
        s.log,
        s.near_us,
        coalesce(o.anchor_us, j.anchor_us, f.anchor_us, e.anchor_us) as anchor_us,
        case
            when o.anchor_us is not null then 'log'
            when j.anchor_us is not null then 'job'
            when f.anchor_us is not null then 'folder'
            when e.anchor_us is not null then 'everything'
            else 'none'
        end as year_from,
        case
            when o.anchor_us is not null then o.near
            when j.anchor_us is not null then j.job_id
            when f.anchor_us is not null then f.near
            else e.near
        end as year_near,
    from spans as s
    left join own as o using (log)
    left join log_jobs as n using (log)
    left join jobs as j on j.job_id = n.job_id
    left join log_folders as f using (log)
    cross join everything as e
),

-- the year that brings the log nearest to what is dated
based as (
    select
        *,
        1972 + round((anchor_us - near_us) / 31556952000000)::bigint as base_year,
    from anchored
),

changes as (
    select *
    from counted
    qualify turns is distinct from lag(turns) over (partition by source_id order by line, us)
)

select
    c.source_id,
    c.line,
    coalesce(lead(c.line) over (partition by c.source_id order by c.line), 9223372036854775807) as next_line,
    b.base_year + c.turns as year,
    b.year_from,
    b.year_near,
from changes as c
inner join based as b using (log)
