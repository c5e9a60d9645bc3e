-- one row per start, in a log of several jobs or launches, of which its trainer says no word: where its lines begin and end in the log
-- do not count as attempts: staging.launches holds them beside those that a trainer tells of
-- last_ord: place in the log of the last line that is known to be its own
-- start_ts, end_ts: first and last time that its lines carry
with

-- what a trainer left, and what the programs around it did: standard error may go to a file of its own
logs as (
    select log_no, bool_or(has_trainer_lines) as has_trainer_lines
    from staging.sources
    where run_id is not null and coalesce(role, '') not in ('scheduler', 'node')
    group by log_no
),

-- what was held when: of allocations of one run that overlap nobody can tell which one printed a line
held as (
    select
        run_id,
        job_id,
        job_id || '/' || restart as held_key,
        min(start_ts) as start_ts,
        coalesce(max(end_ts), 'infinity'::timestamptz) as end_ts,
    from staging.allocations
    where start_ts is not null and gpus is distinct from 0
    group by run_id, job_id, restart
),

alone as (
    select
        *,
        coalesce(
            start_ts >= max(end_ts) over (w rows between unbounded preceding and 1 preceding), true
        ) and coalesce(end_ts <= lead(start_ts) over w, true) as is_alone,
        count(*) over (partition by run_id, job_id) as restarts,
    from held
    window w as (partition by run_id order by start_ts, held_key)
),

accounted as (
    select distinct run_id from alone
),

-- a job that stays where it is starts its processes in steps, which are numbered
names as (
    select
        source_id,
        line,
        max(job_id) as job_id,
        max(nullif(regexp_extract(text, '(?:STEP |StepId=)\d+\.(\d+)', 1), '')) as step,
    from events.signals
    where job_id is not null
    group by all
),

-- of the many lines of steps the first and the last of each minute tell when a trainer spoke
minutes as (
    select
        run_id,
        log_no,
        any_value(source_id) as source_id,
        any_value(line) as line,
        any_value(log_line) as log_line,
        min(ord) as first_ord,
        max(ord) as last_ord,
        min(ts) as first_ts,
        max(ts) as last_ts,
    from staging.step_lines
    where run_id is not null and ts is not null
    group by run_id, log_no, epoch_us(ts) // 60000000
),

trained as (
    select run_id, log_no, first_ord as ord, log_line, source_id, line, first_ts as ts
    from minutes
    union
    select run_id, log_no, last_ord as ord, log_line, source_id, line, last_ts as ts
    from minutes
),

told as (
    select
        run_id, log_no, ord, log_line, source_id, line, ts, true as by_trainer, false as is_start,
        null::varchar as job_id, null::varchar as step,
    from trained
    union all
    -- the programs around a trainer tell of ends, and catch what any of them prints last
    select
        t.run_id,
        t.log_no,
        t.ord,
        t.log_line,
        t.source_id,
        t.line,
        -- of what is read twice in a line one reading may have its time
        coalesce(t.ts, max(t.ts) over (partition by t.log_no, t.ord)) as ts,
        s.has_trainer_lines and t.kind <> 'signal' and (t.name not in ('exit', 'job') or t.kind <> 'phase' or t.format = s.format) as by_trainer,
        by_trainer and tells_start(t.kind, t.name) as is_start,
        e.job_id,
        e.step,
    from staging.stream as t
    inner join staging.sources as s using (source_id)
    left join names as e on e.source_id = t.source_id and e.line = t.line and t.kind in ('signal', 'phase')
    where t.run_id is not null
),

-- a line belongs to the job that it names, else to what was held at its time
timed as (
    select
        t.*,
        c.run_id is not null as is_accounted,
        case when a.is_alone and t.ts <= a.end_ts + interval 60 second then a.held_key end as at_key,
        case when a.is_alone and t.ts <= a.end_ts + interval 60 second then a.job_id end as at_job,
    from told as t
    left join accounted as c using (run_id)
    asof left join alone as a on t.run_id = a.run_id and t.ts >= a.start_ts
),

placed as (
    select
        t.* exclude (step),
        case
            when t.job_id is null or t.job_id = t.at_job then t.at_key
            when not t.is_accounted then t.job_id
            else o.held_key
        end as job_key,
        -- a step that its job did not hold at that time is told by a clock of another zone
        case
            when o.held_key is null or t.ts is null or t.ts between o.start_ts and o.end_ts + interval 60 second then t.step
        end as step,
    from timed as t
    left join alone as o on o.run_id = t.run_id and o.job_id = t.job_id and o.restarts = 1
),

