-- one row per run and window whose time by classes does not add up
-- law: classes of published definitions add up to capacity, spares and the first queue wait of their run and window, exactly
with

sums as (
    select run_id, window_start, sum(gpu_us) as classes_gpu_us
    from marts.time_classes
    group by run_id, window_start
)

select
    l.run_id,
    'classes of time and capacity differ' as what,
    l.window_start || ': ' || coalesce(s.classes_gpu_us, 0) || ' GPU-µs in classes, '
        || (l.capacity_gpu_us + l.spare_gpu_us + l.first_queue_wait_gpu_us) || ' in layers' as example,
from marts.layer_sums as l
left join sums as s using (run_id, window_start)
where coalesce(s.classes_gpu_us, 0) <> l.capacity_gpu_us + l.spare_gpu_us + l.first_queue_wait_gpu_us
