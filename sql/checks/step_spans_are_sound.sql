-- one row per step span that contradicts itself or its neighbour
-- law: a span stands for steps first to last, lies before the next span of its attempt, and no more survive than it has
with

ordered as (
    select
        *,
        lag(end_ts) over (partition by attempt_key order by start_ts, end_ts) as previous_end_ts,
    from ledger.steps
)

select
    run_id,
    case
        when steps <> step_last - step_first + 1 then 'the number of steps is not last − first + 1'
        when surviving_steps not between 0 and steps then 'more steps survive than there are'
        when start_ts < previous_end_ts then 'spans of one attempt overlap'
        else 'a span takes less time than nothing'
    end as what,
    concat('attempt ', attempt, ', steps ', step_first, ' to ', step_last, ', ', start_ts, ' … ', end_ts) as example,
from ordered
where steps <> step_last - step_first + 1
    or surviving_steps not between 0 and steps
    or start_ts < previous_end_ts
    or end_ts < start_ts
    or net_us < 0
