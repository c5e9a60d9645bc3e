-- Failures per 1,000 node-days and hours to a failure, with limits of 95 %, by span, number of GPUs, run and cause.
select
    span,
    coalesce(gpus_class, 'all') as gpus,
    coalesce(run_id, 'all') as run_id,
    coalesce(domain, 'all') as domain,
    failures,
    round(node_days, 1) as node_days,
    round(per_1000_node_days, 2) as per_1000_node_days,
    round(per_1000_node_days_low, 2) as low,
    round(per_1000_node_days_high, 2) as high,
    round(time_to_failure_h, 2) as time_to_failure_h,
    round(time_to_failure_low_h, 2) as low_h,
    round(time_to_failure_high_h, 2) as high_h,
from marts.failure_rates
where span <> 'window'
order by span_start desc, span, grouped_by, gpus_from nulls first, domain, run_id
