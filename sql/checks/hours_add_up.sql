-- one row when the hours of the period do not add up to its capacity
-- law: cutting at hours loses and adds nothing
with

hours as (
    select coalesce(sum(w_gpu_us), 0) as gpu_us
    from marts.hours
),

windows as (
    select coalesce(sum(capacity_gpu_us), 0) as gpu_us
    from marts.layer_sums
)

select
    null::varchar as run_id,
    'hours do not add up to the capacity' as what,
    concat(h.gpu_us, ' of ', w.gpu_us, ' GPU-µs') as example,
from hours as h
cross join windows as w
where h.gpu_us <> w.gpu_us