named_steps as (
    select run_id, job_key, ts, min(step) as step
    from placed
    where step is not null and job_key is not null and ts is not null
    group by all
),

-- when its trainer spoke in a job
heard as (
    select distinct run_id, job_key, ts
    from placed
    where by_trainer and job_key is not null and ts is not null
),

begun as (
    select log_no, ord, max(ts) as ts
    from placed
    where is_start and ts is not null
    group by all
),

-- and to the step of it that is named next; what programs print after the last one is of that one, unless a trainer has
-- spoken since: that began what they tell of
named as (
    select
        p.* exclude (job_key, step),
        p.job_key || coalesce(
            '.' || coalesce(p.step, n.step, case when not p.by_trainer and coalesce(h.ts <= b.ts + interval 60 second, true) then b.step end),
            ''
        ) as key,
        case when p.ts <= b.ts + interval 60 second and coalesce(s.ts <= b.ts, true) then p.job_key || '.' || b.step end as ended_key,
    from placed as p
    asof left join named_steps as n on p.run_id = n.run_id and p.job_key = n.job_key and p.ts <= n.ts
    asof left join named_steps as b on p.run_id = b.run_id and p.job_key = b.job_key and p.ts >= b.ts
    asof left join heard as h on p.run_id = h.run_id and p.job_key = h.job_key and p.ts >= h.ts
    asof left join begun as s on p.log_no = s.log_no and p.ord >= s.ord
),

-- the tasks of a step end one by one, the last of them when it was named already: all are of the step of the first
task_keys as (
    select e.log_no, e.ord, min(n.key) as key
    from (select log_no, ord, min(ord) over (partition by log_no, step) as first_ord from staging.task_ends) as e
    inner join named as n on n.log_no = e.log_no and n.ord = e.first_ord
    where e.ord > e.first_ord
    group by all
),

keyed as (
    select n.* replace (coalesce(t.key, n.key) as key)
    from named as n
    left join task_keys as t using (log_no, ord)
),

spoken as (
    select distinct run_id, key from keyed where by_trainer and key is not null
    union
    -- a trainer may go on for a moment after its step was told to end
    select distinct run_id, ended_key as key from keyed where by_trainer and ended_key is not null
    union
    -- a log that is named after its job tells of it
    select run_id, job_id as key from staging.sources where has_trainer_lines and job_id is not null
),

groups as (
    select
        k.run_id,
        k.log_no,
        k.key,
        min(k.ord) as ord,
        max(k.ord) as last_ord,
    from keyed as k
    inner join logs as l using (log_no)
    anti join spoken as s on s.run_id = k.run_id and s.key = k.key
    where k.key is not null
        -- without a word of any trainer in the log only times tell whose it is
        and (l.has_trainer_lines or (k.is_accounted and k.run_id in (select run_id from spoken)))
    group by all
),

-- the last line before it that is known to be of another job
behind as (
    select
        g.*,
        max(k.ord) as before_ord,
        max(k.ts) as before_ts,
    from groups as g
    left join keyed as k on k.log_no = g.log_no and k.ord < g.ord and k.key is not null and k.key <> g.key
    group by all
),

spoken_lines as (
    select log_no, ord from keyed where by_trainer
    union all
    select log_no, ord from staging.step_lines where log_no in (select log_no from behind)
),

silent as (
    select b.*
    from behind as b
    asof left join spoken_lines as t on b.log_no = t.log_no and b.last_ord >= t.ord
    where t.ord is null or t.ord <= b.before_ord
),

-- what tells of the tasks of the job before it is not yet its own, nor what that job printed late
last_words as (
    select s.log_no, s.ord, max(k.ord) as words_ord
    from silent as s
    inner join keyed as k on k.log_no = s.log_no and k.ord > s.before_ord and k.ord < s.ord
    left join staging.task_ends as e on e.log_no = k.log_no and e.ord = k.ord
    left join (
        select s.log_no, s.ord, min(o.ord) as opening_ord
        from silent as s
        inner join staging.task_ends as o on o.log_no = s.log_no and o.ord > s.before_ord and o.ord < s.ord
        where o.opens
        group by all
    ) as o on o.log_no = s.log_no and o.ord = s.ord
    where (e.ord is not null and k.ord < coalesce(o.opening_ord, s.ord))
        or k.ts <= s.before_ts + interval 60 second
    group by all
),

