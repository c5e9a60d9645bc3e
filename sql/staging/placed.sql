-- one row per event of a run's own sources, steps apart, with the launch that it belongs to (null where that cannot be told)
-- do not sum: see staging.stream
with

own as (
    select t.*, s.is_trainer
    from staging.stream as t
    inner join staging.sources as s using (source_id)
    where t.run_id is not null
),

-- an undated line takes the time of the last dated line before it in its log, else of the first after it
dated as (
    select log_no, ord, ts, kind = 'phase' and name = 'exit' as tells_end
    from own
    where ts is not null
    union all
    select log_no, ord, ts, false as tells_end
    from staging.step_lines
    where ts is not null
),

-- srun tells of the tasks of a step when they have gone
gone as (
    select log_no, ord
    from own
    where kind = 'signal' and (name = 'slurm_exit_code' or name like 'slurm_task_%') and ts is null
),

-- a step is taken down because a task failed: that task is told of last before, when those of the step before have gone
failed as (
    select log_no, ord
    from (
        select
            log_no,
            ord,
            kind,
            lead(detail) over w as next_detail,
            lag(kind) over w as previous_kind,
        from own
        where (kind = 'phase' and name = 'exit' and ts is not null)
            or (
                kind = 'signal' and ts is null
                and (name = 'slurm_exit_code' or (name like 'slurm_task_%' and name <> 'slurm_task_failure'))
            )
        window w as (partition by log_no order by ord, kind)
    )
    where kind = 'signal' and previous_kind = 'signal' and next_detail = 'task_failure'
),

between as (
    select
        o.*,
        b.ts as before_ts,
        a.ts as after_ts,
        -- what is printed after the end, when the tasks have gone, belongs to the next launch
        a.ts is not null and (
            f.ord is not null
            or coalesce(b.ts <= e.ts + interval 60 second and g.ord > b.ord and g.ord < o.ord, false)
            -- that a host failed is told before its tasks go
            and not (o.kind = 'signal' and o.name like 'slurm_%' and o.name <> 'slurm_node_failure_srun')
        ) as opens_next,
    from own as o
    asof left join dated as b on o.log_no = b.log_no and o.ord >= b.ord
    asof left join dated as a on o.log_no = a.log_no and o.ord <= a.ord
    asof left join (from dated where tells_end) as e on o.log_no = e.log_no and o.ord >= e.ord
    asof left join gone as g on o.log_no = g.log_no and o.ord >= g.ord
    left join failed as f on f.log_no = o.log_no and f.ord = o.ord and o.kind = 'signal'
    where o.ts is null
),

undated as (
    select
        * exclude (before_ts, after_ts, opens_next),
        case when opens_next then after_ts else coalesce(before_ts, after_ts) end as near_ts,
        before_ts is not null and not opens_next as follows_dated,
    from between
),

near as (
    select *, ts as near_ts, true as follows_dated from own where ts is not null
    union all by name
    from undated
),

-- in a trainer's own log the place decides
in_log as (
    select n.*, a.launch_no
    from near as n
    asof left join staging.attempts as a on n.log_no = a.log_no and n.ord >= a.first_ord
    where n.is_trainer
),

-- the first lines of a log come before its first launch mark: they belong to it
headed as (
    select
        f.* exclude (launch_no),
        coalesce(
            f.launch_no,
            (select min(a.launch_no) from staging.attempts as a where a.log_no = f.log_no)
        ) as launch_no,
    from in_log as f
),

-- elsewhere the job decides, and the time within the job
job_attempts as (
    select
        run_id,
        job_key,
        launch_no,
        any_value(attempt_start_ts) as attempt_start_ts,
    from staging.attempts
    group by all
),

beside as (
    select n.*, coalesce(s.job_id, '') as job_key
    from near as n
    inner join staging.sources as s using (source_id)
    where not n.is_trainer
),

by_time as (
    select b.* exclude (job_key), b.job_key, j.launch_no
    from beside as b
    asof left join job_attempts as j
        on b.run_id = j.run_id and b.job_key = j.job_key and b.near_ts >= j.attempt_start_ts
),

run_attempts as (
    select run_id, launch_no, any_value(attempt_start_ts) as attempt_start_ts
    from staging.attempts
    group by all
),

known_jobs as (
    select distinct run_id, job_key from job_attempts
),

nameless as (
    select distinct run_id from staging.attempts where job_id is null
),

by_run as (
    select b.*, r.launch_no as run_launch
    from by_time as b
    asof left join run_attempts as r on b.run_id = r.run_id and b.near_ts >= r.attempt_start_ts
),

placed_beside as (
    select
        b.* exclude (launch_no, run_launch, job_key),
        case
            when b.launch_no is not null then b.launch_no
            when k.job_key is not null then
                (select min(j.launch_no) from job_attempts as j where j.run_id = b.run_id and j.job_key = b.job_key)
            -- of a job that launched nothing, while each launch names another one, it tells of none of them
            when b.job_key <> '' and b.run_id not in (from nameless) then null
            else coalesce(
                b.run_launch,
                (
                    select case when count(distinct j.launch_no) = 1 then min(j.launch_no) end
                    from job_attempts as j where j.run_id = b.run_id
                )
            )
        end as launch_no,
    from by_run as b
    left join known_jobs as k using (run_id, job_key)
),

final as (
    from headed
    union all by name
    from placed_beside
)

select * exclude (is_trainer) from final
