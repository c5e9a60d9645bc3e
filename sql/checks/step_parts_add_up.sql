-- one row per step range whose parts do not add up to its step, or per window whose shares do not add up to 1
-- law: parts that are told and other_s add up to step_s within a microsecond, and none is negative by more; shares add up to 1 within 1e-9
with

ranges as (
    select
        run_id,
        evidence,
        first_step,
        step_s,
        coalesce(compute_s, 0) + coalesce(exposed_comm_s, 0) + coalesce(data_wait_s, 0) + coalesce(bubble_s, 0)
            + coalesce(memory_copy_s, 0) + other_s as parts_s,
        least(compute_s, exposed_comm_s, data_wait_s, bubble_s, memory_copy_s, other_s) as least_s,
    from ledger.step_parts
),

windows as (
    select
        run_id,
        window_start,
        coalesce(compute_share, 0) + coalesce(exposed_comm_share, 0) + coalesce(data_wait_share, 0) + coalesce(bubble_share, 0)
            + coalesce(memory_copy_share, 0) + other_share as shares,
    from marts.efficiency
)

select
    run_id,
    'parts of a step do not add up' as what,
    concat(evidence, ', step ', first_step, ': ', parts_s, ' of ', step_s, ' s') as example,
from ranges
where abs(parts_s - step_s) > 1e-6 or least_s < -1e-6
union all
select
    run_id,
    'shares of a step do not add up' as what,
    concat(window_start, ': ', shares) as example,
from windows
where abs(shares - 1) > 1e-9
