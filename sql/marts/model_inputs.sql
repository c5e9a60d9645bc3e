-- one row per run: what its MFU is computed from, FLOPs of a token and peak of an accelerator, and where each comes from
-- do not sum: each run has a model and accelerators of its own
select
    r.run_id,
    f.flops_per_token,
    f.source,
    f.convention,
    f.proof,
    f.other_source,
    f.other_flops_per_token,
    f.disagreement,
    f.reason,
    coalesce(p.recompute_counted, false) as recompute_counted,
    r.gpu_model,
    d.device,
    coalesce(d.precision, 'bf16') as precision,
    r.peak_flops_per_gpu,
    r.peak_source,
    p.mfu as printed_mfu,
    p.tflops_per_gpu * 1e12 / r.peak_flops_per_gpu as printed_share,
from ledger.runs as r
left join ledger.flops as f using (run_id)
left join ledger.device_peaks as d using (run_id)
left join ledger.printed_rates as p using (run_id)
order by r.run_id
