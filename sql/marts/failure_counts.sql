-- one row per span of time and group: what ended attempts in it, and how long attempts were exposed to failure
-- groups overlap (all, each size, run and domain), and so do spans: never sum over either
-- a domain has the exposure of all, and a domain of a size that of the size
-- span: window, period, 1_week, 4_weeks, 12_weeks (each up to the end of the period, where the records reach so far), records (all of them)
-- grouped_by: all, gpus, domain, gpus_domain (a domain among attempts of one size) or run
-- attempts: attempts that lived in the span and count in time to failure
-- failures: ends by failure of attempts that had made a step, or of which no trainer log exists
-- failed_starts: attempts that failed before any step; priced, not counted as failures
-- crash_loops: rows of three or more failed starts with one cause that began in the span
-- preemptions: ends by preemption
-- planned_ends: ends that somebody had planned
with

bounds as (
    select
        min(w.window_start) as period_start,
        max(w.window_end) as period_end,
        -- windows begin at midnight: records that begin later on that day reach back to it
        date_trunc('day', (select make_timestamptz(min(start_us)) from ledger.lives)) as records_start,
    from ledger.windows as w
),

spans as (
    select 'window' as span, window_start as span_start, window_end as span_end from ledger.windows
    union all
    select 'period' as span, period_start, period_end from bounds
    union all
    select
        weeks || case when weeks = 1 then '_week' else '_weeks' end as span,
        period_end - weeks * interval 7 day as span_start,
        period_end,
    from bounds
    cross join (select unnest([1, 4, 12]) as weeks)
    where records_start <= period_end - weeks * interval 7 day
    union all
    select 'records' as span, least(records_start, period_start), period_end from bounds
),

exposures as (
    select
        s.span,
        s.span_start,
        l.run_id,
        l.attempt,
        l.gpus_class,
        l.gpus_from,
        l.gpus,
        l.nodes,
        l.nodes_assumed,
        greatest(least(epoch_us(l.end_ts), epoch_us(s.span_end)) - greatest(epoch_us(l.start_ts), epoch_us(s.span_start)), 0)::hugeint
            as exposed_us,
    from marts.lifetimes as l
    inner join spans as s on l.start_ts < s.span_end and l.end_ts >= s.span_start
    where l.counted
),

exposed as (
    select
        span,
        span_start,
        gpus_class,
        gpus_from,
        run_id,
        count(*) as attempts,
        sum(exposed_us) as run_us,
        sum(exposed_us * nodes) as node_us,
        sum(exposed_us * nodes) filter (where nodes_assumed) as assumed_us,
        sum(exposed_us * gpus) as gpu_us,
    from exposures
    group by grouping sets ((span, span_start), (span, span_start, gpus_class, gpus_from), (span, span_start, run_id))
),

happened as (
    select
        s.span,
        s.span_start,
        l.*,
    from marts.lifetimes as l
    inner join spans as s on l.end_ts >= s.span_start and l.end_ts < s.span_end
),

ends as (
    select
        span,
        span_start,
        gpus_class,
        domain,
        run_id,
        count(*) filter (where outcome = 'failure' and counted) as failures,
        count(*) filter (where outcome = 'failed_start') as failed_starts,
        count(*) filter (where crash_loop = incident_id) as crash_loops,
        count(*) filter (where outcome = 'preemption') as preemptions,
        count(*) filter (where outcome = 'planned') as planned_ends,
    from happened
    group by grouping sets (
        (span, span_start),
        (span, span_start, gpus_class),
        (span, span_start, domain),
        (span, span_start, gpus_class, domain),
        (span, span_start, run_id)
    )
),

groups as (
    select span, span_start, 'all' as grouped_by, null::varchar as gpus_class, null::varchar as domain, null::varchar as run_id
    from spans
    union all
    select distinct span, span_start, 'gpus', gpus_class, null, null
    from (select span, span_start, gpus_class from exposures union all select span, span_start, gpus_class from happened)
    union all
    select distinct span, span_start, 'run', null, null, run_id
    from (select span, span_start, run_id from exposures union all select span, span_start, run_id from happened)
    union all
    select distinct span, span_start, unnest(['domain', 'gpus_domain']), unnest([null, gpus_class]), domain, null
    from happened
    where outcome in ('failure', 'failed_start', 'preemption')
),

final as (
    select
        g.span,
        g.span_start,
        s.span_end,
        g.grouped_by,
        g.gpus_class,
        split_part(g.gpus_class, '-', 1)::bigint as gpus_from,
        g.domain,
        g.run_id,
        coalesce(x.attempts, 0) as attempts,
        coalesce(e.failures, 0) as failures,
        coalesce(e.failed_starts, 0) as failed_starts,
        coalesce(e.crash_loops, 0) as crash_loops,
        coalesce(e.preemptions, 0) as preemptions,
        coalesce(e.planned_ends, 0) as planned_ends,
        coalesce(x.run_us, 0) / 3.6e9 as run_hours,
        coalesce(x.gpu_us, 0) / 3.6e9 as gpu_hours,
        coalesce(x.node_us, 0) / 8.64e10 as node_days,
        coalesce(x.assumed_us, 0) / nullif(x.node_us, 0) as nodes_assumed_share,
    from groups as g
    inner join spans as s using (span, span_start)
    left join exposed as x
        on x.span = g.span and x.span_start = g.span_start and x.gpus_class is not distinct from g.gpus_class
        and x.run_id is not distinct from g.run_id
    left join ends as e
        on e.span = g.span and e.span_start = g.span_start
        and e.gpus_class is not distinct from g.gpus_class and e.domain is not distinct from g.domain
        and e.run_id is not distinct from g.run_id
)

select * from final
order by span, span_start, grouped_by, gpus_from, domain, run_id
