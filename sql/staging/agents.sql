-- one row per input file whose tasks are agents: each starts several ranks, so that the number of a task is none of a rank
-- do not count as launchers: every file of a job has a row
with

-- files of one job were written by the same tasks
jobs as (
    select
        source_id,
        coalesce(run_id || ' ' || job_id, 'log ' || log_no) as job,
    from staging.sources
),

told as (
    select j.job, e.signal_id, e.task, e.fault_rank
    from events.signals as e
    inner join jobs as j using (source_id)
    where starts_with(e.signal_id, 'elastic_') and e.task is not null
),

-- an agent for each rank has the number of its rank
counted as (
    select
        job,
        count(*) filter (where fault_rank <> task) as others,
        count(*) filter (where fault_rank = task and task > 0) as same,
    from told
    group by job
),

final as (
    select j.source_id
    from jobs as j
    inner join counted as c using (job)
    where c.others > 0 or c.same = 0
)

select * from final
