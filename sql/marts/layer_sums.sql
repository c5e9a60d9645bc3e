-- one row per run and window: integer GPU-microseconds by layer, exactly
-- do not add spare_gpu_us to the layers: spares lie outside capacity; provisional_* is a part of productive
-- held_gpu_us: accelerators allocated, spares included
-- provisional_end_gpu_us: productive time of this window not yet under a durable save at the end of the period
-- first_queue_wait_gpu_us: wait before the first allocation, on the window in which the run's life begins
with

sums as (
    select
        run_id,
        window_start,
        window_end,
        coalesce(sum(gpu_us) filter (where part <> 'spare'), 0) as capacity_gpu_us,
        coalesce(sum(gpu_us) filter (where held), 0) as held_gpu_us,
        coalesce(sum(gpu_us) filter (where part <> 'spare' and layer = 'productive'), 0) as productive_gpu_us,
        coalesce(sum(gpu_us) filter (where part <> 'spare' and layer = 'infrastructure'), 0) as infrastructure_gpu_us,
        coalesce(sum(gpu_us) filter (where part <> 'spare' and layer = 'framework'), 0) as framework_gpu_us,
        coalesce(sum(gpu_us) filter (where part <> 'spare' and layer = 'planned'), 0) as planned_gpu_us,
        coalesce(sum(gpu_us) filter (where part <> 'spare' and layer = 'unknown'), 0) as unknown_gpu_us,
        coalesce(sum(gpu_us) filter (where part = 'spare'), 0) as spare_gpu_us,
        coalesce(sum(gpu_us) filter (where category = 'checkpoint_stall'), 0) as sst_gpu_us,
        coalesce(sum(gpu_us) filter (where category = 'lost_work'), 0) as lst_gpu_us,
    from ledger.window_intervals
    group by run_id, window_start, window_end
),

period as (
    select max(window_end) as period_end
    from ledger.windows
),

-- when each run completed, if it did: nothing of it is provisional after that
completions as (
    select run_id, max(at_ts) as completed_ts
    from ledger.incidents
    where kind = 'completed'
    group by run_id
),

moments as (
    select run_id, window_start, window_end, window_end as at_ts, false as at_period_end
    from sums
    union all
    select run_id, window_start, window_end, period_end as at_ts, true as at_period_end
    from sums
    cross join period
),

distinct_moments as (
    select distinct run_id, at_ts
    from moments
),

-- what was done before the begin of the last save that was durable at that moment is safe
safe as (
    select
        m.run_id,
        m.at_ts,
        max(coalesce(s.begin_ts, s.blocked_ts, s.durable_ts)) as safe_ts,
    from distinct_moments as m
    inner join ledger.saves as s on s.run_id = m.run_id and s.durable and s.durable_ts <= m.at_ts
    -- a save of a step that was overwritten later protects nothing
    inner join ledger.attempts as a on a.run_id = s.run_id and a.attempt = s.attempt and s.step <= a.survives_to
    group by m.run_id, m.at_ts
),

exposed as (
    select
        m.run_id,
        m.window_start,
        m.at_period_end,
        case when c.completed_ts <= m.at_ts then m.at_ts else coalesce(s.safe_ts, m.window_start) end as safe_ts,
    from moments as m
    left join safe as s using (run_id, at_ts)
    left join completions as c using (run_id)
),

provisional as (
    select
        e.run_id,
        e.window_start,
        coalesce(sum(p.gpus * (epoch_us(p.end_ts) - greatest(epoch_us(p.start_ts), epoch_us(e.safe_ts)))::hugeint)
            filter (where not e.at_period_end), 0) as provisional_gpu_us,
        coalesce(sum(p.gpus * (epoch_us(p.end_ts) - greatest(epoch_us(p.start_ts), epoch_us(e.safe_ts)))::hugeint)
            filter (where e.at_period_end), 0) as provisional_end_gpu_us,
    from exposed as e
    inner join ledger.window_intervals as p
        on p.run_id = e.run_id
        and p.window_start = e.window_start
        and p.category = 'productive'
        and p.part = 'active'
        and p.end_ts > e.safe_ts
    group by e.run_id, e.window_start
),

first_waits as (
    select
        a.run_id,
        arg_min(greatest(a.start_us - coalesce(a.eligible_us, a.submit_us), 0), a.start_us) as wait_us,
        make_timestamptz(min(a.start_us)) as start_ts,
    from ledger.holdings as a
    group by a.run_id
),

first_queue_waits as (
    select
        s.run_id,
        s.window_start,
        (w.wait_us * r.gpus)::hugeint as first_queue_wait_gpu_us,
    from sums as s
    inner join ledger.runs as r using (run_id)
    inner join first_waits as w
        on w.run_id = s.run_id
        -- where policy counts the wait, it is part of the life and stands under queue_wait
        and r.life_start_ts >= w.start_ts
        and r.life_start_ts >= s.window_start
        and r.life_start_ts < s.window_end
),

final as (
    select
        s.*,
        coalesce(p.provisional_gpu_us, 0) as provisional_gpu_us,
        coalesce(p.provisional_end_gpu_us, 0) as provisional_end_gpu_us,
        coalesce(q.first_queue_wait_gpu_us, 0) as first_queue_wait_gpu_us,
    from sums as s
    left join provisional as p using (run_id, window_start)
    left join first_queue_waits as q using (run_id, window_start)
)

select * from final
order by run_id, window_start
