-- one row per incident and point of its time line: when it was, and what was paid from there to the next point that is known
-- do not sum seconds over incidents: the phases of incidents that follow each other overlap
-- point_no: order of the points; the costs of an incident before its first point stand at point 0
-- point: what happened then; `before` is the time before the first known point, which holds the steps that were lost
-- ts: when it was; null where it is not known
-- known: why there is a time or none: known, unknown, kept (the allocation was not given back), none_follows (no later attempt), not_made (the next attempt made no step, or none came so far again), not_applicable
-- estimated: whether ts is a bound of a moment that no line tells: a start, a step without a clock, a detection, or the first or last line where no scheduler tells of an allocation
-- until_ts: the next point that is known; null after the last one, and where this one is not known
-- seconds: from this point to until_ts; a point that a log dates before the one above it has no length
-- gpu_s: what the incident cost from this point to the next known one, lost work and missing capacity included; in GPU-seconds
-- categories: what gpu_s was spent on, the largest first; null where nothing was paid
with

-- whether the first and the last step of an attempt bear a time
clocks as (
    select
        run_id,
        attempt,
        arg_min(stamped, (end_us, step_first)) as first_stamped,
        arg_max(stamped, (end_us, step_last)) as last_stamped,
    from ledger.closed_spans
    group by all
),

-- whether it is known that no later attempt was back at the last step: each of them was seen, and so was that step
laters as (
    select
        i.run_id,
        i.attempt,
        coalesce(bool_and(not i.unseen) over (w rows between 1 following and unbounded following), false)
            and max(a.last_step) over (w rows unbounded preceding) is not null
            and not i.unseen as none_seen,
    from ledger.incidents as i
    inner join ledger.attempts as a using (run_id, attempt)
    window w as (partition by i.run_id order by i.attempt)
),

attempts as (
    select
        i.*,
        t.next_start_us is not null as followed,
        t.next_start_us is not null and t.next_holding is not distinct from t.holding as kept,
        i.kind in ('completed', 'ongoing') as well,
        not coalesce(h.from_accounting, false) as freed_unseen,
        not coalesce(n.from_accounting, false) as given_unseen,
        -- a start that made no step is dated by its own lines
        case when i.stepless then coalesce(t.start_estimated, false) else not coalesce(c.last_stamped, true) end as last_estimated,
        coalesce(x.start_estimated, false) as up_estimated,
        not coalesce(f.first_stamped, true) as first_estimated,
        coalesce(y.stepless, false) as step_missing,
        coalesce(z.none_seen, false) as none_caught_up,
    from ledger.incidents as i
    inner join ledger.timeline as t on t.run_id = i.run_id and t.attempt = i.attempt
    left join ledger.holdings as h on h.run_id = t.run_id and h.holding = t.holding
    left join ledger.holdings as n on n.run_id = t.run_id and n.holding = t.next_holding
    left join clocks as c on c.run_id = i.run_id and c.attempt = i.attempt
    left join clocks as f on f.run_id = i.run_id and f.attempt = i.attempt + 1
    left join ledger.timeline as x on x.run_id = i.run_id and x.attempt = i.attempt + 1
    left join ledger.incidents as y on y.run_id = i.run_id and y.attempt = i.attempt + 1
    left join laters as z on z.run_id = i.run_id and z.attempt = i.attempt
),

points as (
    select incident_id, 1 as point_no, 'last_progress' as point, last_progress_ts as ts, 'unknown' as missing, last_estimated as estimated from attempts
    union all
    select incident_id, 2, 'fault', fault_ts, if(well, 'not_applicable', 'unknown'), fault_estimated from attempts
    union all
    select incident_id, 3, 'detected', detected_ts, if(well, 'not_applicable', 'unknown'), detected_estimated from attempts
    union all
    -- a restart inside an allocation releases nothing
    select incident_id, 4, 'released', if(kept, null, released_ts), if(kept, 'kept', if(kind = 'ongoing', 'not_applicable', 'unknown')), freed_unseen from attempts
    union all
    select incident_id, 5, 'allocated', if(kept, null, allocated_ts), if(kept, 'kept', if(followed, 'unknown', 'none_follows')), given_unseen from attempts
    union all
    select incident_id, 6, 'processes_up', processes_up_ts, if(followed, 'unknown', 'none_follows'), up_estimated from attempts
    union all
    select incident_id, 7, 'restored', restored_ts, if(followed, 'unknown', 'none_follows'), false from attempts
    union all
    select incident_id, 8, 'first_step', first_step_ts, if(followed, if(step_missing, 'not_made', 'unknown'), 'none_follows'), first_estimated from attempts
    union all
    select incident_id, 9, 'caught_up', caught_up_ts, if(followed, if(none_caught_up, 'not_made', 'unknown'), 'none_follows'), first_estimated from attempts
),

-- clocks differ: no point lies before the one above it
ordered as (
    select
        *,
        epoch_us(max(ts) over (partition by incident_id order by point_no rows unbounded preceding)) as start_us,
    from points
    where ts is not null
),

spans as (
    select
        incident_id,
        point_no,
        start_us,
        lead(start_us) over (partition by incident_id order by point_no) as end_us,
    from ordered
    union all
    select incident_id, 0, null, min(start_us)
    from ordered
    group by incident_id
),

parts as (
    select
        s.incident_id,
        s.point_no,
        c.category,
        -- accelerators times the microseconds that lie in the span: whole numbers, so that phases add up to the incident
        sum(
            c.gpus * greatest(
                0,
                least(epoch_us(c.end_ts), coalesce(s.end_us, epoch_us(c.end_ts)))
                - greatest(epoch_us(c.start_ts), coalesce(s.start_us, epoch_us(c.start_ts)))
            )
        ) as gpu_us,
    from spans as s
    inner join ledger.intervals as c using (incident_id)
    where c.part <> 'spare' and c.layer <> 'productive'
    group by all
),

paid as (
    select
        incident_id,
        point_no,
        sum(gpu_us) as gpu_us,
        list(category order by gpu_us desc, category) filter (where gpu_us > 0) as categories,
    from parts
    group by all
),

listed as (
    select incident_id, point_no, point, ts, if(ts is null, missing, 'known') as known, coalesce(ts is not null and estimated, false) as estimated
    from points
    union all
    select incident_id, 0, 'before', null, 'known', false
    from attempts
),

final as (
    select
        l.incident_id,
        l.point_no,
        l.point,
        l.ts,
        l.known,
        l.estimated,
        case when l.point_no > 0 then make_timestamptz(s.end_us) end as until_ts,
        (s.end_us - s.start_us) / 1e6 as seconds,
        coalesce(p.gpu_us, 0) / 1e6 as gpu_s,
        p.categories,
    from listed as l
    left join spans as s on s.incident_id = l.incident_id and s.point_no = l.point_no
    left join paid as p on p.incident_id = l.incident_id and p.point_no = l.point_no
)

select * from final
order by incident_id, point_no
