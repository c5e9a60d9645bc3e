-- one row per productive interval that no step span of its attempt covers
-- law: no productive time without a step
with

-- the steps of most attempts follow each other without a hole
solid as (
    select
        run_id,
        attempt,
        min(start_ts) as start_ts,
        max(end_ts) as end_ts,
        epoch_us(max(end_ts)) - epoch_us(min(start_ts)) = sum(epoch_us(end_ts) - epoch_us(start_ts)) as is_solid,
    from ledger.steps
    group by all
),

-- spans that touch are one stretch
ordered as (
    select
        run_id,
        attempt,
        start_ts,
        end_ts,
        max(end_ts) over (
            partition by run_id, attempt order by start_ts, end_ts rows between unbounded preceding and 1 preceding
        ) as earlier_end_ts,
    from ledger.steps
    inner join (select run_id, attempt from solid where not is_solid) as h using (run_id, attempt)
),

islanded as (
    select
        *,
        count_if(earlier_end_ts is null or start_ts > earlier_end_ts) over (
            partition by run_id, attempt order by start_ts, end_ts rows unbounded preceding
        ) as island,
    from ordered
),

stretches as (
    select run_id, attempt, min(start_ts) as start_ts, max(end_ts) as end_ts
    from islanded
    group by run_id, attempt, island
    union all
    select run_id, attempt, start_ts, end_ts from solid where is_solid
),

productive as (
    select run_id, attempt, start_ts, end_ts
    from ledger.intervals
    where category = 'productive' and part = 'active'
)

select
    p.run_id,
    'productive without a step' as what,
    concat('attempt ', p.attempt, ': ', p.start_ts, ' … ', p.end_ts) as example,
from productive as p
asof left join stretches as s
    on s.run_id = p.run_id and s.attempt = p.attempt and p.start_ts >= s.start_ts
where s.run_id is null or p.end_ts > s.end_ts
