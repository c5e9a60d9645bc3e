-- one row per log of a scheduler whose times name no zone and that could be compared: the zone that agrees with times that are known
-- do not count: it is a look-up; a log of which nothing can be inferred has no row
-- log: path of the log
-- zone: in which its times agree with those of trainers, or of another log of the scheduler, that are known to be of UTC
-- jobs: jobs that were compared
-- agreeing_jobs: those of them whose times agree in this zone
-- job_id: the first of these
-- by_hosts: whether times are known only since programs and kernels, which name no zone either, agree with each other
with

records as (
    select
        l.log,
        l.zone,
        a.ts_quality = 'logged' or l.zone is not null as known,
        a.job_id,
        a.cluster,
        a.nodes,
        case when l.zone is null or a.ts_quality = 'logged' then a.start_ts else timezone(l.zone, a.start_ts::timestamp) end as start_ts,
        case when l.zone is null or a.ts_quality = 'logged' then a.end_ts else timezone(l.zone, a.end_ts::timestamp) end as end_ts,
    from staging.records as a
    inner join staging.logs as l using (source_id)
    where a.start_ts is not null and l.duplicate_of is null
),

-- a requeued job has several records, and a number may be given again on another cluster
jobs as (
    select
        log,
        known,
        job_id,
        min(start_ts) as start_ts,
        max(coalesce(end_ts, 'infinity'::timestamptz)) as end_ts,
    from records
    group by log, known, job_id
    having count(distinct cluster) <= 1
),

-- what a node says of a fault, or of what comes with one
faults as (
    select
        l.path,
        split_part(e.host, '.', 1) as host,
        case when e.ts_quality = 'year_assumed' then e.ts + to_years((y.year - 1972)::integer) else e.ts end as ts,
    from events.signals as e
    inner join staging.logs as l using (source_id)
    inner join seeds.signals as c on c.signal_id = e.signal_id and c.weight in ('cause', 'symptom')
    left join staging.years as y
        on y.source_id = e.source_id and e.ts_quality = 'year_assumed' and e.line >= y.line and e.line < y.next_line
    where l.role = 'node' and l.zone is null and l.duplicate_of is null and e.ts_quality in ('zone_assumed', 'year_assumed')
),

nodes as (
    select distinct job_id, unnest(nodes) as node
    from records
),

-- in the last minutes of what a job printed that had the node, or of the job by the time of accounting
explained as (
    select
        t.folder,
        j.log,
        bool_or(f.ts between t.last_ts - interval 15 minute and t.last_ts + interval 1 minute) as by_programs,
        bool_or(f.ts between j.end_ts - interval 15 minute and j.end_ts + interval 1 minute) as by_accounting,
    from jobs as j
    inner join staging.job_times as t on t.job_id = j.job_id and not t.known
    inner join nodes as n on n.job_id = j.job_id
    inner join faults as f on f.host = n.node or list_contains(regexp_split_to_array(f.path, '[/.]'), n.node)
    -- a report in the output of a job is printed by its host
    where not j.known and j.log in (select log from staging.logs where role = 'scheduler')
    group by t.folder, j.log, f.path, f.host, f.ts
),

-- what agrees with both says nothing; where all that does agrees with programs, they and the hosts have one clock, and accounting
-- another
agreed as (
    select folder, log
    from explained
    where by_programs <> by_accounting
    group by folder, log
    having bool_and(by_programs)
),

-- what is known of a job: first and last line of its programs, which lie inside of its allocation, or its start
witnesses as (
    select
        j.log, j.job_id, j.start_ts, j.end_ts,
        min(t.first_ts) as known_first_ts,
        max(t.last_ts) as known_last_ts,
        null::timestamptz as known_start_ts,
    from jobs as j
    inner join staging.job_times as t on t.job_id = j.job_id and t.known
    where not j.known
    group by all
    union all
    select
        j.log, j.job_id, j.start_ts, j.end_ts,
        null::timestamptz as known_first_ts,
        null::timestamptz as known_last_ts,
        min(k.start_ts) as known_start_ts,
    from jobs as j
    inner join jobs as k on k.job_id = j.job_id and k.known
    where not j.known
    group by all
),

