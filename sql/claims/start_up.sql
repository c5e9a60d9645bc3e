-- one row per phase of an attempt before its loop: provisioning, initialisation, set-up, restore
-- do not sum: a restore lies inside set-up; see ledger.intervals
with

marks as (
    select
        t.run_id,
        t.attempt,
        p.allocated_us,
        coalesce(e.up_us, p.process_us) as process_us,
        -- before the first time that is told nobody saw what it was spent on, where no line of a trainer tells it
        not coalesce(t.start_untold, false) as knows_start,
        -- where no line ends initialisation, it lasts until the load
        least(greatest(coalesce(t.init_end_us, r.start_us), coalesce(e.up_us, p.process_us)), coalesce(p.loop_us, e.stop_us)) as init_end_us,
        coalesce(t.init_end_us, r.start_us) is not null as knows_init,
        -- output that shows neither a start nor a step of a trainer does not tell what the time was spent on
        (t.process_us is not null or p.loop_us is not null or coalesce(o.role = 'trainer', false))
            and not (coalesce(e.unseen, false) and coalesce(t.init_end_us, r.start_us) is null) as knows_trainer,
        coalesce(p.loop_us, e.stop_us) as loop_us,
        coalesce(e.unseen, false) as unseen,
        t.place_in_holding,
        e.stop_us,
        i.previous_incident_id as incident_id,
        t.source_id,
        t.line,
        h.source_id as held_source_id,
        h.line as held_line,
    from ledger.timeline as t
    inner join ledger.progress as p using (run_id, attempt)
    inner join ledger.ends as e using (run_id, attempt)
    inner join ledger.incident_ids as i using (run_id, attempt)
    left join ledger.holdings as h on h.run_id = t.run_id and h.holding = t.holding
    left join ledger.restores as r on r.run_id = t.run_id and r.attempt = t.attempt
    left join staging.sources as o on o.source_id = t.source_id
    where t.observed
),

phases as (
    select
        run_id,
        attempt,
        allocated_us as start_us,
        process_us as end_us,
        'provisioning' as category,
        incident_id,
        '' as mark,
        held_source_id as source_id,
        held_line as line,
    from marks
    where place_in_holding = 1 and knows_start
    union all
    select
        run_id,
        attempt,
        process_us as start_us,
        case when knows_init then init_end_us else loop_us end as end_us,
        'init' as category,
        incident_id,
        '' as mark,
        source_id,
        line,
    from marks
    where knows_trainer
    union all
    select
        run_id,
        attempt,
        init_end_us as start_us,
        loop_us as end_us,
        'setup' as category,
        incident_id,
        '' as mark,
        source_id,
        line,
    from marks
    where knows_init and not unseen
    union all
    select
        r.run_id,
        r.attempt,
        r.start_us,
        r.end_us,
        'restore' as category,
        m.incident_id,
        '' as mark,
        r.source_id,
        r.line,
    from ledger.restores as r
    inner join marks as m using (run_id, attempt)
    where r.start_us is not null
)

select
    p.run_id,
    p.attempt,
    p.start_us,
    p.end_us,
    p.category,
    p.incident_id,
    p.mark,
    p.source_id,
    p.line,
from phases as p
where p.end_us > p.start_us
