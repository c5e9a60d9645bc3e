-- Stretches of steps that took at least a tenth longer than a clean step of attempts of that size, and what that cost.
with

paces as (
    select
        a.run_id,
        a.attempt,
        coalesce(a.gpus, r.gpus) as gpus,
        coalesce(p.clean_us / 1e6, r.clean_step_s) as clean_step_s,
    from ledger.attempts as a
    inner join ledger.runs as r using (run_id)
    left join ledger.attempt_pace as p using (run_id, attempt)
),

spans as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        s.step_last,
        s.start_ts,
        s.end_ts,
        s.net_us / 1e6 / s.steps as step_s,
        r.clean_step_s,
        (s.net_us / 1e6 - s.steps * r.clean_step_s) * r.gpus / 3600 as extra_gpu_hours,
    from ledger.steps as s
    inner join paces as r using (run_id, attempt)
    where not s.first_span and s.net_us / 1e6 > 1.1 * s.steps * r.clean_step_s
)

select
    run_id,
    attempt,
    step_first,
    step_last,
    start_ts,
    end_ts,
    round(step_s, 3) as step_s,
    round(clean_step_s, 3) as clean_step_s,
    round(extra_gpu_hours, 2) as extra_gpu_hours,
from spans
order by extra_gpu_hours desc, run_id, start_ts
limit 20
