-- one row per start that failed like the two before or behind it: three alike in a row are one crash loop
-- count loops by (run_id, loop), not rows
-- loop: first attempt of the loop
-- starts: failed starts of the loop
with

failed as (
    select
        run_id,
        attempt,
        concat(cause, ' ', case when by_line then signal_id end) as likeness,
    from ledger.ends
    where stepless and kind not in ('completed', 'ongoing', 'planned', 'preemption')
),

placed as (
    select
        *,
        attempt - row_number() over (partition by run_id, likeness order by attempt) as island,
    from failed
),

counted as (
    select
        run_id,
        attempt,
        min(attempt) over w as loop,
        count(*) over w as starts,
    from placed
    window w as (partition by run_id, likeness, island)
)

select * from counted
where starts >= 3
