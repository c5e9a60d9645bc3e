-- one row per run whose step lines print TFLOP/s or MFU: what they imply of the model and of the device
-- do not average over runs: medians over the lines of one run
-- recompute_counted: whether its TFLOP/s count what is computed a second time in the backward pass
-- convention: how its program counts attention
-- ratio_flops_per_token: TFLOP/s ÷ tokens/s of the same line
-- share_flops_per_token: MFU × the peak that the program divides by ÷ tokens/s of the same line
-- implied_peak_flops: TFLOP/s ÷ MFU of the same line
with

programs as (
    select distinct s.run_id, f.flops_attention, f.flops_recomputed
    from ledger.closed_spans as s
    inner join events.formats as f using (format)
),

habits as (
    select
        run_id,
        coalesce(bool_or(flops_recomputed), false) as recompute_counted,
        -- runs whose programs count in different ways have none
        case when count(distinct coalesce(flops_attention, '')) = 1 then nullif(max(flops_attention), '') end as flops_attention,
    from programs
    group by run_id
),

lines as (
    select
        s.run_id,
        s.tflops_per_gpu,
        s.mfu,
        -- tokens of one accelerator and second, at the rate for which TFLOP/s and MFU are printed
        coalesce(
            s.tokens_per_s_per_gpu,
            s.tokens_per_s / coalesce(a.gpus, l.gpus),
            s.tokens / s.steps / s.step_time_s / coalesce(a.gpus, l.gpus)
        ) as rate,
        not s.first_span and not s.holds_stall as clean,
    from ledger.steps as s
    left join ledger.attempts as a using (run_id, attempt)
    left join ledger.lives as l using (run_id)
    where s.tflops_per_gpu > 0 or s.mfu > 0
),

kept as (
    select *
    from lines
    where clean or run_id not in (select distinct run_id from lines where clean)
),

medians as (
    select
        run_id,
        median(tflops_per_gpu) as tflops_per_gpu,
        median(mfu) filter (where mfu > 0) as mfu,
        median(tflops_per_gpu * 1e12 / rate) filter (where tflops_per_gpu > 0 and rate > 0) as ratio_flops_per_token,
        median(mfu / rate) filter (where mfu > 0 and rate > 0) as mfu_per_rate,
        median(tflops_per_gpu * 1e12 / mfu) filter (where tflops_per_gpu > 0 and mfu > 0) as implied_peak_flops,
    from kept
    group by run_id
)

select
    m.run_id,
    m.tflops_per_gpu,
    m.mfu,
    coalesce(h.recompute_counted, false) as recompute_counted,
    coalesce(h.flops_attention, 'as_printed') as convention,
    m.ratio_flops_per_token,
    m.mfu_per_rate,
    -- a share of which TFLOP/s counts the second computation is no share of model FLOPs
    case when not coalesce(h.recompute_counted, false) then m.implied_peak_flops end as implied_peak_flops,
from medians as m
left join habits as h using (run_id)
