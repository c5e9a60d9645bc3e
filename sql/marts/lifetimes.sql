-- one row per attempt that began before the end of the period: how long it lived, and what ended it
-- count failures with outcome = 'failure' and counted; never sum life_s over attempts of different sizes
-- start_ts: first line of its processes, else the begin of its allocation
-- end_ts: its fault or the end of its loop, without a trainer log that of its allocation; the end of the period at most
-- life_s: from start_ts to end_ts; in seconds
-- nodes: hosts of its allocation; an eighth of its accelerators, rounded up, where no record names them
-- nodes_assumed: whether no record names its hosts
-- gpus_class: size of the attempt, from a power of four times eight accelerators to the next, such as 9-32
-- outcome: failure, failed_start, preemption, planned, completed or ongoing
-- counted: whether it counts in time to failure: it made a step, or no trainer log of it exists
-- crash_loop: incident_id of the first failed start of its crash loop, as ledger.crash_loops tells it; null outside of one
with

period as (
    select max(window_end) as period_end
    from ledger.windows
),

hosts as (
    select
        run_id,
        holding,
        nullif(len(list_distinct(coalesce(nodes, []))), 0) as nodes,
        make_timestamptz(end_us) as end_ts,
    from ledger.holdings
),

lived as (
    select
        a.run_id,
        a.attempt,
        a.incident_id,
        coalesce(a.gpus, r.gpus, 1) as gpus,
        h.nodes as known_nodes,
        case when i.unseen then a.allocated_ts else coalesce(a.start_ts, a.allocated_ts) end as start_ts,
        -- of an attempt without a trainer log only its allocation is known
        case
            when a.observed then coalesce(a.loop_end_ts, a.last_step_ts, a.released_ts)
            else coalesce(i.fault_ts, a.released_ts, h.end_ts)
        end as ended_ts,
        p.period_end,
        i.kind,
        i.failed_start,
        i.cause,
        coalesce(i.domain, 'unknown') as domain,
        -- of an output without a word of a trainer nobody knows when, but it may tell that it was a start that failed
        a.first_step_ts is not null or (coalesce(i.unseen, not a.observed) and not i.stepless) as counted,
    from ledger.attempts as a
    inner join ledger.runs as r using (run_id)
    inner join ledger.incidents as i using (incident_id)
    inner join ledger.timeline as t on t.run_id = a.run_id and t.attempt = a.attempt
    left join hosts as h on h.run_id = t.run_id and h.holding = t.holding
    cross join period as p
),

ended as (
    select
        run_id,
        attempt,
        incident_id,
        gpus,
        coalesce(known_nodes, ceil(gpus / 8)::bigint) as nodes,
        known_nodes is null as nodes_assumed,
        start_ts,
        greatest(start_ts, least(ended_ts, period_end)) as end_ts,
        case
            when ended_ts >= period_end or kind = 'ongoing' then 'ongoing'
            when kind not in ('unplanned', 'unknown') then kind
            when failed_start then 'failed_start'
            else 'failure'
        end as outcome,
        cause,
        domain,
        counted,
    from lived
    where start_ts < period_end and ended_ts is not null
),

looped as (
    select
        e.*,
        f.incident_id as crash_loop,
    from ended as e
    left join ledger.crash_loops as c on c.run_id = e.run_id and c.attempt = e.attempt and e.outcome = 'failed_start'
    left join ledger.attempts as f on f.run_id = c.run_id and f.attempt = c.loop
),

-- each class is four times as large as the one before it; the first one is a host of eight
classed as (
    select
        *,
        greatest(ceil(log2(gpus / 8) / 2), 0) as class_no,
    from looped
),

final as (
    select
        run_id,
        attempt,
        incident_id,
        gpus,
        gpus_from,
        gpus_from || '-' || (8 * 4 ** class_no)::bigint as gpus_class,
        nodes,
        nodes_assumed,
        start_ts,
        end_ts,
        (epoch_us(end_ts) - epoch_us(start_ts)) / 1e6 as life_s,
        outcome,
        cause,
        domain,
        counted,
        crash_loop,
    from (select *, case when class_no = 0 then 1 else 8 * 4 ** (class_no - 1) + 1 end::bigint as gpus_from from classed)
)

select * from final
order by run_id, attempt
