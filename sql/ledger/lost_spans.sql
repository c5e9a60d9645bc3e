-- one row per step span of which steps are not in the final state, with the end that pays for it
-- do not sum the length of the span: part of it may have survived (kept_end_us says where the loss begins)
-- head_end_us: end of saves and evaluations of the step before, which head_incident_id pays for
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
),

-- a save or an evaluation at the head of a span belongs to the step before, and goes with it
heads as (
    select
        l.run_id,
        l.attempt,
        l.step_first,
        max(s.end_us) as head_end_us,
    from lost as l
    inner join ledger.stalls as s using (run_id, attempt)
    where s.category in ('checkpoint_stall', 'evaluation') and s.after_step < l.step_first
        and s.start_us >= l.kept_end_us and s.end_us <= l.end_us
    group by all
)

select
    l.run_id,
    l.attempt,
    l.step_first,
    l.step_last,
    l.kept_end_us,
    any_value(coalesce(h.head_end_us, l.kept_end_us)) as head_end_us,
    l.end_us,
    coalesce(
        arg_min(o.incident_id, o.attempt) filter (where o.restored_step < l.step_first - 1),
        arg_min(o.incident_id, o.attempt),
        any_value(i.incident_id)
    ) as head_incident_id,
    coalesce(arg_min(o.incident_id, o.attempt), any_value(i.incident_id)) as incident_id,
    l.source_id,
    l.line,
from lost as l
inner join ledger.incident_ids as i on i.run_id = l.run_id and i.attempt = l.attempt
inner join ledger.survival as v on v.run_id = l.run_id and v.attempt = l.attempt
left join heads as h on h.run_id = l.run_id and h.attempt = l.attempt and h.step_first = l.step_first
left join overwriting as o
    on o.run_id = l.run_id and o.attempt > l.attempt and o.training = v.training and o.restored_step < l.step_last
group by all
