-- one row per step span that holds nothing but steps, with its time per step
-- do not sum: step_us is a mean over the steps of the span
with

lengths as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        s.steps,
        s.stride,
        s.end_us - s.start_us as length_us,
        s.start_us,
        s.end_us,
        s.printed_us,
        -- what a line's own resolution and rounding can explain is no gap
        greatest(
            case when s.whole_seconds then 2000000 else 2 end,
            s.printed_us // 100,
            coalesce(l.slip_us, 0)
        ) as tolerance_us,
    from ledger.spans as s
    left join ledger.stamp_slips as l using (run_id, attempt)
    where not s.first_span and not s.is_block and s.end_us is not null
),

-- spans that a stall touches
touched as (
    select distinct s.run_id, s.attempt, s.step_first
    from ledger.known_stalls as k
    inner join lengths as s
        on s.run_id = k.run_id and s.attempt = k.attempt and s.start_us < k.end_us and s.end_us > k.start_us
    union
    select run_id, attempt, span_step
    from ledger.stall_marks
    where span_step is not null
),

clean as (
    select
        l.run_id,
        l.attempt,
        l.step_first,
        -- a gap inside the loop is no step time, where the line prints the step time
        case
            when l.length_us - l.printed_us > l.tolerance_us then l.printed_us
            else l.length_us
        end / l.steps as step_us,
    from lengths as l
    left join touched as t using (run_id, attempt, step_first)
    where t.run_id is null and l.length_us > 0
)

select * from clean
