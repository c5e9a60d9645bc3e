-- Where the GPU-hours of the period went that did not become progress, by layer and category.
select
    layer,
    title,
    round(sum(gpu_s) / 3600, 1) as gpu_hours,
    round(100 * sum(gpu_s) / (select capacity_gpu_s - planned_gpu_s from marts.period where run_id = '(all)'), 2)
        as percent_of_capacity_less_planned,
from marts.losses
group by layer, title
order by gpu_hours desc, title
