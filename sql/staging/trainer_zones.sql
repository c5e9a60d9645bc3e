-- one row per folder and trust of accounting, of which the programs print no zone and could be compared: the zone that agrees with accounting
-- do not count: it is a look-up; a folder of which nothing can be inferred has no row
-- zone: in which what the programs of jobs print lies inside of the allocations of these jobs
-- jobs: jobs that were compared
-- agreeing_jobs: those of them whose times agree in this zone
-- job_id: the first of these
-- known: whether the times of accounting are those of UTC; otherwise both sides print no zone, and accounting is taken at its word
with

allocations as (
    select
        a.job_id,
        a.cluster,
        a.name,
        a.user,
        -- the zone that agrees with programs themselves proves none of theirs
        a.ts_quality = 'logged' or l.zone is not null or coalesce(not z.by_hosts, false) as known,
        case
            when a.ts_quality = 'logged' or coalesce(l.zone, z.zone) is null then a.start_ts
            else timezone(coalesce(l.zone, z.zone), a.start_ts::timestamp)
        end as start_ts,
        case
            when a.ts_quality = 'logged' or coalesce(l.zone, z.zone) is null then a.end_ts
            else timezone(coalesce(l.zone, z.zone), a.end_ts::timestamp)
        end as end_ts,
    from staging.records as a
    inner join staging.logs as l using (source_id)
    left join staging.accounting_zones as z using (log)
    where a.start_ts is not null and l.duplicate_of is null
),

-- a requeued job has several records, and a number may be given again on another cluster
held as (
    select
        job_id,
        known,
        any_value(name) as name,
        any_value(user) as user,
        min(start_ts) as start_ts,
        max(coalesce(end_ts, 'infinity'::timestamptz)) as end_ts,
        list(struct_pack(
            start_us := epoch_us(start_ts),
            end_us := case when end_ts is null then 253402300799000000 else epoch_us(end_ts) end
        )) as spans,
    from allocations
    group by job_id, known
    having count(distinct cluster) <= 1
    qualify known = bool_or(known) over (partition by job_id)
),

-- a log that names one job may tell of others of its run: they bear its name, one follows the other, and no log names them
silent as (
    select *, lag(end_ts) over (partition by name, user, known order by start_ts, end_ts, job_id) as previous_end_ts
    from held
    where name is not null and job_id not in (select job_id from staging.job_times)
),

chains as (
    select name, user, known, flatten(list(spans order by start_ts, job_id)) as spans
    from silent
    group by name, user, known
    having not bool_or(coalesce(previous_end_ts > start_ts, false))
),

-- enough of them, from all of the time
chosen as (
    select
        t.folder,
        t.job_id,
        -- a log of one job alone need not be looked at between its ends
        case when c.name is null then [t.first_ts, t.last_ts] else list_concat(t.times, [t.last_ts]) end as times,
        h.known,
        h.spans as own_spans,
        list_concat(h.spans, coalesce(c.spans, [])) as spans,
        h.start_ts,
        h.end_ts,
    from staging.job_times as t
    inner join held as h using (job_id)
    left join chains as c
        on c.name = h.name
        and c.user is not distinct from h.user
        and c.known = h.known
        and len(list_filter(
            c.spans, lambda span: span.start_us < epoch_us(h.end_ts) and span.end_us > epoch_us(h.start_ts)
        )) = 0
    where not t.known
    qualify row_number() over (partition by t.folder, h.known order by reverse(t.job_id), t.job_id) <= 2000
),

tried as (
    select
        t.folder,
        t.known,
        t.job_id,
        z.zone,
        z.hours,
        z.summer,
        t.own_spans,
        t.spans,
        epoch_us(t.start_ts) as start_us,
        case when isfinite(t.end_ts) then epoch_us(t.end_ts) end as end_us,
        list_transform(t.times, lambda printed: epoch_us(timezone(z.zone, printed::timestamp))) as printed_us,
        printed_us[1] as first_us,
        printed_us[-1] as last_us,
    from chosen as t
    cross join seeds.zones as z
),

judged as (
    select
        * exclude (own_spans, spans, printed_us),
        -- programs print soon after their start, or errors just before the end; a file may tell of a requeue alone
        least(
            first_us - coalesce(
                list_max(list_filter(
                    list_transform(spans, lambda span: span.start_us), lambda start: start <= first_us + 60000000
                )),
                start_us
            ),
            end_us - last_us
        ) as lag_us,
        -- nothing is printed between allocations, and something by the job that the log names
        len(list_filter(
            printed_us,
            lambda us: len(list_filter(
                spans, lambda span: us between span.start_us - 60000000 and span.end_us + 60000000
            )) = 0
        )) = 0
        and len(list_filter(
            printed_us,
            lambda us: len(list_filter(
                own_spans, lambda span: us between span.start_us - 60000000 and span.end_us + 60000000
            )) > 0
        )) > 0 as agrees,
    from tried
),

zones as (
    select
        folder,
        known,
        zone,
        hours,
        summer,
        count(*) as jobs,
        count_if(agrees) as agreeing_jobs,
        min(job_id) filter (where agrees) as job_id,
        median(lag_us) filter (where agrees) as lag_us,
        -- two zones that read all times alike are one answer
        sum(first_us::hugeint + last_us::hugeint) as reading,
    from judged
    group by folder, known, zone, hours, summer
),

-- nine jobs of ten agree; where they do as the times stand, nothing contradicts
fitting as (
    select *
    from zones
    where agreeing_jobs >= jobs - jobs // 10 and agreeing_jobs > 0
    qualify zone = 'UTC' or not bool_or(zone = 'UTC') over (partition by folder, known)
),

-- most jobs have something to say near one end
best as (
    select *
    from fitting
    where lag_us <= 900000000
    qualify row_number() over (
        partition by folder, known order by agreeing_jobs desc, summer, lag_us, hours desc, zone
    ) = 1
),

-- a zone that fits as well, and is near an end as well, or little less: neither is taken
doubtful as (
    select distinct b.folder, b.known
    from best as b
    inner join fitting as f using (folder, known)
    where f.agreeing_jobs >= b.agreeing_jobs
        and f.reading <> b.reading
        and (f.hours = 'whole' or b.hours = 'part')
        and f.lag_us < b.lag_us + 2700000000
)

-- what agrees with times of which nobody knows the zone proves none
select b.folder, b.known, b.zone, b.jobs, b.agreeing_jobs, b.job_id
from best as b
anti join doubtful as d using (folder, known)
where b.known or b.zone <> 'UTC'
