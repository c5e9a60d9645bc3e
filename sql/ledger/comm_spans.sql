-- one row per summary of communication of a training that tells of further steps: what rank 0 communicated in one of them
-- do not sum step_s or comm_busy_s: they are of one step; ranges of an attempt do not overlap
-- step_last: last step whose line stands above the summary
-- steady: whether the range holds nothing but steps, and not the first of its attempt
-- step_s: time of one step; in seconds
-- comm_busy_s: collectives of one step, hidden or not, waiting for other ranks included; in seconds
-- bubble_s: operations between two ranks, with which the stages of a pipeline wait for each other; in seconds; null without any
-- source_id: file of the summary
-- line: line of its head
with

between_two as (
    select component
    from seeds.timers
    where evidence = 'comms' and part = 'pipeline'
),

summaries as (
    select
        run_id,
        log_no,
        source_id,
        table_line as line,
        min(ord) as ord,
        sum(calls) as calls,
        sum((total_s * 1e9)::hugeint) as total_ns,
        sum((total_s * 1e9)::hugeint) filter (where operation is null or operation in (from between_two)) as between_ns,
    from ledger.collectives
    where origin = 'summary' and run_id is not null
    group by all
),

launches as (
    select
        a.log_no,
        a.first_ord,
        t.run_id,
        t.attempt,
    from staging.attempts as a
    inner join ledger.timeline as t on t.run_id = a.run_id and t.launch_no = a.launch_no
),

-- of a run with one attempt no line is asked
single_attempts as (
    select run_id, any_value(attempt) as attempt
    from ledger.timeline
    group by run_id
    having count(*) = 1
),

step_lines as (
    select log_no, ord, step
    from staging.step_lines
    where log_no in (select log_no from summaries) and step is not null
),

starts as (
    select run_id, attempt, min(step_first) as step_first
    from ledger.steps
    group by run_id, attempt
),

-- several files may hold the same print; before the first line of a step none is over
placed as (
    select
        s.*,
        t.attempt,
        greatest(coalesce(l.step, t.step_first - 1), t.step_first - 1) as step,
    from (
        select s.*, coalesce(l.attempt, o.attempt) as attempt
        from summaries as s
        asof left join launches as l on s.log_no = l.log_no and s.ord >= l.first_ord
        left join single_attempts as o on o.run_id = s.run_id
    ) as s
    inner join starts as t on t.run_id = s.run_id and t.attempt = s.attempt
    asof left join step_lines as l on l.log_no = s.log_no and s.ord >= l.ord
    qualify row_number() over (partition by s.run_id, t.attempt, step order by s.ord, s.source_id) = 1
),

compared as (
    select
        *,
        lag(step) over before as previous_step,
        lag(calls) over before as previous_calls,
        lag(total_ns) over before as previous_ns,
        lag(between_ns) over before as previous_between_ns,
    from placed
    window before as (partition by run_id, attempt order by step)
),

-- a table that grows no more with its steps was cleared in between, and then all of the attempt are taken so
ranges as (
    select
        *,
        coalesce(bool_or(calls <= previous_calls) over (partition by run_id, attempt), false) as cleared,
        case when cleared then 0 else coalesce(previous_ns, 0) end as before_ns,
        total_ns - before_ns as step_ns,
        between_ns - case when cleared then 0 else coalesce(previous_between_ns, 0) end as step_between_ns,
    from compared
)

select
    r.run_id,
    r.attempt,
    min(s.step_first) as step_first,
    r.step as step_last,
    sum(s.steps)::bigint as steps,
    bool_and(not s.first_span and not s.holds_stall) as steady,
    sum(s.net_us) / 1e6 / sum(s.steps) as step_s,
    round((r.step_ns - coalesce(r.step_between_ns, 0)) / 1e9 / sum(s.steps), 9) as comm_busy_s,
    round(r.step_between_ns / 1e9 / sum(s.steps), 9) as bubble_s,
    r.source_id,
    r.line,
from ranges as r
inner join ledger.steps as s
    on s.run_id = r.run_id
    and s.attempt = r.attempt
    and s.step_first > coalesce(r.previous_step, s.step_first - 1)
    and s.step_last <= r.step
where r.step_ns >= 0
group by r.run_id, r.attempt, r.step, r.step_ns, r.step_between_ns, r.source_id, r.line
having sum(s.net_us) > 0
