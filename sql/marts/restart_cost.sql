-- one row per run that lived in the period: how often it failed, and what a failure costs it besides lost work
-- do not average over runs: add failures, node-days and held time, then divide
-- failures: interruptions that nobody planned, of attempts that had made a step
-- held_s: time that an allocation was held; in seconds
-- nodes: nodes of the largest allocation; null where no source names them
-- node_days: nodes × held time; in days
-- failures_per_1000_node_days: rate per node that the model of job size needs
-- restart_s: mean time held per failure without a step: detection, teardown, start-up, restore, warm-up; in seconds
-- wait_s: mean time not held per failure: back-off, queue, gaps; in seconds
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

failures as (
    select i.run_id, i.incident_id
    from marts.incidents as i
    cross join period as p
    where i.kind in ('unplanned', 'preemption') and not i.stepless
        and i.at_ts >= p.period_start
        and i.at_ts < p.period_end
),

-- a start that failed is part of what the failure before it cost
costs as (
    select
        w.run_id,
        coalesce(sum(epoch_us(w.end_ts) - epoch_us(w.start_ts)) filter (where w.held), 0) as restart_us,
        coalesce(sum(epoch_us(w.end_ts) - epoch_us(w.start_ts)) filter (where not w.held), 0) as wait_us,
    from ledger.window_intervals as w
    inner join marts.incidents as i using (incident_id)
    where w.part = 'active' and w.category <> 'lost_work' and w.layer <> 'productive'
        and (i.kind = 'preemption' or i.kind = 'unplanned')
    group by w.run_id
),

counts as (
    select run_id, count(*) as failures
    from failures
    group by run_id
),

held as (
    select
        run_id,
        coalesce(sum(epoch_us(end_ts) - epoch_us(start_ts)) filter (where held), 0) as held_us,
    from ledger.window_intervals
    where part = 'active'
    group by run_id
),

nodes as (
    select run_id, nullif(max(len(nodes)), 0) as nodes
    from ledger.holdings
    group by run_id
),

final as (
    select
        h.run_id,
        u.gpus,
        coalesce(c.failures, 0) as failures,
        h.held_us / 1e6 as held_s,
        n.nodes,
        n.nodes * h.held_us / 86400e6 as node_days,
        coalesce(c.failures, 0) * 1000 / nullif(n.nodes * h.held_us / 86400e6, 0) as failures_per_1000_node_days,
        x.restart_us / 1e6 / c.failures as restart_s,
        x.wait_us / 1e6 / c.failures as wait_s,
    from held as h
    inner join ledger.runs as u using (run_id)
    left join nodes as n using (run_id)
    left join counts as c using (run_id)
    left join costs as x using (run_id)
)

select * from final
order by run_id
