-- one row per run and window whose losses by category do not add up
-- law: rows of marts.losses add up to W − P of their run and window, exactly
with

losses as (
    select run_id, window_start, sum(gpu_us) as gpu_us
    from marts.losses
    group by run_id, window_start
)

select
    s.run_id,
    'losses do not add up to capacity less productive time' as what,
    concat(s.window_start, ': ', coalesce(l.gpu_us, 0), ' of ', s.capacity_gpu_us - s.productive_gpu_us, ' GPU-µs') as example,
from marts.layer_sums as s
left join losses as l using (run_id, window_start)
where coalesce(l.gpu_us, 0) <> s.capacity_gpu_us - s.productive_gpu_us
