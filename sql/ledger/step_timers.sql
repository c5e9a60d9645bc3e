-- one row per step span, source of evidence and component that a timer tells of: its time within one step
-- do not sum: a timer may lie inside another one (see seeds.timers and ledger.timer_parts)
-- evidence: timers, wall_clock or spans
-- component: name of the timer, blanks as dashes
-- part: what it counts for
-- seconds: time within one step; of several ranks that of the slowest one: the most of computing, copying and waiting for data, the least of communication, and the middle of all else; in seconds
-- min_s: shortest of a rank; null where one rank alone tells; in seconds
-- max_s: longest of a rank; null where one rank alone tells; in seconds
-- parents: timers that hold it, the nearest first
-- loose_parents: timers that hold it in some versions
-- source_id: file of the first line that tells it
-- line: that line
with

-- from its first line to the next launch of its log a launch is told
launches as (
    select
        a.log_no,
        a.first_ord,
        t.run_id,
        t.attempt,
    from staging.attempts as a
    inner join ledger.timeline as t on t.run_id = a.run_id and t.launch_no = a.launch_no
),

single_attempts as (
    select run_id, any_value(attempt) as attempt
    from ledger.timeline
    group by run_id
    having count(*) = 1
),

told as (
    select
        s.run_id,
        s.log_no,
        case
            when e.format in (select format from events.formats where ordered_by_time) then epoch_us(e.ts)
            else line_order(s.lines_before + e.line, e.segment)
        end as ord,
        e.source_id,
        e.line,
        e.rank,
        e.host,
        e.step,
        t.component,
        t.evidence,
        t.part,
        t.parents,
        t.loose_parents,
        case
            when e.mean_s is not null then e.mean_s
            -- who computes longest waits least: what others wait for it is no time of the network
            when t.part in ('compute', 'update', 'copy', 'data_wait') then e.max_s
            when t.part in ('comm', 'pipeline_end') then coalesce(e.min_s, e.max_s)
            else coalesce((e.min_s + e.max_s) / 2, e.max_s)
        end as seconds,
        e.min_s,
        e.max_s,
    from events.timers as e
    inner join staging.sources as s using (source_id)
    inner join seeds.timers as t
        on t.component = replace(e.component, ' ', '-')
        and coalesce((t.numbered = 'true') = (e.step is not null), true)
    where s.run_id is not null and t.evidence <> 'comms'
),

placed as (
    select
        t.*,
        coalesce(l.attempt, o.attempt) as attempt,
    from told as t
    asof left join launches as l on t.log_no = l.log_no and t.ord >= l.first_ord
    left join single_attempts as o on o.run_id = t.run_id
),

-- lines of steps in logs that tell timers
step_lines as (
    select log_no, ord, step
    from staging.step_lines
    where log_no in (select log_no from told where step is null) and step is not null
),

-- a block without a number follows the line of its step
numbered as (
    select
        p.* exclude (step, log_no, ord),
        coalesce(p.step, l.step) as step,
        p.step is not null as has_step,
    from placed as p
    asof left join step_lines as l on p.log_no = l.log_no and p.ord >= l.ord
),

spans as (
    select run_id, attempt, step_first, step_last
    from ledger.steps
    where run_id in (select run_id from told)
),

in_spans as (
    select n.*, s.step_first
    from numbered as n
    asof inner join spans as s on n.run_id = s.run_id and n.attempt = s.attempt and n.step <= s.step_last
    where n.step >= s.step_first
),

-- what a rank tells of one step may come in pieces where the step is named; blocks are whole
by_rank as (
    select
        run_id,
        attempt,
        step_first,
        evidence,
        component,
        part,
        parents,
        loose_parents,
        rank,
        host,
        sum(seconds) / case when any_value(has_step) then count(distinct step) else count(*) end as seconds,
        avg(min_s) as min_s,
        avg(max_s) as max_s,
        min((source_id, line)) as first_line,
    from in_spans
    group by all
)

select
    run_id,
    attempt,
    step_first,
    evidence,
    component,
    part,
    -- whole nanoseconds, so that the order of sums does not show
    round(
        case
            when part in ('compute', 'update', 'copy', 'data_wait') then max(seconds)
            when part in ('comm', 'pipeline_end') then min(seconds)
            else avg(seconds)
        end,
        9
    ) as seconds,
    round(case when count(*) > 1 then min(coalesce(min_s, seconds)) else min(min_s) end, 9) as min_s,
    round(case when count(*) > 1 then max(coalesce(max_s, seconds)) else max(max_s) end, 9) as max_s,
    parents,
    loose_parents,
    min(first_line)[1] as source_id,
    min(first_line)[2] as line,
from by_rank
group by run_id, attempt, step_first, evidence, component, part, parents, loose_parents
