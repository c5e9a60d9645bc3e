-- one row per input file, with the run that it belongs to, its zone and its host
-- do not sum lines over files of which duplicate_of is set: their content was read elsewhere
-- log: path of the log that the file is a part of, without the ending of a compressed file
-- rotation: how often the file was rotated; 0 for the latest part of its log
-- log_no: number of the log: where lines follow each other, they do so within a log and not within a file
-- lines_before: lines of the older parts of its log
-- zone_from: what says so: configuration, accounting, jobs, hosts, neighbours, printed, or assumed; see staging.zones
-- host_zone: zone of what daemons of the scheduler print into it
with

rules as (
    select
        s.source_id,
        arg_min(r.host, r.ord) filter (where r.host is not null) as host,
        arg_min(r.cluster, r.ord) filter (where r.cluster is not null) as cluster,
    from events.sources as s
    inner join config.sources as r on regexp_full_match(s.path, r.pattern)
    group by s.source_id
),

named as (
    select s.source_id, min(r.run_id) as run_id
    from events.sources as s
    inner join config.run_logs as r on regexp_full_match(s.path, r.pattern)
    group by s.source_id
),

-- bars and lines of a logger may go to standard error, and results to standard output: where another file of the folder
-- has the bars, a file with nothing but results tells beside it
bars as (
    select distinct e.source_id, regexp_replace(s.path, '[^/]*$', '') as folder
    from events.steps as e
    inner join events.sources as s using (source_id)
    where e.format in (select format from events.formats where results_apart) and e.step_last is not null and s.duplicate_of is null
),

results as (
    select s.source_id
    from events.sources as s
    where s.format in (select format from events.formats where results_apart)
        and s.source_id not in (select source_id from bars)
        and regexp_replace(s.path, '[^/]*$', '') in (select folder from bars)
        and s.source_id not in (
            select source_id from events.phases where edge = 'begin' or phase in ('process_start', 'model_setup')
        )
),

-- a run exists where a trainer wrote
trainers as (
    select source_id
    from (
        select source_id from events.steps
        union
        select source_id from events.phases where phase in ('process_start', 'init', 'loop')
        union
        select source_id from events.sources where role = 'trainer'
    )
    where source_id not in (select source_id from results)
),

-- output of programs that ended badly, whatever they were
programs as (
    select e.source_id
    from events.signals as e
    inner join seeds.signals as c using (signal_id)
    where c.weight = 'cause' and c.source in ('trainer_stderr', 'python', 'slurm', 'lsf', 'pbs', 'nccl', 'checkpoint')
    union
    select source_id from events.phases where phase = 'exit'
),

-- output of a job may quote more of kernels than it says itself: where a program speaks in it, it is no log of a host
quoting as (
    select distinct e.source_id
    from events.signals as e
    inner join seeds.signals as c using (signal_id)
    inner join events.sources as s using (source_id)
    where s.role = 'node' and s.job_id is not null
        and c.source in ('trainer_stderr', 'python', 'nccl') and c.weight <> 'noise' and e.host is null
),

roles as (
    select * replace (case when source_id not in (from quoting) then role end as role)
    from events.sources
),

folders as (
    select
        s.* exclude (job_id),
        g.job_id,
        coalesce(
            n.run_id,
            case when contains(s.path, '/') then split_part(s.path, '/', 1) else l.logs_name end
        ) as folder_run,
        n.run_id is not null as by_configuration,
        t.source_id is not null as is_trainer,
        -- a diary quotes errors and is no log
        p.source_id is not null and coalesce(s.role, '') not in ('scheduler', 'node')
            and not regexp_matches(s.path, '(?i)\.(md|rst)$') as is_program,
        l.logs_name,
    from roles as s
    inner join staging.logs as g using (source_id)
    cross join config.store as l
    left join named as n using (source_id)
    left join trainers as t using (source_id)
    left join programs as p using (source_id)
),

trainer_runs as (
    select distinct folder_run as run_id from folders where is_trainer and duplicate_of is null
),

