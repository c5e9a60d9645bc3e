-- one row per run and job size: the effective training time ratio that its failures, saves and restarts lead one to expect
-- do not average over runs or sizes; the row with is_own_size is the run as it was, the others are projections from its rate per node
-- gpus: size of the job
-- is_own_size: whether this is the run's own size
-- nodes: nodes of a job of that size; null where the run's nodes are not known
-- mttf_s: mean time to failure of a job of that size; null without a failure; in seconds
-- restart_s: u0, time per failure without a step; in seconds
-- wait_s: q, time per failure without an allocation; in seconds
-- interval_s: Δt, interval between saves; in seconds
-- stall_s: w, stall of a save; in seconds
-- expected_ettr_writes: (1 − (u0 + Δt / 2) / mttf) / (1 + w / Δt): the form that charges saves
-- expected_ettr_queue: (1 − (u0 + Δt / 2) / mttf) / (1 + q / mttf): the form that charges the queue
-- measured_ettr: what the ledger has for the run; null for other sizes
-- best_interval_s: sqrt(2 w mttf), the interval of least overhead at that size; in seconds
-- expected_at_best: expected_ettr_writes at that interval
-- reason: why a form is null
with

sizes as (
    select unnest([1024, 4096, 8192, 16384, 32768, 65536, 131072]) as gpus
),

measured as (
    select
        run_id,
        sum(numerator_gpu_s) / nullif(sum(denominator_gpu_s), 0) as measured_ettr,
    from marts.definitions
    where definition = 'ettr'
    group by run_id
),

runs as (
    select
        r.run_id,
        r.gpus,
        r.nodes,
        r.failures,
        r.held_s,
        coalesce(r.restart_s, 0) as restart_s,
        coalesce(r.wait_s, 0) as wait_s,
        c.interval_s,
        c.stall_s,
        m.measured_ettr,
    from marts.restart_cost as r
    inner join marts.checkpoint_cost as c using (run_id)
    left join measured as m using (run_id)
),

-- failures of a job come from its nodes, each at the same rate
sized as (
    select
        *,
        true as is_own_size,
        held_s / nullif(failures, 0) as mttf_s,
    from runs
    union all by name
    select
        r.* replace (
            s.gpus as gpus,
            ceil(r.nodes * s.gpus / r.gpus)::bigint as nodes,
            null::double as measured_ettr
        ),
        false as is_own_size,
        r.held_s / nullif(r.failures, 0) * r.gpus / s.gpus as mttf_s,
    from runs as r
    cross join sizes as s
    where r.failures > 0 and s.gpus > r.gpus
),

parts as (
    select
        *,
        case when mttf_s is null then 1 else 1 - (restart_s + interval_s / 2) / mttf_s end as running_share,
        case when mttf_s is not null and stall_s > 0 then sqrt(2 * stall_s * mttf_s) end as best_interval_s,
    from sized
),

final as (
    select
        run_id,
        gpus,
        is_own_size,
        nodes,
        mttf_s,
        restart_s,
        wait_s,
        interval_s,
        stall_s,
        case when running_share > 0 then running_share / (1 + stall_s / interval_s) end as expected_ettr_writes,
        case when running_share > 0 then running_share / (1 + coalesce(wait_s / mttf_s, 0)) end as expected_ettr_queue,
        measured_ettr,
        best_interval_s,
        case
            when restart_s + best_interval_s / 2 < mttf_s
                then (1 - (restart_s + best_interval_s / 2) / mttf_s) / (1 + stall_s / best_interval_s)
        end as expected_at_best,
        case
            when interval_s is null then 'no two saves to measure an interval between'
            when running_share <= 0 then 'fails again before what a failure costs is made good'
            when stall_s is null then 'no line tells how long a save stopped the loop'
        end as reason,
    from parts
)

select * from final
order by run_id, gpus, is_own_size desc
