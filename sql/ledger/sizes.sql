-- one row per attempt: how many accelerators its processes used
-- do not add gpus over attempts: one allocation may hold several attempts
-- world_gpus: what its own lines say, else what the launcher says of its tasks when they ended; null where neither does
with

told as (
    select
        a.run_id,
        a.launch_no,
        max(s.gpus) as world_gpus,
    from staging.attempts as a
    inner join staging.launch_sizes as s using (log_no, launch)
    group by all
),

-- of a start that failed before it told its size, how many tasks ended; of a step that lost a node nobody tells of those there
tasks as (
    select p.run_id, p.launch_no, max(e.tasks) as tasks
    from staging.task_ends as e
    inner join staging.placed as p using (log_no, ord)
    where p.launch_no is not null
    group by all
    having count(e.tasks) = count(*)
),

lost_nodes as (
    select distinct run_id, launch_no
    from staging.placed
    where kind = 'phase' and name = 'exit' and detail = 'node_failure'
),

launched as (
    select
        run_id,
        launch_no,
        t.tasks,
        w.world_gpus,
        -- the same for each start of a run
        min(w.world_gpus / t.tasks) over run as gpus_per_task,
        max(w.world_gpus / t.tasks) over run as most_per_task,
    from tasks as t
    anti join lost_nodes as l using (run_id, launch_no)
    left join told as w using (run_id, launch_no)
    window run as (partition by run_id)
),

sized as (
    from told
    union all
    select run_id, launch_no, (tasks * gpus_per_task)::bigint as world_gpus
    from launched
    where world_gpus is null and gpus_per_task = most_per_task
),

held as (
    select
        t.run_id,
        t.attempt,
        g.gpus,
    from ledger.timeline as t
    -- clocks of a trainer may be behind those of the scheduler
    asof inner join ledger.grants as g
        on t.run_id = g.run_id and t.holding = g.holding and t.start_us + 60000000 >= g.start_us
)

select
    t.run_id,
    t.attempt,
    t.holding,
    w.world_gpus,
    coalesce(w.world_gpus, h.gpus) as gpus,
from ledger.timeline as t
left join sized as w using (run_id, launch_no)
left join held as h using (run_id, attempt)
