-- one row per event of a run's own sources, steps apart, with the launch that it belongs to (null where that cannot be told)
-- do not sum: see staging.stream
-- next_ts: time of the first dated line after it in its log; null of a line that has a time
with

-- what is told of somebody else is told of none of its launches
own as (
    select t.*, s.is_trainer
    from staging.stream as t
    inner join staging.sources as s using (source_id)
    anti join staging.foreign_lines as f on f.source_id = t.source_id and f.line = t.line
    where t.run_id is not null
),

-- an undated line takes the time of the last dated line before it in its log, else of the first after it
dated as (
    select
        log_no,
        ord,
        ts,
        kind = 'phase' and name = 'exit' as tells_end,
        kind = 'phase' and name = 'exit' and detail = 'node_failure' as tells_node_end,
        kind = 'phase' and name = 'exit' and detail = 'task_failure' as tells_task_end,
    from own
    where ts is not null
    union all
    select log_no, ord, ts, false as tells_end, false as tells_node_end, false as tells_task_end
    from staging.step_lines
    where ts is not null
),

-- a trainer that took its leave left no failed task behind
leaves as (
    select distinct a.run_id, a.launch_no
    from own as o
    inner join staging.sources as s using (source_id)
    asof inner join staging.attempts as a on o.log_no = a.log_no and o.ord >= a.first_ord
    where o.is_trainer and o.kind = 'phase' and o.name = 'exit' and o.ts is not null and o.format = s.format
),

launch_times as (
    select run_id, launch_no, any_value(attempt_start_ts) as attempt_start_ts
    from staging.attempts
    group by all
),

-- a process ends once: what ends a rank again, after an end was told, ended it in a later launch
raised as (
    select o.log_no, o.source_id, o.line, o.segment, o.ord, min(o.ord) over (partition by o.log_no, o.rank) as first_ord
    from own as o
    inner join events.signals as e
        on e.source_id = o.source_id and e.line = o.line and e.segment = o.segment and e.signal_id = o.name
    anti join staging.handled_exceptions as x
        on x.source_id = o.source_id and x.line = o.line and x.segment = o.segment and x.why = 'caught'
    where o.kind = 'signal' and o.rank is not null and e.uncaught
),

raised_again as (
    select distinct r.source_id, r.line, r.segment
    from raised as r
    asof inner join (from dated where tells_end) as e on r.log_no = e.log_no and r.ord >= e.ord
    where r.first_ord < e.ord
),

-- where a step tells of its tasks next
task_lines as (
    select log_no, ord, lead(ord) over (partition by log_no, step order by ord) as next_ord
    from staging.task_ends
),

between as (
    select
        o.*,
        c.source_id is not null as is_raised_again,
        b.ord as before_ord,
        b.ts as before_ts,
        a.ord as after_ord,
        a.ts as after_ts,
        -- what is printed after the end, when the tasks have gone, belongs to the next launch
        coalesce(
            b.ts <= e.ts + interval 60 second
            -- where a node was lost nobody is left to tell of the tasks
            and (g.ord > b.ord and g.ord < o.ord or b.tells_node_end)
            and not (o.kind = 'signal' and o.name in ('slurm_exit_code', 'slurm_oom_new', 'slurm_oom_old', 'slurm_stepd_stuck'))
            and not (o.kind = 'signal' and o.name like 'slurm_task_%'),
            false
        ) as follows_end,
        coalesce(b.ts <= e.ts + interval 60 second, false) as in_end,
        -- behind an end a task failed for which the next step is taken down: that one goes on to tell of its tasks
        coalesce(b.tells_end and a.tells_task_end and k.next_ord > a.ord, false) as fails_next,
        n.launch_no as before_launch,
    from own as o
    asof left join dated as b on o.log_no = b.log_no and o.ord >= b.ord
    asof left join dated as a on o.log_no = a.log_no and o.ord <= a.ord
    asof left join (from dated where tells_end) as e on o.log_no = e.log_no and o.ord >= e.ord
    asof left join staging.task_ends as g on o.log_no = g.log_no and o.ord >= g.ord
    asof left join launch_times as n on o.run_id = n.run_id and b.ts >= n.attempt_start_ts
    left join raised_again as c on c.source_id = o.source_id and c.line = o.line and c.segment = o.segment
    left join task_lines as k on k.log_no = o.log_no and k.ord = o.ord
    where o.ts is null
),

-- steps whose tasks are told between two dated lines: where the last task of one has ended, the lines of the next one begin
steps_between as (
    select
        o.source_id,
        o.line,
        o.segment,
        o.name,
        count(*) as openings,
        count_if(t.previous_ord < o.ord) as opened,
    from between as o
    inner join staging.task_ends as t
        on t.log_no = o.log_no
        and t.previous_ord > coalesce(o.before_ord, -1)
        and t.ord < coalesce(o.after_ord, 9223372036854775807)
    where t.opens
    group by all
),

undated as (
    select
        o.* exclude (before_ord, before_ts, after_ord, after_ts, follows_end, in_end, fails_next, before_launch, is_raised_again),
        o.after_ts as next_ts,
        case
            when o.after_ts is not null and (o.is_raised_again or o.fails_next) then o.after_ts
            when o.is_trainer or s.openings is null then
                case
                    when o.after_ts is not null and (o.follows_end or (o.in_end and l.launch_no is not null and not o.is_trainer))
                        then o.after_ts
                    else coalesce(o.before_ts, o.after_ts)
                end
            -- of several steps without a time only the first and the last stand beside one
            when s.opened = 0 then o.before_ts
            when s.opened = s.openings then
                coalesce(
                    o.after_ts,
                    case o.before_launch when z.last_launch then o.before_ts when z.last_launch - 1 then z.last_start_ts end
                )
        end as near_ts,
        o.before_ts is not null and (near_ts is not distinct from o.before_ts or o.is_raised_again) as follows_dated,
        near_ts is null and s.openings is not null as lost,
    from between as o
    left join steps_between as s
        on s.source_id = o.source_id and s.line = o.line and s.segment = o.segment and s.name = o.name
    left join leaves as l on l.run_id = o.run_id and l.launch_no = o.before_launch
    left join (
        select run_id, max(launch_no) as last_launch, arg_max(attempt_start_ts, launch_no) as last_start_ts
        from launch_times
        group by run_id
    ) as z on z.run_id = o.run_id
),

near as (
    select *, null::timestamptz as next_ts, ts as near_ts, true as follows_dated, false as lost from own where ts is not null
    union all by name
    from undated
),

-- in a trainer's own file the place decides
in_file as (
    select n.*, a.launch_no
    from near as n
    asof left join staging.attempts as a on n.log_no = a.log_no and n.ord >= a.first_ord
    where n.is_trainer
),

-- the first lines of a file come before its first launch mark: they belong to it
headed as (
    select
        f.* exclude (launch_no),
        coalesce(
            f.launch_no,
            (select min(a.launch_no) from staging.attempts as a where a.log_no = f.log_no)
        ) as launch_no,
    from in_file as f
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
            when b.lost then null
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

select * exclude (is_trainer, lost) from final
