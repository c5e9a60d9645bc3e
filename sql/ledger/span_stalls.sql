-- one row per step span and stall inside it, with the free time of the span before the stall
-- do not sum stall_us over spans of different attempts as one cost: see ledger.intervals
with

numbered as (
    select
        run_id,
        attempt,
        step_first,
        start_us,
        end_us,
        row_number() over (partition by run_id, attempt order by start_us, step_first) as place,
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
        run_id,
        attempt,
        greatest(start_us, coalesce(earlier_end_us, start_us)) as start_us,
        end_us,
    from ordered
    where earlier_end_us is null or end_us > earlier_end_us
),

-- the spans that a stall touches are neighbours
first_place as (
    select m.*, n.place as from_place
    from merged as m
    asof left join numbered as n on m.run_id = n.run_id and m.attempt = n.attempt and m.start_us >= n.start_us
),

both_places as (
    select f.*, n.place as to_place
    from first_place as f
    asof left join numbered as n on f.run_id = n.run_id and f.attempt = n.attempt and f.end_us > n.start_us
),

touched as (
    select
        b.run_id,
        b.attempt,
        b.start_us,
        b.end_us,
        unnest(range(coalesce(b.from_place, 1), b.to_place + 1)) as place,
    from both_places as b
    where b.to_place is not null
),

clipped as (
    select
        n.run_id,
        n.attempt,
        n.step_first,
        n.start_us as span_start_us,
        greatest(t.start_us, n.start_us) as start_us,
        least(t.end_us, n.end_us) as end_us,
    from touched as t
    inner join numbered as n using (run_id, attempt, place)
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
