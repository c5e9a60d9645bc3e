-- one row per sample of a device that lies between the first and the last step of the attempt that held it
-- do not sum: values of all metrics stand in one column
-- a view: computed as it is read, since only what becomes of samples is kept
-- host: its first name
-- metric: what was sampled: sm_active, tensor_active, dram_active, nvlink_tx, nvlink_rx, pcie_tx, pcie_rx, power, sm_clock, gpu_util or throttled
-- value: what was sampled; of throttled 1 where the device says that a fault holds its clock down, else 0
-- reasons: bits of the reasons that a sample of throttled tells; null of other metrics
with

samples as (
    select
        s.run_id,
        s.path,
        split_part(coalesce(e.host, s.host, ''), '.', 1) as host,
        e.gpu,
        case when e.unit = 'bits' then 'throttled' else e.metric end as metric,
        -- a limit of power that somebody set, or a device that has nothing to do, is no fault: 8, 32, 64 and 128 are
        case when e.unit = 'bits' then ((e.value::bigint & 232) <> 0)::integer else e.value end as value,
        case when e.unit = 'bits' then e.value::bigint end as reasons,
        case when e.ts_quality = 'logged' or s.zone = 'UTC' then e.ts else timezone(s.zone, e.ts::timestamp) end as ts,
    from events.telemetry as e
    inner join staging.sources as s using (source_id)
    where e.ts is not null
        and e.ts_quality in ('logged', 'zone_assumed')
        and e.metric in (
            'sm_active', 'tensor_active', 'dram_active', 'nvlink_tx', 'nvlink_rx', 'pcie_tx', 'pcie_rx', 'power', 'sm_clock', 'gpu_util',
            'throttle_reasons', 'hw_slowdown', 'sw_thermal_slowdown', 'hw_thermal_slowdown', 'hw_power_brake_slowdown'
        )
),

loops as (
    select
        p.run_id,
        p.attempt,
        make_timestamptz(p.first_step_us) as first_ts,
        make_timestamptz(p.progress_us) as last_ts,
        p.nodes,
    from ledger.progress as p
    where p.has_steps and p.first_step_us < p.progress_us
),

-- samples of a host serve the attempt that held it; where no source names hosts, those in the folder of the run do
held as (
    select run_id, attempt, first_ts, last_ts, split_part(unnest(nodes), '.', 1) as host
    from loops
),

by_host as (
    select h.run_id, h.attempt, s.* exclude (run_id, path)
    from samples as s
    asof inner join held as h on s.host = h.host and s.ts >= h.first_ts
    where s.ts <= h.last_ts
),

by_folder as (
    select l.run_id, l.attempt, s.* exclude (run_id, path)
    from (select * exclude (run_id), coalesce(run_id, split_part(path, '/', 1)) as run_id from samples) as s
    asof inner join (from loops where nodes is null) as l on s.run_id = l.run_id and s.ts >= l.first_ts
    where s.ts <= l.last_ts
)

select run_id, attempt, ts, host, gpu, metric, value, reasons from by_host
union all
select run_id, attempt, ts, host, gpu, metric, value, reasons from by_folder
