-- one row per record of a part of a job (a pod, the pods of one role), and of a job of which no part tells
-- do not count as allocations: parts that overlap are one, and `staging.united_parts` puts them together
-- part: kind and name of the part; null for the job as a whole
-- island: parts of a job with the same number overlap, one with the other, and make up one allocation
with

-- the latest export of a part knows most
records as (
    select
        a.* exclude (cluster, submit_ts, eligible_ts, start_ts, end_ts),
        coalesce(a.cluster, s.cluster) as cluster,
        case when s.zone = 'UTC' or a.ts_quality = 'logged' then a.submit_ts else timezone(s.zone, a.submit_ts::timestamp) end as submit_ts,
        case when s.zone = 'UTC' or a.ts_quality = 'logged' then a.eligible_ts else timezone(s.zone, a.eligible_ts::timestamp) end as eligible_ts,
        case when s.zone = 'UTC' or a.ts_quality = 'logged' then a.start_ts else timezone(s.zone, a.start_ts::timestamp) end as start_ts,
        case when s.zone = 'UTC' or a.ts_quality = 'logged' then a.end_ts else timezone(s.zone, a.end_ts::timestamp) end as end_ts,
    from events.allocations as a
    inner join staging.sources as s using (source_id)
    -- lines of a report, and tasks that name hosts, are no parts of a job: see staging.records and staging.allocations
    where a.part not in ('report', 'task') or a.scheduler in ('kubernetes', 'pai')
    qualify row_number() over (
        partition by coalesce(a.cluster, s.cluster, ''), coalesce(a."user", ''), a.job_id, a.part, a.submit_ts
        order by a.end_ts is not null desc, a.start_ts is not null desc, a.end_ts desc, a.source_id, a.line
    ) = 1
),

-- who is nearest to the nodes knows best: pods, what a queue admitted, what a job asked for, the job itself
ranked as (
    select
        *,
        case split_part(part, '/', 1) when 'pod' then 0 when 'podset' then 1 when 'replicas' then 2 else 3 + (part is null)::integer end as distance,
        -- a part that does not say when it was submitted was so with its job
        coalesce(submit_ts, min(submit_ts) over (partition by coalesce(cluster, ''), coalesce("user", ''), job_id)) as told_submit_ts,
    from records
),

told as (
    select * exclude (submit_ts, told_submit_ts), told_submit_ts as submit_ts
    from ranked
    qualify distance = min(distance) over (partition by coalesce(cluster, ''), coalesce("user", ''), job_id)
),

-- what launches and holds nothing is no part of what is held, where others hold
holders as (
    select *
    from told
    qualify gpus is distinct from 0
        or coalesce(max(gpus) over (partition by coalesce(cluster, ''), coalesce("user", ''), job_id), 0) = 0
),

-- a restart that numbers itself begins another allocation
begun as (
    select
        *,
        start_ts is not null and coalesce(
            start_ts >= max(coalesce(end_ts, 'infinity'::timestamptz)) over (w rows between unbounded preceding and 1 preceding),
            true
        ) as begins,
    from holders
    window w as (
        partition by coalesce(cluster, ''), coalesce("user", ''), job_id, restart_no, start_ts is null
        order by start_ts, source_id, line, part
    )
),

counted as (
    select
        *,
        count_if(begins) over (
            partition by coalesce(cluster, ''), coalesce("user", ''), job_id, restart_no
            order by start_ts, source_id, line, part
            rows unbounded preceding
        ) as begin_no,
    from begun
)

select
    source_id,
    line,
    cluster,
    scheduler,
    job_id,
    restart_no,
    part,
    name,
    "user",
    account,
    qos,
    "partition",
    submit_ts,
    eligible_ts,
    start_ts,
    end_ts,
    state,
    state_by,
    exit_code,
    exit_signal,
    reason,
    nodes,
    n_nodes,
    gpus,
    case
        when start_ts is not null then dense_rank() over (
            partition by coalesce(cluster, ''), coalesce("user", ''), job_id, start_ts is null
            order by restart_no, begin_no
        )
    end as island,
from counted
