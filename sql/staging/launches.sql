-- one row per launch of trainer processes seen in one log: where it starts in the log, and its time
-- do not count as attempts: several logs may tell of the same attempt (see staging.attempts)
-- begins_with_end: whether the log begins with the end of a launch that it does not tell of, and starts come after it
-- begins_inside: whether the log begins with this launch and no line of a start, so that it may go on from another one
-- is_silent: whether only the programs around its trainer tell of it, so that it is no part of what another log tells
-- beat_us: mean time from one step line to the next in this log, microseconds; null of a single line
with

-- a clock that starts again with each epoch says nothing of the loop
clocks as (
    select
        *,
        case
            when format in (select format from events.formats where elapsed_per_epoch) then null
            else elapsed_s
        end as loop_elapsed_s,
    from staging.step_lines
),

steps as (
    select
        log_no,
        log_line,
        ord,
        source_id,
        line,
        segment,
        step,
        epoch_us(ts) as ts_us,
        loop_elapsed_s as elapsed_s,
        lag(step) over w as previous_step,
        lag(epoch_us(ts)) over w as previous_us,
        lag(loop_elapsed_s) over w as previous_elapsed_s,
    from clocks
    window w as (partition by log_no order by ord, log_line, segment)
),

failures as (
    select
        log_no,
        ord,
        row_number() over (partition by log_no order by ord) as failure,
    from staging.stream
    where kind = 'signal' and run_id is not null
),

-- several hosts draw the same bar: the same step at the same time of the loop's own clock, and nothing went wrong between
clocked as (
    select
        s.log_no,
        s.log_line,
        s.segment,
        s.step,
        s.elapsed_s,
        s.ord,
        coalesce(f.failure, 0) as failure,
    from steps as s
    asof left join failures as f on s.log_no = f.log_no and s.ord >= f.ord
    where s.elapsed_s is not null and s.ts_us is null
),

again as (
    select log_no, log_line, segment
    from clocked
    window w as (partition by log_no, step order by ord, log_line, segment)
    qualify abs(elapsed_s - lag(elapsed_s) over w) <= 1 and failure = lag(failure) over w
),

paced as (
    select log_no, (ts_us - previous_us) / (step - previous_step) as beat_us
    from steps
    where step > previous_step and ts_us > previous_us
),

-- a program may print a dated line and an undated one of each step: its dated ones follow each other
dated as (
    select
        log_no,
        step,
        ts_us,
        lag(step) over w as previous_step,
        lag(ts_us) over w as previous_us,
    from steps
    where ts_us is not null and log_no not in (select log_no from paced)
    window w as (partition by log_no order by ord, log_line, segment)
),

-- how long one step takes in this log, to tell a repeated line from a repeated step
beats as (
    select log_no, median(beat_us) as beat_us
    from (
        from paced
        union all
        select log_no, (ts_us - previous_us) / (step - previous_step) as beat_us
        from dated
        where step > previous_step and ts_us > previous_us
    )
    group by log_no
),

-- the counter goes back: the same step a moment later is only told twice
backs as (
    select
        s.log_no,
        s.log_line,
        s.ord,
        s.source_id,
        s.line,
        s.segment,
        s.ts_us,
        'back' as class,
        null::varchar as name,
        null::varchar as pattern,
        null::integer as rank,
        false as is_init,
        false as is_init_end,
        false as is_loop,
    from steps as s
    left join beats as b using (log_no)
    anti join again as a on a.log_no = s.log_no and a.log_line = s.log_line and a.segment = s.segment
    where case
        -- the loop's own clock goes back even where the counter does not: whole seconds may differ by one
        when s.ts_us is null or s.previous_us is null
            then s.step < s.previous_step or s.elapsed_s < s.previous_elapsed_s - 1
        -- of a log without a pace, half a minute: no program starts again sooner, and clocks of hosts differ
        else s.step <= s.previous_step and s.ts_us - s.previous_us > coalesce(0.5 * b.beat_us, 30000000)
    end
),

-- most logs hold no date of a job script
dated_logs as (
    select distinct t.log_no
    from staging.stream as t
    where t.kind = 'phase' and t.name = 'job' and t.edge <> 'end' and t.run_id is not null
        and t.log_no in (select log_no from staging.sources where is_trainer)
),

