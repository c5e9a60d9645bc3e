-- one row per stretch of a holding and end inside it that took accelerators away, which had not come back
-- do not add gpus over stretches: multiply by their length first
-- held: whether the scheduler still gave them to the run
with

drops as (
    select
        run_id,
        holding,
        stretch,
        incident_id,
        lag(active_gpus) over w as from_gpus,
        active_gpus as to_gpus,
    from ledger.widths
    window w as (partition by run_id, holding order by stretch)
),

-- accelerators are a pile: what comes back is what went last
spans as (
    select
        w.run_id,
        w.holding,
        w.start_us,
        w.end_us,
        w.held_gpus,
        d.incident_id,
        d.from_gpus,
        max(b.active_gpus) as floor_gpus,
    from drops as d
    inner join ledger.widths as w on w.run_id = d.run_id and w.holding = d.holding and w.stretch >= d.stretch
    inner join ledger.widths as b
        on b.run_id = d.run_id and b.holding = d.holding and b.stretch between d.stretch and w.stretch
    where d.to_gpus < d.from_gpus and d.incident_id is not null
    group by all
),

parts as (
    select
        *,
        true as held,
        least(from_gpus, held_gpus) - floor_gpus as gpus,
    from spans
    union all
    select
        *,
        false as held,
        from_gpus - greatest(floor_gpus, held_gpus) as gpus,
    from spans
)

select
    run_id,
    holding,
    start_us,
    end_us,
    incident_id,
    held,
    gpus,
from parts
where gpus > 0
