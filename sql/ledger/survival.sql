-- one row per attempt with steps: up to which of its steps the work is in the final state
-- do not sum survives_to: it is a step number
with recursive

restored as (
    select
        e.run_id,
        e.attempt,
        e.first_step,
        e.last_step,
        e.kind,
        e.kind = 'completed' and coalesce(e.at_target, false) as finished,
        c.restart,
        -- where a later attempt started anew without a load line, its first step tells
        case
            when c.restart = 'continue' then e.first_step - 1
            when c.restart = 'from_scratch' and r.step is null and e.first_step <= 1 then 0
            when s.edge = 'begin' then e.first_step - 1
            when r.cold then 0
            else coalesce(r.step, e.first_step - 1)
        end as restored_step,
        case
            when c.restart = 'continue' then 'configuration'
            when s.edge = 'begin' and r.step is not null then 'load line'
            when s.edge = 'begin' then 'first step'
            when r.cold then 'cold start'
            when r.step is not null then 'load line'
            else 'first step'
        end as restored_source,
    from ledger.ends as e
    left join ledger.restores as r using (run_id, attempt)
    left join (select run_id, attempt, any_value(edge) as edge from ledger.closed_spans group by all) as s using (run_id, attempt)
    left join config.runs as c using (run_id)
    where e.has_steps
),

-- several trainings under one name, where the configuration says so: none of them overwrites another. Where it says
-- nothing, what begins with the first step behind a training that had reached its last one is another training
begun as (
    select
        *,
        restored_step < 1
        and (
            coalesce(restart = 'new_run', false)
            or (restart is null and coalesce(lag(finished) over (partition by run_id order by attempt), false))
        ) as begins_training,
    from restored
),

trainings as (
    select
        *,
        count_if(begins_training) over (partition by run_id order by attempt rows unbounded preceding) as training,
    from begun
),

durable as (
    select
        run_id,
        max(step) filter (where durable) as any_durable_step,
        count(*) as saves,
    from ledger.saves
    group by run_id
),

last_durable as (
    select run_id, attempt, max(step) as step
    from ledger.saves
    where durable
    group by all
),

-- a save tells of its step where no step line does
attempts as (
    select
        t.*,
        greatest(t.last_step, coalesce(l.step, t.last_step)) as reached_step,
        row_number() over (partition by t.run_id, t.training order by t.attempt desc) as from_the_end,
    from trainings as t
    left join last_durable as l using (run_id, attempt)
),

-- an end without successor: what is not durably saved is gone
last_ones as (
    select
        a.run_id,
        a.attempt,
        case
            when a.kind in ('completed', 'ongoing') then a.last_step
            when coalesce(d.saves, 0) = 0 then a.last_step
            else least(a.last_step, greatest(coalesce(l.step, a.restored_step), a.restored_step))
        end as survives_to,
        coalesce(d.saves, 0) = 0 and a.kind not in ('completed', 'ongoing') as unproven,
    from attempts as a
    left join durable as d using (run_id)
    left join last_durable as l using (run_id, attempt)
    where a.from_the_end = 1
),

-- walk back: the restored step comes from the latest earlier attempt that reached it
chain as (
    select
        o.run_id,
        o.attempt,
        o.survives_to,
        a.restored_step as needs_step,
        o.unproven,
        a.training,
    from last_ones as o
    inner join attempts as a using (run_id, attempt)
    union all
    select
        c.run_id,
        p.attempt,
        least(c.needs_step, p.last_step) as survives_to,
        least(p.restored_step, c.needs_step) as needs_step,
        false as unproven,
        c.training,
    from chain as c
    cross join lateral (
        select b.attempt, b.last_step, b.reached_step, b.restored_step
        from attempts as b
        where b.run_id = c.run_id and b.training = c.training and b.attempt < c.attempt
            and b.restored_step < c.needs_step
        order by (b.reached_step >= c.needs_step) desc, b.attempt desc
        limit 1
    ) as p
)

select
    a.run_id,
    a.attempt,
    a.first_step,
    a.last_step,
    a.restored_step,
    a.restored_source,
    a.training,
    c.survives_to,
    coalesce(c.unproven, false) as unproven,
from attempts as a
left join chain as c using (run_id, attempt)
