-- one row per allocation record, without repeats of the same record in overlapping exports, with the run it served
-- do not sum gpus over rows of one job: a requeued job has a row per allocation, and a resized one a row per size
-- parts of a job, as pods are, stand here put together
-- resized: whether the row goes on with the allocation of the row before it, in another size
with

records as (
    select
        a.*,
        s.path,
        s.cluster as source_cluster,
        -- what reports itself in the output of a run is of that run
        case when a.part = 'report' then s.run_id end as reported_run,
        case when a.format in (select format from events.formats where by_host_clock) then s.host_zone else s.zone end as zone,
    from staging.records as a
    inner join staging.sources as s using (source_id)
    where coalesce(a.part, 'report') in ('report', 'task') and coalesce(a.scheduler, '') not in ('kubernetes', 'pai')
    -- accounting knows more of a job than its report does
    qualify a.part is distinct from 'report' or not bool_or(a.part is distinct from 'report') over (partition by a.job_id)
),

zoned as (
    select
        * exclude (submit_ts, eligible_ts, start_ts, end_ts, cluster),
        coalesce(cluster, source_cluster) as cluster,
        case when zone = 'UTC' or ts_quality = 'logged' then submit_ts else timezone(zone, submit_ts::timestamp) end as submit_ts,
        case when zone = 'UTC' or ts_quality = 'logged' then eligible_ts else timezone(zone, eligible_ts::timestamp) end as eligible_ts,
        case when zone = 'UTC' or ts_quality = 'logged' then start_ts else timezone(zone, start_ts::timestamp) end as start_ts,
        case when zone = 'UTC' or ts_quality = 'logged' then end_ts else timezone(zone, end_ts::timestamp) end as end_ts,
    from records
),

-- the controller and its log of completed jobs name no cluster: it is that of the accounting of the same job
clustered as (
    select * replace (coalesce(cluster, max(cluster) over (partition by scheduler, job_id, submit_ts)) as cluster)
    from zoned
),

-- the latest export of a record knows most; of two that know the end, accounting knows of requeues and preemption
distinct_records as (
    select * exclude (tells_requeues)
    from (
        select *, coalesce(format in (select format from events.formats where tells_requeues), false) as tells_requeues
        from clustered
        where part is distinct from 'task'
    )
    qualify row_number() over (
        partition by coalesce(cluster, ''), job_id, submit_ts, start_ts
        order by end_ts is not null desc, end_ts desc, tells_requeues desc, source_id, line
    ) = 1
),

-- tasks of a job tell on which hosts it ran beside its first one, each host maybe several times
task_hosts as (
    select
        d.source_id,
        d.line,
        list_sort(list_distinct(list_concat([d.host], flatten(list(t.nodes))))) as hosts,
    from distinct_records as d
    inner join clustered as t
        on t.job_id = d.job_id and t.scheduler is not distinct from d.scheduler
        and coalesce(t.cluster, '') = coalesce(d.cluster, '')
        and t.start_ts >= d.start_ts and t.start_ts <= coalesce(d.end_ts, 'infinity'::timestamptz)
    where t.part = 'task' and d.host is not null
    group by d.source_id, d.line, d.host
),

-- what was asked for by host or by slot is by host where both are the same, and where a slot would have too many
hosted as (
    select
        d.* replace (
            coalesce(h.hosts, d.nodes) as nodes,
            coalesce(len(h.hosts), d.n_nodes) as n_nodes,
            coalesce(
                d.gpus_per_node,
                case when d.slots = len(h.hosts) or d.gpus_asked * d.slots > 16 * len(h.hosts) then d.gpus_asked end
            ) as gpus_per_node
        ),
    from distinct_records as d
    left join task_hosts as h using (source_id, line)
),

united as (
    from hosted
    union all by name
    from staging.united_parts
),

numbered as (
    select
        *,
        coalesce(
            restart_no,
            count_if(state is distinct from 'RESIZING') over (w rows between unbounded preceding and 1 preceding),
            0
        )::bigint as restart,
        coalesce(lag(state) over w = 'RESIZING' and lag(end_ts) over w = start_ts, false) as resized,
    from united
    window w as (partition by coalesce(cluster, ''), job_id order by submit_ts, start_ts)
),

-- jobs that the runs name: by configuration, by the job that wrote their logs, by name
by_configuration as (
    select n.job_id, n.name, min(j.run_id) as run_id
    from (select distinct job_id, name from numbered) as n
    inner join config.run_jobs as j
        on n.job_id = j.job or regexp_full_match(coalesce(n.name, ''), j.pattern)
    group by all
),

by_log as (
    select job_id, min(run_id) as run_id
    from staging.sources
    where job_id is not null and run_id is not null
    group by job_id
),

by_name as (
    select n.name, n.user, min(l.run_id) as run_id
    from numbered as n
    inner join by_log as l using (job_id)
    where n.name is not null
    group by all
    having count(distinct l.run_id) = 1
),

observed_runs as (
    select distinct run_id from staging.sources where is_trainer and run_id is not null
),

joined as (
    select
        n.*,
        coalesce(c.run_id, n.reported_run, l.run_id, m.run_id, o.run_id) as observed_run,
    from numbered as n
    left join by_configuration as c on c.job_id = n.job_id and c.name is not distinct from n.name
    left join by_log as l on l.job_id = n.job_id
    left join by_name as m on m.name = n.name and m.user is not distinct from n.user
    left join observed_runs as o on o.run_id = n.name
),

-- without any trainer log each chain of jobs of one name and user is a run
named as (
    select
        * exclude (observed_run),
        observed_run is not null as observed,
        coalesce(observed_run, name, job_id) as run_id,
    from joined
)

select
    run_id,
    observed,
    scheduler,
    cluster,
    job_id,
    restart,
    name,
    "user",
    account,
    qos,
    "partition",
    submit_ts,
    eligible_ts,
    start_ts,
    end_ts,
    elapsed_s,
    state,
    state_by,
    exit_code,
    exit_signal,
    reason,
    nodes,
    n_nodes,
    coalesce(gpus, gpus_per_node * coalesce(n_nodes, len(nodes))) as gpus,
    resized,
    source_id,
    line,
from named
