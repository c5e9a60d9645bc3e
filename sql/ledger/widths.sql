-- one row per stretch of a holding in which its width did not change: what was held, and what of it was trained on
-- do not add gpus over holdings of one run that overlap beyond its nominal accelerators
-- stretch: number of the stretch in its holding, from 1
-- held_gpus: accelerators that the scheduler gave
-- active_gpus: never more than the nominal accelerators; less than is held where the launcher left a host out
-- incident_id: the last end before the stretch in its holding, null for its first stretch
with

-- what no scheduler tells is held until its last process was gone
held as (
    select
        h.run_id,
        h.holding,
        h.start_us,
        greatest(h.end_us, max(coalesce(e.release_us, h.end_us)) filter (where not h.from_accounting)) as end_us,
    from ledger.holdings as h
    left join ledger.timeline as t using (run_id, holding)
    left join ledger.ends as e using (run_id, attempt)
    group by h.run_id, h.holding, h.start_us, h.end_us
),

moments as (
    select run_id, holding, start_us as at_us, gpus as held_gpus, null::bigint as world_gpus
    from ledger.grants
    union all
    -- a launcher that starts again inside an allocation may leave a host out
    select
        z.run_id,
        z.holding,
        greatest(t.start_us, h.start_us) as at_us,
        null::bigint as held_gpus,
        z.world_gpus,
    from ledger.sizes as z
    inner join ledger.timeline as t using (run_id, attempt)
    inner join held as h on h.run_id = z.run_id and h.holding = z.holding
    where z.world_gpus is not null and t.start_us < h.end_us
),

merged as (
    select run_id, holding, at_us, max(held_gpus) as held_gpus, max(world_gpus) as world_gpus
    from moments
    group by all
),

carried as (
    select
        m.run_id,
        m.holding,
        m.at_us,
        last_value(m.held_gpus ignore nulls) over w as held_gpus,
        first_value(m.held_gpus ignore nulls) over w as first_held_gpus,
        last_value(m.world_gpus ignore nulls) over w as world_gpus,
        max(m.world_gpus) over (partition by m.run_id order by m.at_us) as widest_gpus,
    from merged as m
    window w as (partition by m.run_id, m.holding order by m.at_us rows unbounded preceding)
),

sized as (
    select
        c.run_id,
        c.holding,
        c.at_us,
        c.held_gpus,
        -- a program that never used all that is held is no narrower for it
        greatest(
            least(
                c.held_gpus,
                l.gpus,
                least(c.first_held_gpus, l.gpus) - coalesce(least(c.first_held_gpus, c.widest_gpus) - c.world_gpus, 0)
            ),
            0
        ) as active_gpus,
    from carried as c
    inner join ledger.lives as l using (run_id)
),

changed as (
    select
        *,
        coalesce(held_gpus < lag(held_gpus) over w, false) as taken,
    from sized
    window w as (partition by run_id, holding order by at_us)
    qualify lag(at_us) over w is null
        or held_gpus is distinct from lag(held_gpus) over w
        or active_gpus is distinct from lag(active_gpus) over w
)

select
    c.run_id,
    c.holding,
    row_number() over w as stretch,
    c.at_us as start_us,
    coalesce(lead(c.at_us) over w, h.end_us) as end_us,
    c.held_gpus,
    c.active_gpus,
    (
        select arg_max(i.incident_id, i.attempt)
        from ledger.timeline as t
        inner join ledger.incident_ids as i using (run_id, attempt)
        where t.run_id = c.run_id and t.holding = c.holding
            -- a start of which only the end is told was there before the scheduler took a host, but left none out itself
            and (t.start_us < c.at_us or (t.start_untold and c.taken and t.start_us = c.at_us))
    ) as incident_id,
from changed as c
inner join held as h using (run_id, holding)
window w as (partition by c.run_id, c.holding order by c.at_us)
