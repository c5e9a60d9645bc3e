-- one row per folder, job and kind of stamps: first and last time that the programs of a job printed
-- do not subtract from accounting before both are in one zone
-- known: whether the times are those of UTC: printed with an offset, or read in a zone that the configuration gives; otherwise they stand as they were printed
-- lines: lines with a time
-- times: the first time of each quarter of an hour in which something was printed
with

printed as (
    select source_id, line, format, ts, ts_quality from events.steps
    union all
    select source_id, line, format, ts, ts_quality from events.phases
    union all
    select source_id, line, format, ts, ts_quality from events.checkpoints
    union all
    select source_id, line, format, ts, ts_quality from events.signals
),

dated as (
    select
        l.folder,
        l.job_id,
        l.zone,
        p.ts_quality,
        case when p.ts_quality = 'year_assumed' then p.ts + to_years((y.year - 1972)::integer) else p.ts end as ts,
    from printed as p
    inner join staging.logs as l using (source_id)
    left join staging.years as y
        on y.source_id = p.source_id and p.ts_quality = 'year_assumed' and p.line >= y.line and p.line < y.next_line
    where p.ts_quality in ('logged', 'zone_assumed', 'year_assumed')
        and l.job_id is not null
        and l.duplicate_of is null
        and coalesce(l.role, '') not in ('scheduler', 'node')
        -- the scheduler's daemons print into the output of jobs, by the clock of the host
        and coalesce(p.format not in (select format from events.formats where by_host_clock), true)
),

-- a zone moves all times of a log alike, but for the turn of summer time: its ends remain its ends
ends as (
    select
        folder,
        job_id,
        ts_quality = 'logged' or zone is not null as known,
        case when ts_quality <> 'logged' then zone end as zone,
        time_bucket(interval 15 minute, ts) as quarter,
        min(ts) as first_ts,
        max(ts) as last_ts,
        count(ts) as lines,
    from dated
    where ts is not null
    group by all
)

select
    folder,
    job_id,
    known,
    min(case when zone is null then first_ts else timezone(zone, first_ts::timestamp) end) as first_ts,
    max(case when zone is null then last_ts else timezone(zone, last_ts::timestamp) end) as last_ts,
    sum(lines)::bigint as lines,
    list(case when zone is null then first_ts else timezone(zone, first_ts::timestamp) end order by first_ts) as times,
from ends
group by folder, job_id, known
