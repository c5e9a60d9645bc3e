-- one row per line in which srun tells of tasks that have ended, with the step of its log that they belong to
-- do not sum: a task of a job that ran several steps is told once in each
-- step: number of the step in its log; each task of a step ends once, so that a task told again belongs to another one
-- opens: whether it is the first line that is known to tell of its step
-- previous_ord: place of the last such line before it
-- tasks: how many its step had, where the end of each is told, not of one alone, who may have failed where others ended well
with recursive

lines as (
    select log_no, ord, tasks, bool_or(name = 'slurm_task_terminated') as taken_down
    from (
        select
            log_no,
            ord,
            name,
            regexp_extract(detail, 'srun: error: [^\s:]+: tasks? ([\d,-]+): ', 1) as tasks,
        from staging.stream
        where kind = 'signal' and (name = 'slurm_exit_code' or name like 'slurm_task_%') and run_id is not null
    )
    where tasks <> ''
    group by all
),

spans as (
    select log_no, ord, unnest(string_split(tasks, ',')) as span
    from lines
),

bounds as (
    select
        log_no,
        ord,
        try_cast(split_part(span, '-', 1) as bigint) as first_task,
        coalesce(try_cast(split_part(span, '-', 2) as bigint), try_cast(split_part(span, '-', 1) as bigint)) as last_task,
    from spans
),

tasks as (
    select log_no, ord, unnest(range(first_task, last_task + 1)) as task
    from bounds
    -- a range that no job has is damage
    where last_task - first_task < 1000000
),

-- the latest line before that told of one of the same tasks
told as (
    select log_no, ord, max(earlier_ord) as earlier_ord
    from (
        select log_no, ord, lag(ord) over (partition by log_no, task order by ord) as earlier_ord
        from tasks
    )
    group by all
),

starts as (
    select log_no, min(ord) as ord
    from lines
    group by log_no
    union all
    select s.log_no, min(t.ord) as ord
    from starts as s
    inner join told as t on t.log_no = s.log_no and t.ord > s.ord and t.earlier_ord >= s.ord
    group by s.log_no, s.ord
),

numbered as (
    select
        log_no,
        ord,
        row_number() over (partition by log_no order by ord) as step,
    from starts
),

told_in as (
    select t.log_no, t.ord, n.step, list(distinct t.task) as tasks
    from tasks as t
    asof inner join numbered as n on t.log_no = n.log_no and t.ord >= n.ord
    group by all
),

wholes as (
    select
        t.log_no,
        t.step,
        l.ord as last_ord,
        any_value(l.tasks) as last_tasks,
        list_distinct(flatten(list(t.tasks) filter (where t.ord < l.ord))) as tasks_before,
        list_distinct(flatten(list(t.tasks))) as tasks,
    from told_in as t
    inner join (select log_no, step, max(ord) as ord, arg_max(tasks, ord) as tasks from told_in group by all) as l
        using (log_no, step)
    group by all
),

-- without its last line a step is whole, or with it is not, and the next one is only with it
moved as (
    select w.log_no, w.last_ord as ord, w.step + 1 as step
    from wholes as w
    inner join wholes as f on f.log_no = w.log_no and f.step = w.step + 1
    where (
            len(w.tasks_before) = list_max(w.tasks_before) + 1
            -- the task after the last one may be of either, where the next step is whole without it
            and (
                list_min(w.last_tasks) > list_max(w.tasks_before) + 1
                or (list_min(w.last_tasks) > list_max(w.tasks_before) and len(f.tasks) <= list_max(f.tasks))
            )
            -- of a step that lost a node nobody tells of the tasks there; who is taken down for another task is not the first
            or (
                len(w.tasks) <= list_max(w.tasks)
                and list_max(w.last_tasks) < list_max(f.tasks)
                and not exists (select 1 from lines as l where l.log_no = w.log_no and l.ord = w.last_ord and l.taken_down)
            )
        )
        and not list_has_any(w.last_tasks, f.tasks)
        and len(f.tasks) + len(w.last_tasks) = greatest(list_max(f.tasks), list_max(w.last_tasks)) + 1
),

begins as (
    select n.log_no, n.step, coalesce(m.ord, n.ord) as ord
    from numbered as n
    left join moved as m using (log_no, step)
)

select
    l.log_no,
    l.ord,
    n.step,
    l.ord = n.ord and n.step > 1 as opens,
    lag(l.ord) over (partition by l.log_no order by l.ord) as previous_ord,
    case
        when sum(len(t.tasks)) over w = max(list_max(t.tasks)) over w + 1
            and (max(list_max(t.tasks)) over w > 0 or bool_or(l.taken_down) over w)
            then max(list_max(t.tasks)) over w + 1
    end as tasks,
from lines as l
asof inner join begins as n on l.log_no = n.log_no and l.ord >= n.ord
left join told_in as t on t.log_no = l.log_no and t.ord = l.ord
window w as (partition by l.log_no, n.step)
