-- one row per attempt: how many accelerators its processes used
-- do not add gpus over attempts: one allocation may hold several attempts
-- world_gpus: what its own lines say; null where they do not
with

told as (
    select
        a.run_id,
        a.launch_no,
        max(s.gpus) as world_gpus,
    from staging.attempts as a
    inner join staging.launch_sizes as s using (log_no, launch)
    group by all
),

held as (
    select
        t.run_id,
        t.attempt,
        g.gpus,
    from ledger.timeline as t
    -- clocks of a trainer may be behind those of the scheduler
    asof inner join ledger.grants as g
        on t.run_id = g.run_id and t.holding = g.holding and t.start_us + 60000000 >= g.start_us
)

select
    t.run_id,
    t.attempt,
    t.holding,
    w.world_gpus,
    coalesce(w.world_gpus, h.gpus) as gpus,
from ledger.timeline as t
left join told as w using (run_id, launch_no)
left join held as h using (run_id, attempt)
