-- one row per job that is no part of the run of its folder, with the run that it is of
-- do not count rows as runs: a chain of jobs is one run
-- jobs that train at the same time, or models of another width or depth, are runs of their own, unless the configuration gives
-- their logs or jobs to one
with

by_configuration as (
    select distinct s.source_id
    from events.sources as s
    inner join config.run_logs as r on regexp_full_match(s.path, r.pattern)
),

names as (
    select job_id, min(name) as name
    from events.allocations
    where name is not null
    group by job_id
    having count(distinct name) = 1
),

given as (
    select distinct l.job_id
    from staging.logs as l
    left join names as n using (job_id)
    inner join config.run_jobs as j on l.job_id = j.job or regexp_full_match(coalesce(n.name, ''), j.pattern)
),

-- what is called alike but for the number of the job belongs together; accounting knows better
logs as (
    select
        l.source_id,
        l.folder,
        l.job_id,
        coalesce(
            n.name,
            regexp_replace(split_part(parse_filename(l.log), l.job_id, 1), '[-_.]*(?:(?:^|[-_.])(?:job|[oe]))?[-_.]*$', '')
        ) as label,
        z.zone,
    from staging.logs as l
    left join staging.zones as z using (source_id)
    left join names as n using (job_id)
    where l.job_id is not null and l.duplicate_of is null and coalesce(l.role, '') not in ('scheduler', 'node')
        and l.source_id not in (from by_configuration) and l.job_id not in (from given)
),

trained as (
    select
        l.source_id,
        any_value(l.folder) as folder,
        any_value(l.job_id) as job_id,
        any_value(l.zone) as zone,
        min(e.step_last) as first_step,
        min(e.ts_quality) filter (where e.ts is not null) as quality,
        -- how long before its first line it began cannot be told here: what is printed has been done
        case when quality = 'year_assumed' then arg_min(e.ts, e.line) else min(e.ts) end as from_ts,
        case when quality = 'year_assumed' then arg_max(e.ts, e.line) else max(e.ts) end as to_ts,
        min(e.line) as first_line,
        max(e.line) as last_line,
    from events.steps as e
    inner join logs as l using (source_id)
    group by l.source_id
),

-- every rank may tell the same step
undated_steps as (
    select
        e.source_id,
        e.step_last,
        arg_max(e.step_time_s * coalesce(e.steps, 1), e.line) as step_s,
        arg_max(e.elapsed_s, e.line) as elapsed_s,
    from events.steps as e
    where e.source_id in (select source_id from trained where from_ts is null)
    group by e.source_id, e.step_last
),

-- the clock of a loop goes on from line to line, from one part of a log to the next, too, and begins anew with the loop
clocked as (
    select
        *,
        elapsed_s - lag(elapsed_s ignore nulls) over w as gained_s,
        step_s * count(step_s) over w as if_mean_s,
    from undated_steps
    window w as (partition by source_id order by step_last)
),

-- the first steps of a loop take long; a mean of all so far that is printed with each step counts them each time, and says with
-- the last one what all took, which never falls from one to the next
taken as (
    select
        source_id,
        list(if_mean_s order by step_last) filter (where if_mean_s is not null) as if_means_s,
        coalesce(
            sum(case when gained_s >= 0 then gained_s else least(elapsed_s, step_s) end) filter (where elapsed_s is not null),
            least(
                sum(step_s),
                median(step_s) * count(step_s),
                case when list_sort(if_means_s) = if_means_s then if_means_s[-1] end
            )
        ) as took_s,
        -- what no line tells says nothing, and neither does a number beyond all runs
        case when took_s between 0 and 1e9 then (took_s * 1000000)::bigint end as took_us,
    from clocked
    group by source_id
),

-- steps without a time lie between the last time before them and the first one behind them
marks as (
    select source_id, line, ts, ts_quality
    from events.phases
    where ts is not null
    union all
    select source_id, line, ts, ts_quality
    from events.checkpoints
    where ts is not null
    union all
    select source_id, line, ts, ts_quality
    from events.signals
    where ts is not null
),

ends as (
    select source_id, zone, first_line, last_line, first_line as line, from_ts as ts, quality as ts_quality from trained
    union all
    select source_id, zone, first_line, last_line, last_line as line, to_ts as ts, quality as ts_quality from trained
    union all
    select t.source_id, t.zone, t.first_line, t.last_line, m.line, m.ts, m.ts_quality
    from trained as t
    inner join marks as m using (source_id)
    where t.from_ts is null and (m.line < t.first_line or m.line > t.last_line)
),

-- a log may print some of its stamps without a year, and in another zone than others
zoned as (
    select
        d.source_id,
        d.line,
        d.first_line,
        d.last_line,
        d.ts_quality = 'year_assumed' and y.year is null as of_any_year,
        d.ts + to_years(coalesce(y.year - 1972, 0)::integer) as dated_ts,
        case when d.zone = 'UTC' or d.ts_quality = 'logged' then dated_ts else timezone(d.zone, dated_ts::timestamp) end as ts,
    from ends as d
    left join staging.years as y
        on y.source_id = d.source_id and d.ts_quality = 'year_assumed' and d.line >= y.line and d.line < y.next_line
    where d.ts_quality in ('logged', 'zone_assumed', 'year_assumed')
),

around as (
    select
        source_id,
        bool_or(of_any_year) as of_any_year,
        max(ts) filter (where line < first_line) as before_ts,
        min(ts) filter (where line > last_line) as after_ts,
        min(ts) filter (where line between first_line and last_line) as from_ts,
        max(ts) filter (where line between first_line and last_line) as to_ts,
    from zoned
    group by source_id
),

