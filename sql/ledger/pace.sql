-- one row per run: its clean step time, the median over spans that hold nothing but steps
-- do not average over runs: step times of different models do not add up
with

paces as (
    select
        run_id,
        median(step_us)::bigint as clean_us,
        count(*) as clean_spans,
    from ledger.clean_spans
    group by run_id
),

strides as (
    select run_id, max(stride) as stride
    from ledger.spans
    group by run_id
)

select
    s.run_id,
    p.clean_us,
    p.clean_us / 1e6 as clean_step_s,
    coalesce(p.clean_spans, 0) as clean_spans,
    s.stride,
from strides as s
left join paces as p using (run_id)
