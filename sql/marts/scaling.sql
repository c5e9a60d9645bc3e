-- one row per run of a family of runs of one model and sequence length: its throughput against the smallest
-- do not sum: rates of runs of different sizes do not add up
-- family: what the runs have in common, in words
-- tokens_per_s_per_gpu: tokens of surviving steps / productive time of all accelerators
-- efficiency: tokens per second and accelerator / those of the smallest run of the family
-- exposed_comm_share: share of the step in communication under which nothing is computed
select
    null::varchar as family,
    run_id,
    gpus,
    null::double as tokens_per_s_per_gpu,
    null::double as efficiency,
    null::double as exposed_comm_share,
from ledger.runs
where false