-- an agent tells once which ranks failed, and above each where and when
ranks as (
    select e.source_id, e.line, min(e.fault_rank) as fault_rank, min(h.node) as node
    from events.signals as e
    left join events.signals as h on h.source_id = e.source_id and h.line = e.line - 1 and h.signal_id = 'elastic_rc_host'
    where e.signal_id = 'elastic_rc_rank' and e.fault_rank is not null
    group by e.source_id, e.line
),

failed as (
    select
        t.log_no,
        t.ord,
        e.fault_rank as rank,
        e.node,
        t.name = 'elastic_rc_rank' as is_rank,
        last_value(case when t.kind = 'phase' then t.ts end ignore nulls) over w as failed_ts,
        count_if(t.name = 'elastic_childfailed_exc') over w as report,
    from staging.stream as t
    left join ranks as e on e.source_id = t.source_id and e.line = t.line
    where t.run_id is not null
        and ((t.kind = 'signal' and t.name in ('elastic_rc_rank', 'elastic_childfailed_exc')) or (t.kind = 'phase' and t.name = 'exit'))
        and t.log_no in (select s.log_no from ranks inner join staging.sources as s using (source_id))
    window w as (partition by t.log_no order by t.ord, t.log_line, t.segment)
),

-- where a rank fails again on its host, or well after that on another one, so did another launch
failed_again as (
    select
        *,
        lag(report) over w as previous_report,
        lag(failed_ts) over w as previous_ts,
    from failed
    where is_rank
    window w as (partition by log_no, rank order by ord)
    qualify failed_ts - lag(failed_ts) over w > interval 30 second or (failed_ts > lag(failed_ts) over w and node = lag(node) over w)
),

-- agents of other hosts tell of the launch before it as well
reports as (
    select log_no, last_ord, min(ord) as ord, min(failed_ts) as failed_ts, min(previous_ts) as previous_ts
    from (
        select a.log_no, a.ord, a.failed_ts, a.previous_ts, max(f.ord) as last_ord
        from failed_again as a
        inner join failed as f
            on f.log_no = a.log_no and f.is_rank and f.report >= a.previous_report and f.report < a.report
            and f.failed_ts - a.previous_ts <= interval 30 second
        left join (select distinct log_no, report from failed_again) as o on o.log_no = f.log_no and o.report = f.report
        where f.report = a.previous_report or o.report is null
        group by all
    )
    group by log_no, last_ord
),

-- behind that, and behind what is told of its tasks, lie the lines of the one that failed again; it began when that was over
launched_again as (
    select
        any_value(t.run_id) as run_id,
        r.log_no,
        min(t.ord) filter (where t.ord > r.last_ord and not starts_with(t.name, 'elastic_rc_') and e.ord is null) as ord,
        r.last_ord as after_ord,
        r.ord as end_ord,
        max(t.ts) filter (where t.ord <= r.last_ord and t.ts < r.failed_ts) + interval 1 microsecond as start_ts,
        r.failed_ts as end_ts,
        count_if(
            t.ord > r.last_ord
            and (
                tells_start(t.kind, t.name)
                or (t.kind = 'phase' and t.name = 'job' and t.ts > r.previous_ts + interval 30 second)
                or (t.kind = 'phase' and t.name = 'exit' and t.detail in ('cancelled', 'time_limit', 'preemption', 'node_failure', 'requeue'))
            )
        ) as other_starts,
    from reports as r
    inner join staging.stream as t on t.log_no = r.log_no and t.ord <= r.ord and t.run_id is not null
    left join staging.task_ends as e on e.log_no = t.log_no and e.ord = t.ord
    group by r.log_no, r.last_ord, r.ord, r.failed_ts
),

-- a task that ends again after it had ended was started again: behind its first end lie the lines of the launch that ended it
-- again, if the job says another word, and nobody else does
restarts as (
    select s.log_no, s.ord as of_ord, e.previous_ord as after_ord, e.ord as end_ord
    from silent as s
    inner join staging.task_ends as e
        on e.log_no = s.log_no and e.opens and e.previous_ord >= s.ord and e.previous_ord < s.last_ord
    where not exists (select 1 from silent as o where o.log_no = s.log_no and o.ord > s.ord and o.ord < e.ord)
        and not exists (select 1 from spoken_lines as t where t.log_no = s.log_no and t.ord > s.ord and t.ord < e.ord)
),

-- what a trainer said with a time, and when it last began until then
words as (
    select run_id, ts, max(case when is_start then ts end) over (partition by run_id order by ts) as start_ts
    from placed
    where by_trainer and ts is not null
),