-- of what tells of ends and beginnings, the dates that a job script prints before something else is told
moments as (
    select
        t.log_no,
        t.log_line,
        t.ord,
        t.source_id,
        t.line,
        t.segment,
        epoch_us(t.ts) as ts_us,
        t.name,
        t.pattern,
        t.kind = 'phase' and t.name = 'exit' as is_exit,
        t.kind = 'phase' and t.name = 'job' and t.edge <> 'end' as opens_job,
        tells_start(t.kind, t.name) as is_start,
        lead(t.kind = 'phase' and t.name = 'job') over w as next_is_date,
        -- a script that the scheduler ended prints no date any more
        lag(t.kind = 'phase' and t.name = 'exit' and t.detail in ('cancelled', 'time_limit', 'preemption', 'node_failure', 'requeue')) over w
            as follows_job_end,
    from staging.stream as t
    where t.run_id is not null and t.kind in ('phase', 'signal') and t.log_no in (select log_no from dated_logs)
    window w as (partition by t.log_no order by t.ord, t.log_line, t.segment)
),

followed as (
    select
        *,
        lag(is_exit) over w as follows_exit,
        lag(ord) over w as previous_ord,
        last_value(case when is_exit then ts_us end ignore nulls) over (w rows between unbounded preceding and 1 preceding) as exit_us,
    from moments
    where is_exit or is_start or (opens_job and (not next_is_date or follows_job_end))
    window w as (partition by log_no order by ord, log_line, segment)
),

-- a job script that prints the date well after the end of a launch begins another one; in between no step was made
relaunches as (
    select f.* exclude (is_exit, opens_job, is_start, next_is_date, follows_job_end, follows_exit, previous_ord, exit_us)
    from followed as f
    asof left join (select log_no, ord as step_ord from steps) as s on f.log_no = s.log_no and f.ord > s.step_ord
    where f.opens_job and f.follows_exit and f.ts_us - f.exit_us > 30000000 and coalesce(s.step_ord < f.previous_ord, true)
),

-- lines of a start, and lines that come after one
others as (
    select
        t.log_no,
        t.log_line,
        t.ord,
        t.source_id,
        t.line,
        t.segment,
        epoch_us(t.ts) as ts_us,
        case
            when tells_start(t.kind, t.name) then 'start'
            else 'run'
        end as class,
        t.name,
        t.pattern,
        t.rank,
        coalesce(t.kind = 'phase' and t.name = 'init' and t.edge = 'begin', false) as is_init,
        coalesce(t.kind = 'phase' and t.name = 'init' and t.edge = 'end', false) as is_init_end,
        coalesce(t.kind = 'phase' and t.name = 'loop' and t.edge = 'begin', false) as is_loop,
    from staging.stream as t
    where t.run_id is not null
        and (
            (
                t.kind = 'phase'
                and t.name in ('process_start', 'library_setup', 'init', 'model_setup', 'data_setup', 'compile', 'exit', 'loop')
            )
            or (t.kind = 'signal' and t.name in ('elastic_child_failed', 'elastic_childfailed_exc'))
        )
        and t.log_no in (select log_no from staging.sources where is_trainer)
    union all by name
    select *, 'start' as class, null::integer as rank, false as is_init, false as is_init_end, false as is_loop,
    from relaunches
),

marks as (
    from others
    union all by name
    from backs
),

-- the last step line before each mark, to know whether steps came in between
stepped as (
    select
        m.*,
        s.ord as step_ord,
    from marks as m
    asof left join (select log_no, ord from steps) as s on m.log_no = s.log_no and m.ord > s.ord
),

-- records of one moment have one place: the last line of them
step_ends as (
    select s.log_no, s.ord as step_ord, max(s.log_line) as step_line
    from steps as s
    semi join stepped as m on m.log_no = s.log_no and m.step_ord = s.ord
    group by all
),

lagged as (
    select
        *,
        -- a model may be wrapped when the trainer has said that its loop begins: no new start, unless a process comes up
        case
            when name in ('model_setup', 'data_setup', 'compile')
                then lag(case when not is_loop then class end ignore nulls) over w
            else lag(class) over w
        end as previous_class,
        lag(ord) over w as previous_ord,
        lag(log_line) over w as previous_line,
    from stepped
    left join step_ends using (log_no, step_ord)
    window w as (partition by log_no order by ord, log_line, segment)
),

