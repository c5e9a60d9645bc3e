-- one row per step span of which steps are not in the final state, with the end that pays for it
-- do not sum the length of the span: part of it may have survived (kept_end_us says where the loss begins)
with

-- the end before the restore that overwrote a step pays for it; a start that failed in between overwrote nothing
overwriting as (
    select
        v.run_id,
        v.attempt,
        v.restored_step,
        v.training,
        lag(i.incident_id) over (partition by v.run_id order by v.attempt) as incident_id,
    from ledger.survival as v
    inner join ledger.incident_ids as i using (run_id, attempt)
),

lost as (
    select
        e.run_id,
        e.attempt,
        e.step_first,
        s.step_last,
        e.kept_end_us,
        e.end_us,
        s.source_id,
        s.line,
    from ledger.step_edges as e
    inner join ledger.step_times as s using (run_id, attempt, step_first)
    where s.surviving_steps < s.steps
)

select
    l.run_id,
    l.attempt,
    l.step_first,
    l.step_last,
    l.kept_end_us,
    l.end_us,
    coalesce(arg_min(o.incident_id, o.attempt), any_value(i.incident_id)) as incident_id,
    l.source_id,
    l.line,
from lost as l
inner join ledger.incident_ids as i on i.run_id = l.run_id and i.attempt = l.attempt
inner join ledger.survival as v on v.run_id = l.run_id and v.attempt = l.attempt
left join overwriting as o
    on o.run_id = l.run_id and o.attempt > l.attempt and o.training = v.training and o.restored_step < l.step_last
group by all
