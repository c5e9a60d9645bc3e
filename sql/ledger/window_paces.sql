-- one row per run and window with surviving steps: how long they took, and would have taken at the reference
-- add accelerator time over windows; never divide one window by another
-- reference_gpu_s: reference time of surviving steps × accelerators; those without a reference with their own; in GPU-seconds; null where more than a tenth have none
-- net_gpu_s: net time of surviving steps × accelerators; in GPU-seconds
-- reference_step_s: reference time of a step, over the surviving ones; in seconds
-- window_steps: surviving steps that lie in the window, those across its borders in part
-- told_tokens: tokens of surviving steps; null where more than a tenth of them do not tell
-- level_reason: how the reference of most of these steps was found
with

spans as (
    select
        p.run_id,
        p.attempt,
        p.step_first,
        p.window_start,
        p.surviving_steps,
        p.step_us,
        r.reference_step_s * 1e6 as reference_us,
        r.reference_reason,
        p.gpus,
        p.told_tokens as tokens,
    from ledger.paced_spans as p
    left join ledger.reference_steps as r
        on r.run_id = p.run_id and r.gpus is not distinct from p.gpus and r.batch is not distinct from p.batch
    where p.surviving_steps > 0
),

-- a span that crosses a border counts in each window by its share
weighted as (
    select
        s.* exclude (window_start),
        coalesce(s.window_start, b.window_start) as window_start,
        s.surviving_steps * case when s.window_start is not null then 1.0 else coalesce(b.share, 0.0) end as weight,
    from spans as s
    left join ledger.border_spans as b using (run_id, attempt, step_first)
    where s.window_start is not null or b.window_start is not null
),

-- sums of integers do not depend on the order of the rows
sums as (
    select
        run_id,
        window_start,
        sum((weight * 1e6)::hugeint) as steps,
        sum((weight * 1e6)::hugeint) filter (where reference_us is not null) as reference_steps,
        sum((weight * 1e6)::hugeint) filter (where tokens is not null) as told_steps,
        sum((weight * coalesce(reference_us, step_us))::hugeint) as reference_us,
        sum((weight * gpus * coalesce(reference_us, step_us))::hugeint) as reference_gpu_us,
        sum((weight * gpus * step_us)::hugeint) as net_gpu_us,
        sum((weight * tokens)::hugeint) as tokens,
        mode(reference_reason order by reference_reason) as level_reason,
    from weighted
    group by all
)

select
    s.run_id,
    s.window_start,
    w.window_end,
    steps / 1e6 as window_steps,
    case when reference_steps >= 0.9 * steps then reference_gpu_us / 1e6 end as reference_gpu_s,
    case when reference_steps >= 0.9 * steps then reference_us / steps end as reference_step_s,
    net_gpu_us / 1e6 as net_gpu_s,
    case when told_steps >= 0.9 * steps then tokens * (steps / told_steps) end as told_tokens,
    level_reason,
from sums as s
inner join ledger.windows as w using (window_start)
where steps > 0
