-- one row per place where surviving steps do not follow each other
-- law: surviving executions cover each step from the first to the last surviving one exactly once
-- several trainings under one name, where the configuration says so, are counted one by one
-- a hole is no contradiction where a flag of the run says that step lines are missing
with

survivors as (
    select
        run_id,
        attempt,
        coalesce(v.training, 0) as training,
        step_first,
        -- of a span that is half overwritten the first steps survive
        step_first + surviving_steps - 1 as step_last,
    from ledger.steps
    left join ledger.survival as v using (run_id, attempt)
    where surviving_steps > 0
),

ordered as (
    select
        *,
        lag(step_last) over (partition by run_id, training order by step_first, step_last) as previous_last,
    from survivors
),

flagged as (
    select run_id, list_bool_or(list_transform(flags, lambda f: contains(f, 'missing'))) as lines_missing
    from ledger.runs
),

ends as (
    select r.run_id, r.last_surviving_step, max(s.step_last) as step_last
    from ledger.runs as r
    inner join survivors as s using (run_id)
    group by r.run_id, r.last_surviving_step
)

select
    o.run_id,
    case when o.step_first <= o.previous_last then 'a step survives twice' else 'a step is missing' end as what,
    concat('attempt ', o.attempt, ': step ', o.step_first, ' after ', o.previous_last) as example,
from ordered as o
inner join flagged as f using (run_id)
where o.step_first <= o.previous_last
    or (o.step_first > o.previous_last + 1 and not coalesce(f.lines_missing, false))
union all
select
    run_id,
    'the last surviving step is not the one that the run names' as what,
    concat(step_last, ' and ', last_surviving_step) as example,
from ends
inner join flagged using (run_id)
where step_last is distinct from last_surviving_step
    and not (step_last < last_surviving_step and coalesce(lines_missing, false))
