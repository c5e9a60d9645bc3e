-- GPU-hours lost in the period by who is charged for them: the layer of the cause, else of the category.
select
    charged_to,
    round(sum(gpu_s) / 3600, 1) as gpu_hours,
    count(distinct run_id) as runs,
    arg_max(title, gpu_s) as largest_piece,
from marts.losses
group by charged_to
order by gpu_hours desc, charged_to
