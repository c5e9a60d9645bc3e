-- one row per run and window whose capacity is not the sum of its layers, in integer GPU-microseconds
-- law: W = L + U + I + F + P, exactly
select
    run_id,
    'capacity is not the sum of its layers' as what,
    concat(
        window_start, ': ', capacity_gpu_us, ' is not ', planned_gpu_us, ' + ', unknown_gpu_us, ' + ',
        infrastructure_gpu_us, ' + ', framework_gpu_us, ' + ', productive_gpu_us
    ) as example,
from marts.layer_sums
where capacity_gpu_us
    <> planned_gpu_us + unknown_gpu_us + infrastructure_gpu_us + framework_gpu_us + productive_gpu_us
