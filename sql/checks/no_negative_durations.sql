-- one row per thing that ends before it begins, or costs less than nothing
-- law: no interval is empty, and nothing ends before it begins
with

spans as (
    select run_id, 'an interval' as thing, start_ts, end_ts, end_ts <= start_ts or gpus <= 0 as broken
    from ledger.intervals
    union all
    select run_id, 'a claim' as thing, start_ts, end_ts, end_ts <= start_ts as broken
    from ledger.claims
    union all
    select run_id, 'a save' as thing, begin_ts as start_ts, blocked_ts as end_ts, blocked_ts < begin_ts as broken
    from ledger.saves
    union all
    select run_id, 'a restore' as thing, start_ts, end_ts, end_ts < start_ts as broken
    from ledger.restores
    union all
    select run_id, 'an attempt' as thing, start_ts, released_ts as end_ts, released_ts < start_ts as broken
    from ledger.attempts
    union all
    select run_id, 'the life of a run' as thing, life_start_ts as start_ts, life_end_ts as end_ts, life_end_ts <= life_start_ts as broken
    from ledger.runs
)

select
    run_id,
    thing || ' ends before it begins' as what,
    concat(start_ts, ' … ', end_ts) as example,
from spans
where broken
