-- Failures per 1,000 node-days and hours to a failure, with limits of 95 %, by span and by number of GPUs.
select
    span,
    coalesce(gpus_class, 'all') as gpus,
    failures,
    round(node_days, 1) as node_days,
    round(per_1000_node_days, 2) as per_1000_node_days,
    round(per_1000_node_days_low, 2) as low,
    round(per_1000_node_days_high, 2) as high,
    round(time_to_failure_h, 2) as time_to_failure_h,
    round(time_to_failure_low_h, 2) as low_h,
    round(time_to_failure_high_h, 2) as high_h,
from marts.failure_rates
where grouped_by in ('all', 'gpus') and span <> 'window'
order by span_start desc, span, gpus_from nulls first
