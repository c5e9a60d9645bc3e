-- one row per scheme that others published and class of it: incidents of the period, counted as that scheme would
-- do not add over schemes: each counts the same incidents
-- class: null for incidents that the scheme has no class for
-- events: interruptions in the period, completed and ongoing attempts left out
-- share_of_classed: events of the class / events of all classes of the scheme; null for those without one
with

happened as (
    select
        i.incident_id,
        i.cause,
        -- where a person decided, the line decides no longer
        case when not i.has_verdict and e.by_line then e.signal_id end as signal_id,
        e.run_id,
        e.attempt,
        e.evidence_source_id,
        e.evidence_line,
        i.total_gpu_s,
    from ledger.incidents as i
    inner join ledger.ends as e using (run_id, attempt)
    cross join marts.period as p
    where p.run_id = '(all)'
        and i.kind not in ('completed', 'ongoing')
        and i.at_ts >= p.period_start
        and i.at_ts < p.period_end
),

-- a kernel tells of one fault in several lines within seconds: the second may name the part that the first leaves open
told as (
    select incident_id, signal_id, true as decides
    from happened
    union
    select
        h.incident_id,
        b.signal_id,
        false as decides,
    from happened as h
    inner join ledger.evidence as d
        on d.run_id = h.run_id and d.attempt = h.attempt
            and d.source_id = h.evidence_source_id and d.line = h.evidence_line and d.signal_id = h.signal_id
    inner join ledger.evidence as b
        on b.run_id = d.run_id and b.attempt = d.attempt
            and b.cause = d.cause
            and b.host is not distinct from d.host
            and b.gpu is not distinct from d.gpu
            and b.ts_us between d.ts_us - 2000000 and d.ts_us + 2000000
    where d.told_by_kernel and b.told_by_kernel and b.signal_id <> d.signal_id
),

-- of the rules for a cause the one that names the line, then one that names a line beside it, else the one for all others
classed as (
    select
        s.scheme,
        h.incident_id,
        h.total_gpu_s,
        arg_max(s.class, (s.signals is not null, t.decides, length(s.signals), s.signals)) as class,
    from happened as h
    inner join told as t using (incident_id)
    inner join seeds.schemes as s
        on s.cause = h.cause and (s.signals is null or t.signal_id like replace(s.signals, '_', '\_') escape '\')
    group by s.scheme, h.incident_id, h.total_gpu_s
),

counted as (
    select
        scheme,
        class,
        count(*) as events,
        sum(total_gpu_s) as gpu_s,
    from classed
    group by scheme, class
)

select
    scheme,
    class,
    events,
    gpu_s,
    case
        when class is not null then events / sum(events) filter (where class is not null) over (partition by scheme)
    end as share_of_classed,
from counted
order by scheme, class is null, events desc, class
