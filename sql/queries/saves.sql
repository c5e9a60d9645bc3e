-- What checkpoints cost each run: saves, failed ones, median and longest stall, and the steps between two saves.
with

spaced as (
    select *, step - lag(step) over (partition by run_id, attempt order by step) as distance_steps
    from ledger.saves
)

select
    run_id,
    count(*) as saves,
    count_if(not durable) as never_durable,
    round(median(blocking_s), 2) as median_stall_s,
    round(max(blocking_s), 2) as longest_stall_s,
    round(median(background_s), 2) as median_background_s,
    median(distance_steps) as usual_distance_steps,
from spaced
group by run_id
order by run_id