-- a start after anything else, or a counter that goes back without a start since the step before it
bounds as (
    select
        *,
        case
            -- a step may carry the very stamp of the start before it
            when class = 'start' then
                coalesce(previous_class, 'run') <> 'start'
                or step_ord > previous_ord
                or (step_ord = previous_ord and step_line > previous_line)
            when class = 'back' then previous_ord is null or step_ord >= previous_ord
            else false
        end as bound,
    from lagged
),

first_pass as (
    select
        *,
        count_if(bound) over (partition by log_no order by ord, log_line, segment rows unbounded preceding) as block,
    from bounds
),

-- a start that never reached a step: the same process-start line again, well after the first; of a program that prints none
-- the first thing that is seen is its initialisation, or that this is over, how long it took before its time
near as (
    select
        *,
        case
            when name = 'process_start' then true
            when bool_or(name = 'process_start') over (partition by log_no, block) then false
            when is_init then true
            else is_init_end and not bool_or(is_init) over (partition by log_no, block)
        end as is_first,
        coalesce(
            ts_us,
            case when is_init_end and lead(is_init_end) over w then lead(ts_us) over w end
        ) as near_us,
    from first_pass
    window w as (partition by log_no order by ord, log_line, segment)
),

second_pass as (
    select
        *,
        is_first
            and coalesce(near_us - last_value(near_us ignore nulls) over (again rows between unbounded preceding and 1 preceding), 0)
                > 30000000 as again,
    from near
    window again as (partition by log_no, block, name, pattern, rank order by ord, log_line, segment)
),

-- a rank that the launch before it did not have may be the first of the next one to print: nothing was told of any start for half
-- a minute, and within half a minute another rank starts again
opened as (
    select
        *,
        again
        or coalesce(
            is_first
            and near_us - last_value(case when is_first then near_us end ignore nulls) over (
                w rows between unbounded preceding and 1 preceding
            ) > 30000000
            and abs(first_value(case when again then near_us end ignore nulls) over (
                w rows between 1 following and unbounded following
            ) - near_us) <= 30000000,
            false
        ) as opens,
    from second_pass
    window w as (partition by log_no, block order by ord, log_line, segment)
),

-- every rank prints it: those of one moment are one start, be their clocks apart
third_pass as (
    select
        *,
        bound
        or (
            opens
            and coalesce(
                near_us - last_value(case when opens then near_us end ignore nulls) over (
                    partition by log_no, block order by ord, log_line, segment rows between unbounded preceding and 1 preceding
                ) > 30000000,
                true
            )
        ) as starts,
    from opened
),

-- output of programs that nothing else is known of: each job that was ended from outside is a launch
programs as (
    select
        t.log_no,
        t.log_line,
        t.ord,
        t.source_id,
        t.line,
        t.segment,
        epoch_us(t.ts) as ts_us,
        coalesce(t.kind = 'phase' and t.name = 'exit'
            and t.detail in ('cancelled', 'time_limit', 'preemption', 'node_failure', 'requeue'), false) as is_job_end,
        t.kind = 'phase' and t.name = 'job' and t.edge <> 'end' as opens_job,
    from staging.stream as t
    inner join staging.sources as s using (source_id)
    where s.is_trainer and not s.has_trainer_lines and t.run_id is not null
),

program_lines as (
    select
        p.log_no,
        p.source_id,
        p.ord,
        min(p.line) as line,
        bool_or(p.is_job_end) as is_job_end,
        bool_or(p.opens_job) as opens_job,
        max(e.job_id) as job_id,
    from programs as p
    left join events.signals as e on e.source_id = p.source_id and e.line = p.line
    group by all
),

-- a step and its job end in two lines that name the same job
after_job_ends as (
    select log_no, ord, source_id, line
    from program_lines
    qualify lag(is_job_end) over (partition by log_no order by ord)
        and case
            when is_job_end then job_id is distinct from lag(job_id) over (partition by log_no order by ord)
            else opens_job
        end
),

first_lines as (
    select
        log_no,
        min(ord) as ord,
        arg_min(source_id, (ord, log_line)) as source_id,
        arg_min(line, (ord, log_line)) as line,
    from (
        select log_no, log_line, ord, source_id, line from steps where previous_step is null
        union all
        select log_no, log_line, ord, source_id, line from others
        union all
        select log_no, log_line, ord, source_id, line from programs
    )
    group by log_no
),

