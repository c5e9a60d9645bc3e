-- one row per attempt of a run whose attempts differ in size: the clean step time of attempts of its size
-- do not average over attempts: see ledger.pace for the run
with

widths as (
    select
        t.run_id,
        t.attempt,
        h.gpus,
    from ledger.timeline as t
    inner join ledger.holdings as h using (run_id, holding)
    where h.gpus is not null
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
)

select
    w.run_id,
    w.attempt,
    p.clean_us,
from widths as w
inner join paces as p using (run_id, gpus)
