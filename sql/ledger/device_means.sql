-- one row per run, device and metric, over all of the run and over each window: the mean of its samples
-- do not sum or average over windows: hours hold samples of different number
-- window_start: null for all of the run
-- gpu: index or identity of the device on its host
-- metric: what was sampled (see ledger.device_hours)
-- value: mean of its samples between first and last steps
-- reasons: bits of all reasons that the samples of throttled tell; null of other metrics
select
    run_id,
    window_start,
    host,
    gpu,
    metric,
    sum(value * samples) / sum(samples) as value,
    bit_or(reasons) as reasons,
from ledger.device_hours
group by grouping sets ((run_id, host, gpu, metric), (run_id, window_start, host, gpu, metric))
