-- one row per run, attempt, window, hour, device and metric of which samples lie between its first and its last step
-- do not sum: value is a mean over samples
-- gpu: index or identity of the device on its host
-- metric: what was sampled: sm_active, tensor_active, dram_active, nvlink_tx, nvlink_rx, pcie_tx, pcie_rx, power, sm_clock, gpu_util or throttled
-- value: mean of the samples; of throttled the share of those in which the device says that a fault holds its clock down
-- samples: samples of the hour
-- first_ts: first of them
-- last_ts: last of them
-- reasons: bits of all reasons that the samples of throttled tell (4 its power limit, 8 hardware, 32 and 64 heat, 128 the power supply); null of other metrics
-- first_fault_ts: first sample of throttled with a fault; null without any
-- last_fault_ts: last of them
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
    select h.run_id, h.attempt, h.last_ts, s.* exclude (run_id, path)
    from samples as s
    asof inner join held as h on s.host = h.host and s.ts >= h.first_ts
    where s.ts <= h.last_ts
),

by_folder as (
    select l.run_id, l.attempt, l.last_ts, s.* exclude (run_id, path)
    from (select * exclude (run_id), coalesce(run_id, split_part(path, '/', 1)) as run_id from samples) as s
    asof inner join (from loops where nodes is null) as l on s.run_id = l.run_id and s.ts >= l.first_ts
    where s.ts <= l.last_ts
),

placed as (
    from by_host
    union all by name
    from by_folder
)

select
    p.run_id,
    p.attempt,
    w.window_start,
    date_trunc('hour', p.ts) as hour_start,
    p.host,
    p.gpu,
    p.metric,
    avg(p.value) as value,
    count(*) as samples,
    min(p.ts) as first_ts,
    max(p.ts) as last_ts,
    bit_or(p.reasons) as reasons,
    min(p.ts) filter (where p.reasons is not null and p.value > 0) as first_fault_ts,
    max(p.ts) filter (where p.reasons is not null and p.value > 0) as last_fault_ts,
from placed as p
asof inner join ledger.windows as w on p.ts >= w.window_start
where p.ts < w.window_end
group by all