placed as (
    select
        t.folder,
        t.job_id,
        t.first_step,
        a.of_any_year,
        -- what else is printed with a time may come before lines that were held back: as long as it took it had begun before the end
        least(a.before_ts, a.after_ts - to_microseconds(k.took_us)) as near_ts,
        coalesce(a.from_ts, near_ts) as from_ts,
        -- and no longer than it surely took did it train
        coalesce(
            a.to_ts,
            least(a.after_ts, near_ts + to_microseconds(k.took_us)),
            a.after_ts
        ) as to_ts,
    from trained as t
    inner join around as a using (source_id)
    left join taken as k using (source_id)
),

-- no state of a model fits into one of another width or depth; of a job that tells several nothing is known
shapes as (
    select
        l.folder,
        l.job_id,
        concat(min(n.number) filter (where n.key = 'hidden_size'), 'x', min(n.number) filter (where n.key = 'num_layers')) as shape,
    from (
        select source_id, key, try_cast(replace(value, ',', '') as bigint) as number
        from events.facts
        where key in ('hidden_size', 'num_layers')
    ) as n
    inner join logs as l using (source_id)
    group by l.folder, l.job_id
    having count(distinct n.number) filter (where n.key = 'hidden_size') = 1
        and count(distinct n.number) filter (where n.key = 'num_layers') = 1
),

times as (
    select
        z.folder,
        z.job_id,
        any_value(l.label) as label,
        bool_or(z.of_any_year) as of_any_year,
        min(z.first_step) as first_step,
        min(z.from_ts) as from_ts,
        max(z.to_ts) as to_ts,
    from placed as z
    inner join (select folder, job_id, min(label) as label from logs group by all) as l using (folder, job_id)
    where z.from_ts < z.to_ts
    group by z.folder, z.job_id
),

-- who tells no shape goes on with the job of its name before it
jobs as (
    select
        t.*,
        coalesce(
            last_value(s.shape ignore nulls) over (partition by t.folder, t.label order by t.from_ts, t.job_id),
            first_value(s.shape ignore nulls) over (
                partition by t.folder order by t.from_ts, t.job_id rows between unbounded preceding and unbounded following
            ),
            ''
        ) as shape,
    from times as t
    left join shapes as s using (folder, job_id)
),

at_once as (
    select
        a.folder,
        a.job_id,
        bool_or(a.label = b.label) as with_own_kind,
    from jobs as a
    inner join jobs as b
        on b.folder = a.folder and b.shape = a.shape and b.job_id <> a.job_id and b.of_any_year = a.of_any_year
        and b.from_ts < a.to_ts and b.to_ts > a.from_ts
    group by all
),

-- of a kind of which several train at once a job goes on with the one before it that ended and had made fewer steps; of those
-- that do, the one that got furthest; a kind of which one trains at a time is one chain
kinds as (
    select
        j.*,
        o.job_id is not null as is_at_once,
        coalesce(bool_or(o.with_own_kind) over (partition by j.folder, j.shape, j.label), false) as mixed,
    from jobs as j
    left join at_once as o using (folder, job_id)
),

forerunners as (
    select
        a.folder,
        a.job_id,
        arg_max(b.job_id, (b.to_ts, b.job_id)) as after_job,
        any_value(a.to_ts) as to_ts,
    from kinds as a
    inner join kinds as b
        on b.folder = a.folder and b.shape = a.shape and b.label = a.label and b.of_any_year = a.of_any_year
        and b.to_ts <= a.from_ts and b.first_step < a.first_step
    where a.mixed
    group by all
),

followed as (
    select folder, job_id, after_job
    from forerunners
    qualify row_number() over (partition by folder, after_job order by to_ts desc, job_id) = 1
),

recursive_chains as (
    with recursive chains as (
        select k.folder, k.job_id, k.job_id as first_job
        from kinds as k
        anti join followed as f using (folder, job_id)
        where k.mixed
        union all
        select f.folder, f.job_id, c.first_job
        from chains as c
        inner join followed as f on f.folder = c.folder and f.after_job = c.job_id
    )

    from chains
),

chained as (
    select
        k.*,
        case when k.mixed then c.first_job else 'all' end as chain,
    from kinds as k
    left join recursive_chains as c using (folder, job_id)
),

-- of those that train at once, the first one that began is one with all that trains alone
ranked as (
    select
        folder,
        shape,
        label,
        chain,
        row_number() over (partition by folder, shape order by min((from_ts, job_id))) as place,
    from chained
    group by folder, shape, label, chain
    having bool_or(is_at_once)
),

parts as (
    select
        c.folder,
        c.shape,
        c.job_id,
        c.label,
        c.from_ts,
        case when r.place > 1 then concat(c.label, '/', c.chain) else '' end as part,
        count(distinct (c.shape, part)) over (partition by c.folder, c.label) as alike,
    from chained as c
    left join ranked as r using (folder, shape, label, chain)
),

-- what first began to train keeps the name of the folder
runs as (
    select
        folder,
        shape,
        part,
        arg_min(case when alike > 1 or label = '' then job_id else label end, (from_ts, job_id)) as name,
        row_number() over (partition by folder order by part <> '', min((from_ts, job_id))) as place,
    from parts
    group by folder, shape, part
),

-- a job that made no step is of the run whose model it tells
members as (
    select folder, shape, part, job_id from parts
    union all
    select s.folder, s.shape, '' as part, s.job_id
    from shapes as s
    anti join parts as p using (folder, job_id)
),

final as (
    select
        m.folder,
        m.job_id,
        concat(coalesce(nullif(m.folder, ''), s.logs_name), '/', r.name) as run_id,
    from members as m
    inner join runs as r using (folder, shape, part)
    cross join config.store as s
    where r.place > 1
)

select * from final
