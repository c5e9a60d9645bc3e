-- one row per step span of an attempt: the steps that one step line stands for, and when
-- do not sum lengths as productive time: stalls, warm-up and lost work lie inside
with

lines as (
    select
        p.run_id,
        t.attempt,
        p.edge,
        p.step,
        p.steps,
        p.duration_s,
        p.ts,
        p.ts_quality,
        p.source_id,
        p.line,
        p.segment,
        p.ord,
        p.format,
        t.loop_start_us,
        greatest(t.setup_end_us, t.init_end_us, t.process_us) as ready_us,
        t.start_us as attempt_us,
        t.holding,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    where p.kind = 'step'
),

-- one line per step: hosts and ranks print the same step
distinct_lines as (
    select *
    from lines
    qualify row_number() over (
        partition by run_id, attempt, step order by ts is null, ts, source_id, line, segment
    ) = 1
),

-- where some lines carry a time, the others only fill the count of steps
kept as (
    select
        *,
        count(ts) over (partition by run_id, attempt) > 0 as stamped,
    from distinct_lines
    qualify ts is not null or count(ts) over (partition by run_id, attempt) = 0
),

-- the usual distance between lines of the run
strides as (
    select run_id, mode(gap) as stride
    from (
        select
            run_id,
            step - lag(step) over (partition by run_id, attempt order by step) as gap,
        from kept
    )
    where gap > 0
    group by run_id
),

counted as (
    select
        k.*,
        s.stride,
        r.step as restored,
        lag(k.step) over w as previous_step,
        lead(k.step) over w as next_step,
        row_number() over w as place,
    from kept as k
    left join strides as s using (run_id)
    left join ledger.restores as r using (run_id, attempt)
    window w as (partition by k.run_id, k.attempt order by k.step)
),

-- which steps a line stands for
stepped as (
    select
        *,
        case
            when edge = 'begin' then step
            when previous_step is not null then previous_step + 1
            when steps is not null then step - steps + 1
            when restored is not null and restored < step and step - restored <= 10 * coalesce(stride, step - restored)
                then restored + 1
            when step <= coalesce(stride, step) then 1
            else step - coalesce(stride, 1) + 1
        end as step_first,
        case
            when edge = 'begin' then coalesce(next_step - 1, step + coalesce(stride, 1) - 1)
            else step
        end as step_last,
    from counted
),

-- times: from stamps, or laid end to end where there are none
laid as (
    select
        *,
        epoch_us(ts) as stamp_us,
        (duration_s * 1000000 * (step_last - step_first + 1))::bigint as printed_us,
        (sum((duration_s * 1000000 * (step_last - step_first + 1))::bigint) over (
            partition by run_id, attempt order by step rows unbounded preceding
        ))::bigint as laid_us,
        lag(epoch_us(ts)) over w as previous_us,
        lead(epoch_us(ts)) over w as next_us,
    from stepped
    window w as (partition by run_id, attempt order by step)
),

timed as (
    select
        *,
        case
            when edge = 'begin' then stamp_us
            when stamped and previous_us is not null then previous_us
            when stamped then least(
                coalesce(
                    loop_start_us,
                    greatest(ready_us, stamp_us - printed_us),
                    ready_us,
                    stamp_us - printed_us,
                    attempt_us
                ),
                stamp_us
            )
            else coalesce(loop_start_us, ready_us, attempt_us) + laid_us - printed_us
        end as start_us,
        case
            when edge = 'begin' then next_us
            when stamped then stamp_us
            else coalesce(loop_start_us, ready_us, attempt_us) + laid_us
        end as end_us,
    from laid
)

select
    run_id,
    attempt,
    place = 1 as first_span,
    edge,
    stamped,
    step_first,
    step_last,
    step_last - step_first + 1 as steps,
    start_us,
    -- the last span of steps that are logged at their begin is still open
    case when end_us is not null then greatest(end_us, start_us) end as end_us,
    printed_us,
    coalesce(stride, 1) as stride,
    bool_and(coalesce(stamp_us % 1000000 = 0, false)) over (partition by run_id, attempt) as whole_seconds,
    ts_quality,
    format,
    ord,
    source_id,
    line,
    segment,
from timed
