-- one row when the Pareto of causes does not add up to all that was lost
-- law: rows of marts.causes add up to W − P over the period, exactly
with

causes as (
    select coalesce(sum(gpu_us), 0) as gpu_us
    from marts.causes
),

losses as (
    select coalesce(sum(capacity_gpu_us - productive_gpu_us), 0) as gpu_us
    from marts.layer_sums
)

select
    null::varchar as run_id,
    'causes do not add up to capacity less productive time' as what,
    concat(c.gpu_us, ' of ', l.gpu_us, ' GPU-µs') as example,
from causes as c
cross join losses as l
where c.gpu_us <> l.gpu_us
