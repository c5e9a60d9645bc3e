-- one row per run and window with more provisional than productive time
-- law: what is not yet under a durable save is a part of the productive time
select
    run_id,
    'more provisional than productive time' as what,
    concat(window_start, ': ', greatest(provisional_gpu_us, provisional_end_gpu_us), ' of ', productive_gpu_us, ' GPU-µs') as example,
from marts.layer_sums
where greatest(provisional_gpu_us, provisional_end_gpu_us) > productive_gpu_us
    or least(provisional_gpu_us, provisional_end_gpu_us) < 0