-- a log that ends with a start without a time may tell of any launch
untimed as (
    select run_id, max(ts) as ts
    from placed
    where by_trainer
    group by run_id, log_no
    having max(ord) filter (where is_start and ts is null) > coalesce(max(ord) filter (where ts is not null), -1)
),

dated as (
    select log_no, ord, any_value(run_id) as run_id, any_value(key) as key, max(ts) as ts
    from keyed
    where key is not null and ts is not null
    group by log_no, ord
),

-- so was one whose trainer spoke before its first end, if none has since; no program starts again within half a minute
spoken_restarts as (
    select
        b.run_id,
        e.log_no,
        e.previous_ord as after_ord,
        e.ord as end_ord,
        b.ts + interval 1 microsecond as start_ts,
        a.ts as end_ts,
    from staging.task_ends as e
    asof inner join dated as b on e.log_no = b.log_no and e.previous_ord >= b.ord
    asof inner join dated as a on e.log_no = a.log_no and e.ord >= a.ord
    asof inner join words as w on w.run_id = a.run_id and a.ts >= w.ts
    where e.opens and a.ord > e.previous_ord and a.key = b.key and a.ts > b.ts + interval 30 second
        and w.ts <= b.ts + interval 60 second
        and coalesce(w.start_ts <= b.ts, true)
        and not exists (select 1 from untimed as u where u.run_id = b.run_id and coalesce(u.ts <= a.ts, true))
        and not exists (select 1 from silent as s where s.log_no = e.log_no and e.ord >= s.ord and e.previous_ord <= s.last_ord)
        and not exists (select 1 from keyed as t where t.by_trainer and t.log_no = e.log_no and t.ord > e.previous_ord and t.ord < e.ord)
),

by_jobs as (
    select
        s.run_id,
        s.log_no,
        s.ord as of_ord,
        min(k.ord) as ord,
        greatest(any_value(s.last_ord), max(r.end_ord)) as last_ord,
        arg_min(k.source_id, (k.ord, k.log_line)) as source_id,
        arg_min(k.line, (k.ord, k.log_line)) as line,
        min(k.ts) as start_ts,
        max(k.ts) as end_ts,
    from silent as s
    left join last_words as w on w.log_no = s.log_no and w.ord = s.ord
    inner join keyed as k
        on k.log_no = s.log_no and k.ord > coalesce(w.words_ord, s.before_ord, -1) and k.ord <= s.last_ord
    asof left join restarts as r on r.log_no = k.log_no and r.of_ord = s.ord and k.ord > r.after_ord
    group by s.run_id, s.log_no, s.key, s.ord, r.after_ord
),

-- a launch that is told of by its end alone began when the one before it was over
in_turn as (
    select
        run_id,
        log_no,
        ord,
        least(last_ord, coalesce(lead(ord) over w - 1, last_ord)) as last_ord,
        source_id,
        line,
        coalesce(lag(end_ts) over w + interval 1 microsecond, start_ts) as start_ts,
        end_ts,
    from by_jobs
    window w as (partition by log_no, of_ord order by ord)
),

final as (
    from in_turn
    union all
    select
        any_value(r.run_id) as run_id,
        r.log_no,
        min(k.ord) as ord,
        r.end_ord as last_ord,
        arg_min(k.source_id, (k.ord, k.log_line)) as source_id,
        arg_min(k.line, (k.ord, k.log_line)) as line,
        any_value(r.start_ts) as start_ts,
        any_value(r.end_ts) as end_ts,
    from spoken_restarts as r
    inner join keyed as k on k.log_no = r.log_no and k.ord > r.after_ord and k.ord <= r.end_ord
    group by r.log_no, r.end_ord
    union all
    -- nothing but the agent tells of it
    select a.run_id, a.log_no, a.ord, a.end_ord as last_ord, t.source_id, t.line, a.start_ts, a.end_ts
    from launched_again as a
    inner join staging.stream as t on t.log_no = a.log_no and t.ord = a.ord
    where a.other_starts = 0
        and not exists (select 1 from staging.step_lines as s where s.log_no = a.log_no and s.ord between a.after_ord and a.end_ord)
        and a.log_no not in (select log_no from by_jobs)
        -- what only holds the errors of a program is beside a log that tells when it began
        and not exists (select 1 from staging.step_lines as s where s.run_id = a.run_id and s.log_no <> a.log_no)
        and not exists (
            select 1 from staging.stream as o where o.run_id = a.run_id and o.log_no <> a.log_no and tells_start(o.kind, o.name)
        )
    qualify row_number() over (partition by a.log_no, a.ord order by t.log_line, t.segment) = 1
)

select * from final
