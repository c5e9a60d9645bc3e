-- Training-time goodput of every run and window, with the layers that make it up.
select
    run_id,
    window_start,
    round(capacity_gpu_s / 3600, 1) as gpu_hours,
    round(training_time_goodput, 4) as training_time_goodput,
    round(g_known, 4) as known,
    round(g_infra, 4) as infrastructure,
    round(g_framework, 4) as framework,
    round(g_model, 4) as model,
    round(composite, 4) as composite,
    coalesce(undefined_reason, g_model_reason) as reason,
from marts.goodput
order by run_id, window_start
