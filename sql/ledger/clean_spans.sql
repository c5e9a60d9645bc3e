-- one row per step span that holds nothing but steps, with its time per step
-- do not sum: step_us is a mean over the steps of the span
with

lengths as (
    select
        s.run_id,
        s.attempt,
        s.attempt_key,
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

numbered as (
    select
        attempt_key,
        step_first,
        start_us,
        end_us,
        row_number() over (partition by attempt_key order by start_us, step_first) as place,
    from lengths
    where end_us > start_us
),

moments as (
    select t.attempt_key, k.start_us, k.end_us, unnest([k.start_us, k.end_us]) as moment_us
    from ledger.known_stalls as k
    inner join ledger.timeline as t using (run_id, attempt)
),

-- spans that a stall touches are neighbours
places as (
    select
        m.attempt_key,
        m.start_us,
        m.end_us,
        coalesce(min(n.place), 1) as from_place,
        max(n.place) as to_place,
    from moments as m
    asof left join (select attempt_key, start_us, place from numbered) as n
        on m.attempt_key = n.attempt_key and m.moment_us >= n.start_us
    group by all
),

reached as (
    select attempt_key, start_us, end_us, unnest(range(from_place, to_place + 1)) as place
    from places
    where to_place is not null
),

touched as (
    select n.attempt_key, n.step_first
    from reached as r
    inner join numbered as n using (attempt_key, place)
    where n.start_us < r.end_us and n.end_us > r.start_us
    union
    select t.attempt_key, m.span_step
    from ledger.stall_marks as m
    inner join ledger.timeline as t using (run_id, attempt)
    where m.span_step is not null
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
    anti join touched as t using (attempt_key, step_first)
    where l.length_us > 0
)

select * from clean
