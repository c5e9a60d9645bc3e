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
from ledger.device_samples as p
asof inner join ledger.windows as w on p.ts >= w.window_start
where p.ts < w.window_end
group by all
