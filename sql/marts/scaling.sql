-- one row per run of a family of runs of one model and sequence length that differ in size: its throughput against the smallest
-- do not sum: rates of runs of different sizes do not add up
-- family: the model and the length of its sequences, in words
-- tokens_per_s_per_gpu: tokens of surviving steps / productive time of all accelerators
-- efficiency: tokens per second and accelerator / those of the smallest run of the family
-- exposed_comm_share: share of the step in communication under which nothing is computed
with

-- windows weigh as their productive time
rates as (
    select
        e.run_id,
        sum(e.tokens_per_s_per_gpu * e.productive_gpu_s) / sum(e.productive_gpu_s) as tokens_per_s_per_gpu,
        sum(e.exposed_comm_share * e.productive_gpu_s)
            / sum(case when e.exposed_comm_share is not null then e.productive_gpu_s end) as exposed_comm_share,
    from marts.efficiency as e
    where e.tokens_per_s_per_gpu > 0 and e.productive_gpu_s > 0
    group by e.run_id
),

members as (
    select
        f.family,
        r.run_id,
        r.gpus,
        t.tokens_per_s_per_gpu,
        t.exposed_comm_share,
        first_value(t.tokens_per_s_per_gpu) over (partition by f.family order by r.gpus, r.run_id) as smallest_rate,
        min(r.gpus) over w < max(r.gpus) over w as differ,
    from ledger.families as f
    inner join ledger.runs as r using (run_id)
    inner join rates as t using (run_id)
    window w as (partition by f.family)
)

select
    family,
    run_id,
    gpus,
    tokens_per_s_per_gpu,
    tokens_per_s_per_gpu / smallest_rate as efficiency,
    exposed_comm_share,
from members
where differ
order by family, gpus, run_id
