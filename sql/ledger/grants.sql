-- one row per stretch of a holding in which the scheduler gave it the same accelerators
-- do not add gpus over rows of one run that overlap: a run may hold several allocations at once
-- nodes: hosts of that stretch; null where no record of it names them
with

resizes as (
    select
        h.run_id,
        h.holding,
        epoch_us(a.start_ts) as start_us,
        a.gpus,
        a.nodes,
    from ledger.holdings as h
    inner join staging.allocations as a
        on a.run_id = h.run_id and a.job_id = h.job_id and a.cluster is not distinct from h.cluster
    where a.resized and h.from_accounting and epoch_us(a.start_ts) > h.start_us and epoch_us(a.start_ts) < h.end_us
),

-- the size in the beginning is that of the first record
first_sizes as (
    select
        h.run_id,
        h.holding,
        a.gpus,
        a.nodes,
    from ledger.holdings as h
    inner join staging.allocations as a
        on a.source_id = h.source_id and a.line = h.line
        -- a document may tell of many jobs, and of all sizes of one, on a single line
        and a.run_id = h.run_id and a.job_id = h.job_id and a.restart = h.restart
    where h.from_accounting and not coalesce(a.resized, false)
),

sized as (
    select
        h.run_id,
        h.holding,
        h.start_us,
        coalesce(f.gpus, h.gpus) as gpus,
        f.nodes,
    from ledger.holdings as h
    left join first_sizes as f using (run_id, holding)
    union all
    from resizes
)

select
    s.run_id,
    s.holding,
    s.start_us,
    coalesce(lead(s.start_us) over (partition by s.run_id, s.holding order by s.start_us), h.end_us) as end_us,
    coalesce(s.gpus, h.gpus) as gpus,
    s.nodes,
from sized as s
inner join ledger.holdings as h using (run_id, holding)