-- where nothing is known, what programs and hosts agree upon
agreements as (
    select
        j.log, j.job_id, j.start_ts, j.end_ts,
        min(t.first_ts) as known_first_ts,
        max(t.last_ts) as known_last_ts,
        null::timestamptz as known_start_ts,
    from jobs as j
    inner join staging.job_times as t on t.job_id = j.job_id and not t.known
    inner join agreed as a on a.folder = t.folder and a.log = j.log
    where not j.known and j.log not in (select log from witnesses)
    group by all
),

-- enough of them, from all of the time
chosen as (
    select *
    from (
        from witnesses
        union all
        from agreements
    )
    qualify row_number() over (partition by log order by reverse(job_id), job_id, known_start_ts) <= 2000
),

tried as (
    select
        w.log,
        w.job_id,
        w.known_first_ts,
        w.known_last_ts,
        w.known_start_ts,
        z.zone,
        z.hours,
        z.summer,
        epoch_us(timezone(z.zone, w.start_ts::timestamp)) as start_us,
        case when isfinite(w.end_ts) then epoch_us(timezone(z.zone, w.end_ts::timestamp)) end as end_us,
    from chosen as w
    cross join seeds.zones as z
),

judged as (
    select
        log,
        job_id,
        zone,
        hours,
        summer,
        start_us,
        -- programs print soon after their start, or errors just before the end
        case
            when known_start_ts is not null then abs(epoch_us(known_start_ts) - start_us)
            else least(epoch_us(known_first_ts) - start_us, end_us - epoch_us(known_last_ts))
        end as lag_us,
        case
            when known_start_ts is not null then abs(epoch_us(known_start_ts) - start_us) <= 60000000
            else epoch_us(known_first_ts) >= start_us - 60000000
                and epoch_us(known_last_ts) <= coalesce(end_us, epoch_us(known_last_ts)) + 60000000
        end as agrees,
    from tried
),

-- a job that two things are known of agrees where both do
job_votes as (
    select log, job_id, zone, hours, summer, max(start_us) as start_us, max(lag_us) as lag_us, bool_and(agrees) as agrees
    from judged
    group by log, job_id, zone, hours, summer
),

zones as (
    select
        log,
        zone,
        hours,
        summer,
        count(*) as jobs,
        count_if(agrees) as agreeing_jobs,
        min(job_id) filter (where agrees) as job_id,
        median(lag_us) filter (where agrees) as lag_us,
        -- two zones that read all times alike are one answer
        sum(start_us::hugeint) as reading,
    from job_votes
    group by log, zone, hours, summer
),

-- nine jobs of ten agree; where they do as the times stand, nothing contradicts
fitting as (
    select *
    from zones
    where agreeing_jobs >= jobs - jobs // 10 and agreeing_jobs > 0
    qualify zone = 'UTC' or not bool_or(zone = 'UTC') over (partition by log)
),

-- most jobs have something to say near one end
best as (
    select *
    from fitting
    where lag_us <= 900000000
    qualify row_number() over (partition by log order by agreeing_jobs desc, summer, lag_us, hours desc, zone) = 1
),

-- a zone that fits as well, and is near an end as well, or little less: neither is taken
doubtful as (
    select distinct b.log
    from best as b
    inner join fitting as f using (log)
    where f.agreeing_jobs >= b.agreeing_jobs
        and f.reading <> b.reading
        and (f.hours = 'whole' or b.hours = 'part')
        and f.lag_us < b.lag_us + 2700000000
)

select log, zone, jobs, agreeing_jobs, job_id, log in (select log from agreements) as by_hosts
from best
where log not in (select log from doubtful) and not (by_hosts and zone = 'UTC')
