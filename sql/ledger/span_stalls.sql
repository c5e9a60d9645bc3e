-- one row per step span and stall inside it, with the free time of the span before the stall
-- do not sum stall_us over spans of different attempts as one cost: see ledger.intervals
with

numbered as (
    select
        attempt_key,
        step_first,
        start_us,
        end_us,
        row_number() over (partition by attempt_key order by start_us, step_first) as place,
    from ledger.closed_spans
    where end_us > start_us
),

-- overlapping stalls of an attempt count once
ordered as (
    select
        run_id,
        attempt,
        start_us,
        end_us,
        max(end_us) over (
            partition by run_id, attempt order by start_us, end_us rows between unbounded preceding and 1 preceding
        ) as earlier_end_us,
    from ledger.stalls
),

merged as (
    select
        t.run_id,
        t.attempt,
        t.attempt_key,
        greatest(o.start_us, coalesce(o.earlier_end_us, o.start_us)) as start_us,
        o.end_us,
    from ordered as o
    inner join ledger.timeline as t using (run_id, attempt)
    where o.earlier_end_us is null or o.end_us > o.earlier_end_us
),

moments as (
    select attempt_key, start_us, start_us as moment_us, true as is_start from merged
    union all
    select attempt_key, start_us, end_us - 1 as moment_us, false as is_start from merged
),

-- the spans that a stall touches are neighbours
places as (
    select
        m.attempt_key,
        m.start_us,
        coalesce(max(n.place) filter (where m.is_start), 1) as from_place,
        max(n.place) filter (where not m.is_start) as to_place,
    from moments as m
    asof left join (select attempt_key, start_us, place from numbered) as n
        on m.attempt_key = n.attempt_key and m.moment_us >= n.start_us
    group by all
),

touched as (
    select
        m.*,
        unnest(range(p.from_place, p.to_place + 1)) as place,
    from merged as m
    inner join places as p using (attempt_key, start_us)
    where p.to_place is not null
),

clipped as (
    select
        t.run_id,
        t.attempt,
        n.step_first,
        n.start_us as span_start_us,
        greatest(t.start_us, n.start_us) as start_us,
        least(t.end_us, n.end_us) as end_us,
    from touched as t
    inner join numbered as n using (attempt_key, place)
    where least(t.end_us, n.end_us) > greatest(t.start_us, n.start_us)
),

freed as (
    select
        *,
        end_us - start_us as stall_us,
        start_us - span_start_us - coalesce(
            sum(end_us - start_us) over (
                partition by run_id, attempt, step_first order by start_us
                rows between unbounded preceding and 1 preceding
            ),
            0
        ) as free_before_us,
    from clipped
)

select
    run_id,
    attempt,
    step_first,
    start_us,
    end_us,
    stall_us,
    free_before_us::bigint as free_before_us,
from freed
