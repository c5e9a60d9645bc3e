-- Median step time and throughput of each run by hour, clean spans only: drift, slow nights, what a restart changed.
select
    run_id,
    date_trunc('hour', start_ts) as hour_start,
    sum(steps) as steps,
    round(median(net_us / 1e6 / steps), 3) as median_step_s,
    round(max(net_us / 1e6 / steps), 3) as slowest_step_s,
    round(median(tflops_per_gpu), 1) as median_tflops_per_gpu,
from ledger.steps
where not first_span and not holds_stall
group by run_id, hour_start
order by run_id, hour_start
