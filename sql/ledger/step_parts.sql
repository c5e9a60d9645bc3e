-- one row per run, attempt, step range and source of evidence: what one step of the range was spent on
-- do not sum over sources: each tells of the whole step; parts that are told add up to step_s with other_s
-- evidence: timers, wall_clock (of one device), spans (of the host), profile (of devices) or comms (communication alone)
-- last_step: last step of the range
-- steady: whether the range holds nothing but steps, and no first one of an attempt
-- step_s: time of one step; in seconds
-- compute_s: computing; in seconds; null where the source cannot tell it
-- exposed_comm_s: communication under which nothing is computed; in seconds; null where the source cannot tell it
-- data_wait_s: wait for data; in seconds; null where the source cannot tell it
-- bubble_s: stages of a pipeline that have nothing to do; in seconds; null where the source cannot tell it
-- memory_copy_s: copies under which nothing else runs; in seconds; null where the source cannot tell it
-- other_s: what remains of the step; in seconds
-- comm_busy_s: communication, hidden or not; in seconds; null where the source cannot tell it
-- comm_min_s: communication of the rank with the least; in seconds; null where one rank tells
-- comm_max_s: communication of the rank with the most; in seconds; null where one rank tells
-- compute_min_s: computing of the rank with the least; in seconds; null where one rank tells
-- compute_max_s: computing of the rank with the most; in seconds; null where one rank tells
with

traced as (
    select
        p.*,
        (
            select max(g.attempt) from ledger.progress as g
            where g.run_id = p.run_id and g.first_step <= coalesce(p.first_step, g.first_step) and g.last_step >= coalesce(p.first_step, g.last_step)
        ) as attempt,
    from ledger.profile_parts as p
),

operations as (
    select
        s.run_id,
        s.log_no,
        line_order(s.lines_before + e.line, e.segment) as ord,
        e.source_id,
        e.line,
        e.mean_s,
        t.part = 'pipeline' as between_two,
    from events.timers as e
    inner join staging.sources as s using (source_id)
    inner join seeds.timers as t on t.component = e.component and t.evidence = 'comms'
    where e.step is null and s.run_id is not null
),

-- operations of a step are printed before the line of the step
operation_steps as (
    select o.*, l.step, coalesce(l.steps, 1) as steps
    from operations as o
    asof inner join (
        select log_no, ord, step, steps
        from staging.step_lines
        where log_no in (select log_no from operations) and step is not null
    ) as l on o.log_no = l.log_no and o.ord <= l.ord
),

counted as (
    select
        run_id,
        step,
        any_value(steps) as steps,
        coalesce(sum(mean_s) filter (where not between_two), 0) as comm_s,
        sum(mean_s) filter (where between_two) as between_s,
        min((source_id, line)) as first_line,
    from operation_steps
    group by run_id, step
),

measured as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        s.step_last,
        s.steps,
        not s.first_span and not s.holds_stall as steady,
        s.net_us / 1e6 / s.steps as step_s,
        c.comm_s / s.steps as comm_busy_s,
        c.between_s / s.steps as bubble_s,
        c.first_line,
    from counted as c
    inner join ledger.steps as s on s.run_id = c.run_id and s.step_last = c.step
),

-- a summary holds what its operations told one by one, where they did
timed as (
    select * exclude (first_line), first_line[1] as source_id, first_line[2] as line
    from measured
    union all by name
    select run_id, attempt, step_first, step_last, steps, steady, step_s, comm_busy_s, bubble_s, source_id, line
    from ledger.comm_spans
    where run_id not in (select run_id from measured)
)

select
    t.run_id,
    t.attempt,
    t.evidence,
    t.step_first as first_step,
    t.step_first + t.steps - 1 as last_step,
    t.steps,
    t.steady,
    t.step_s,
    t.compute_s,
    t.exposed_comm_s,
    t.data_wait_s,
    t.bubble_s,
    t.memory_copy_s,
    t.other_s,
    null::double as comm_busy_s,
    t.comm_min_s,
    t.comm_max_s,
    t.compute_min_s,
    t.compute_max_s,
    t.source_id,
    t.line,
from ledger.timer_parts as t
union all by name
select
    run_id,
    attempt,
    'profile' as evidence,
    first_step,
    last_step,
    steps,
    true as steady,
    step_s,
    compute_s,
    exposed_comm_s,
    null::double as data_wait_s,
    bubble_s,
    memory_copy_s,
    other_s,
    comm_busy_s,
    comm_min_s,
    comm_max_s,
    compute_min_s,
    compute_max_s,
    source_id,
    line,
from traced
union all by name
select
    run_id,
    attempt,
    'comms' as evidence,
    step_first as first_step,
    step_last as last_step,
    steps,
    steady,
    step_s,
    -- whoever sends to a stage or receives from it waits for it
    least(bubble_s, step_s) as bubble_s,
    step_s - coalesce(least(bubble_s, step_s), 0) as other_s,
    least(comm_busy_s, step_s - coalesce(least(bubble_s, step_s), 0)) as comm_busy_s,
    source_id,
    line,
from timed