-- where no trainer is known, what a failed program left behind is a run that did not start
runs as (
    select run_id from trainer_runs
    union
    select distinct folder_run as run_id
    from folders
    where is_program and duplicate_of is null
        and (contains(path, '/') or by_configuration or not exists (select 1 from trainer_runs))
),

-- a job of the same name and user as one that trained, in its folder: a start of it that failed before the trainer said a word
names as (
    select distinct job_id, name, "user"
    from events.allocations
    where name is not null
),

starts as (
    select distinct f.source_id
    from folders as f
    inner join names as n using (job_id)
    inner join names as m on m.name = n.name and m."user" is not distinct from n."user" and m.job_id <> n.job_id
    inner join folders as t on t.job_id = m.job_id and t.folder_run = f.folder_run and t.is_trainer
    where f.is_program and f.job_id not in (select job_id from folders where is_trainer and job_id is not null)
),

only_run as (
    select case when count(*) = 1 then min(run_id) end as run_id from runs
),

-- what one part tells of a log holds for all of it
logged as (
    select
        f.* exclude (job_id, is_trainer, is_program),
        l.log,
        l.rotation,
        l.place,
        l.folder,
        l.job_id,
        bool_or(f.is_trainer) over parts as is_trainer,
        bool_or(f.is_program) over parts as is_program,
    from folders as f
    inner join staging.logs as l using (source_id)
    window parts as (partition by l.log)
),

nodes as (
    select distinct split_part(unnest(nodes), '.', 1) as node from events.allocations
),

-- a log of a host bears its name, alone or beside what it is called on every host: else a folder around it does
stems as (
    select
        source_id,
        path,
        regexp_extract(
            split_part(parse_filename(path), '.', 1),
            '(?i)^(?:(' || host_logs() || ')(?:[-_]|$))?(.*?)(?:[-_](?:' || host_logs() || '))?$',
            ['called', 'bare']
        ) as stem,
    from logged
),

hosts as (
    select
        s.source_id,
        case
            -- behind what it is called on every host may stand a day as well
            when s.stem.called = '' or n.node is not null then s.stem.bare
            else list_last(list_filter(
                string_split(s.path, '/')[:-2],
                lambda folder: not regexp_matches(folder, '(?i)^(' || around_hosts() || ')$')
            ))
        end as host,
    from stems as s
    left join nodes as n on n.node = s.stem.bare
),

owned as (
    select
        f.source_id,
        f.path,
        f.log,
        f.rotation,
        f.place,
        coalesce(f.lines, 0) as lines,
        f.format,
        f.role,
        f.job_id,
        f.is_trainer or f.source_id in (select source_id from starts) or (f.is_program and t.run_id is null and r.run_id is not null) as is_trainer,
        f.is_trainer as has_trainer_lines,
        case
            when f.duplicate_of is not null then null
            -- accounting and node logs serve every run, wherever they lie: job, host and time join them
            when f.role in ('scheduler', 'node') and not f.is_trainer then null
            when f.by_configuration then f.folder_run
            when a.run_id is not null then a.run_id
            when r.run_id is not null then r.run_id
            else o.run_id
        end as run_id,
        coalesce(u.host, case when f.role = 'node' then h.host end) as host,
        u.cluster,
        coalesce(z.zone, 'UTC') as zone,
        coalesce(z.host_zone, 'UTC') as host_zone,
        coalesce(z.zone_from, 'assumed') as zone_from,
        z.zone_job,
        z.zone_told,
        f.first_ts,
        f.last_ts,
    from logged as f
    left join runs as r on r.run_id = f.folder_run
    left join trainer_runs as t on t.run_id = f.folder_run
    left join staging.runs_apart as a on a.folder = f.folder and a.job_id = f.job_id
    cross join only_run as o
    left join staging.zones as z using (source_id)
    left join rules as u using (source_id)
    inner join hosts as h using (source_id)
),

-- parts that the configuration gives to several runs are no log
placed as (
    select
        * exclude (place, lines),
        dense_rank() over (order by log, run_id)::integer as log_no,
        coalesce(sum(lines) over (
            partition by log, run_id order by place rows between unbounded preceding and 1 preceding
        ), 0)::bigint as lines_before,
    from owned
)

select * from placed
