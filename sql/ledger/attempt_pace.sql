-- one row per attempt of a run whose attempts differ in size: the clean step time of its size, or scaled from the next size
-- do not average over attempts: see ledger.pace for the run
with

widths as (
    select run_id, attempt, gpus
    from ledger.sizes
    where gpus is not null
),

-- another size makes another step time
resized as (
    select run_id
    from widths
    group by run_id
    having count(distinct gpus) > 1
),

paces as (
    select
        w.run_id,
        w.gpus,
        median(c.step_us)::bigint as clean_us,
    from ledger.clean_spans as c
    inner join widths as w using (run_id, attempt)
    where w.run_id in (select run_id from resized)
    group by all
),

-- of a size without a clean span: the same batch takes longer by as much as there are fewer accelerators than in the next size
scaled as (
    select
        w.run_id,
        w.attempt,
        arg_min(p.clean_us * p.gpus // w.gpus, (abs(p.gpus - w.gpus), p.gpus)) as clean_us,
    from widths as w
    inner join paces as p using (run_id)
    where w.gpus > 0
    group by all
)

select
    w.run_id,
    w.attempt,
    coalesce(p.clean_us, s.clean_us)::bigint as clean_us,
from widths as w
inner join scaled as s using (run_id, attempt)
left join paces as p on p.run_id = w.run_id and p.gpus = w.gpus
