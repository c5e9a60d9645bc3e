-- one row per run whose FLOPs per token are not those of the source that they name, or of one that counts a second computation
-- law: ledger.flops takes one row of ledger.flops_sources as it is, the first that is model FLOPs, and never both a figure and a reason
select
    f.run_id,
    case
        when s.run_id is null and f.flops_per_token is not null then 'FLOPs per token are of no source'
        when s.recompute_counted then 'FLOPs per token count what is computed a second time'
        when s.flops_per_token <> f.flops_per_token then 'FLOPs per token are not those of their source'
        else 'neither FLOPs per token nor a reason, or both'
    end as what,
    concat(f.source, ': ', f.flops_per_token, ' and ', s.flops_per_token, '; ', f.reason) as example,
from ledger.flops as f
left join ledger.flops_sources as s using (run_id, source)
where (s.run_id is null and f.flops_per_token is not null)
    or s.recompute_counted
    or s.flops_per_token <> f.flops_per_token
    or (f.flops_per_token is null) <> (f.reason is not null)