seen as (
    select log_no, ord, source_id, line from third_pass where starts
    union
    select log_no, ord, source_id, line from after_job_ends
    union
    -- where a start of which the trainer says nothing comes first, nothing else begins before it ends
    select f.log_no, f.ord, f.source_id, f.line
    from first_lines as f
    where not exists (
        select 1 from staging.silent_starts as z
        where z.log_no = f.log_no and f.ord between z.ord and z.last_ord
    )
),

-- steps that follow such a start without a start of their own are not its steps
after_silence as (
    select z.log_no, arg_min(s.ord, (s.ord, s.log_line)) as ord, arg_min(s.source_id, (s.ord, s.log_line)) as source_id,
        arg_min(s.line, (s.ord, s.log_line)) as line
    from staging.silent_starts as z
    inner join steps as s on s.log_no = z.log_no and s.ord > z.last_ord
    group by z.log_no, z.ord, z.last_ord
    having not exists (
        select 1 from seen as o
        where o.log_no = z.log_no and o.ord > z.last_ord and o.ord <= min(s.ord)
    )
),

starts as (
    from seen
    union
    select log_no, ord, source_id, line from staging.silent_starts
    union
    from after_silence
),

launches as (
    select
        log_no,
        row_number() over w as launch,
        ord as first_ord,
        source_id,
        line as first_line,
        lead(ord) over w as next_ord,
        coalesce(next_ord, 9223372036854775807) as end_ord,
    from starts
    window w as (partition by log_no order by ord)
),

step_times as (
    select
        l.log_no,
        l.launch,
        min(s.ts_us) as start_us,
        max(s.ts_us) as end_us,
        count(*) as step_lines,
        (max(s.elapsed_s) filter (where s.ts_us is null and s.elapsed_s < 1e9) * 1000000)::bigint as elapsed_us,
        -- a step that is later and carries an earlier time: the clock was set
        count_if(s.step > s.previous_step and s.ts_us < s.previous_us - 60000000) as backward_stamps,
        arg_min(s.step, s.ord) as first_step,
        arg_max(s.step, s.ord) as last_step,
        -- null of a single line
        (max(s.step) - min(s.step)) / nullif(count(*) - 1, 0) as stride,
        (max(s.ts_us) - min(s.ts_us)) / nullif(count(*) - 1, 0) as beat_us,
    from steps as s
    inner join launches as l on s.log_no = l.log_no and s.ord >= l.first_ord and s.ord < l.end_ord
    group by all
),

other_times as (
    select
        l.log_no,
        l.launch,
        min(o.ts_us) as start_us,
        max(o.ts_us) as end_us,
        bool_or(o.is_start) as has_start,
        -- what the loop's own clock counts from
        coalesce(max(o.ts_us) filter (where o.is_loop), max(o.ts_us) filter (where o.is_start)) as clock_us,
    from (
        select log_no, ord, ts_us, class = 'start' as is_start, is_loop from others
        union all
        select log_no, ord, ts_us, false as is_start, false as is_loop from programs
        union all
        select log_no, ord, epoch_us(start_ts) as ts_us, true as is_start, false as is_loop from staging.silent_starts
        union all
        select log_no, ord, epoch_us(end_ts) as ts_us, true as is_start, false as is_loop from staging.silent_starts
    ) as o
    asof inner join launches as l on o.log_no = l.log_no and o.ord >= l.first_ord
    group by all
)

select
    l.log_no,
    r.run_id,
    l.launch,
    l.first_ord,
    l.source_id,
    l.first_line,
    make_timestamptz(least(s.start_us, o.start_us)) as start_ts,
    make_timestamptz(greatest(s.end_us, o.end_us, o.clock_us + s.elapsed_us)) as end_ts,
    coalesce(s.step_lines, 0) as step_lines,
    coalesce(s.backward_stamps, 0) as backward_stamps,
    -- a log whose first steps nothing started may go on from another one
    l.launch = 1 and s.first_step is not null and not coalesce(o.has_start, false) as begins_inside,
    l.launch = 1 and s.first_step is null and not coalesce(o.has_start, false) and l.next_ord is not null
        and r.has_trainer_lines as begins_with_end,
    z.log_no is not null as is_silent,
    s.first_step,
    s.last_step,
    s.stride,
    s.beat_us,
from launches as l
inner join staging.sources as r using (source_id)
left join step_times as s on s.log_no = l.log_no and s.launch = l.launch
left join other_times as o on o.log_no = l.log_no and o.launch = l.launch
left join (select distinct log_no, ord from staging.silent_starts) as z on z.log_no = l.log_no and z.ord = l.first_ord
