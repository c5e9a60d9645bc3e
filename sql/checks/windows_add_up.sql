-- one row per run, part and category whose windows do not add up to the part of the ledger inside the period
-- law: cutting at windows loses and adds nothing
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

whole as (
    select
        i.run_id,
        i.part,
        i.category,
        sum(
            i.gpus::hugeint
            * (epoch_us(least(i.end_ts, p.period_end)) - epoch_us(greatest(i.start_ts, p.period_start)))
        ) as gpu_us,
    from ledger.intervals as i
    inner join period as p on i.start_ts < p.period_end and i.end_ts > p.period_start
    group by i.run_id, i.part, i.category
),

cut as (
    select run_id, part, category, sum(gpu_us) as gpu_us
    from ledger.window_intervals
    group by run_id, part, category
)

select
    coalesce(w.run_id, c.run_id) as run_id,
    'windows do not add up to the ledger' as what,
    concat(coalesce(w.category, c.category), ': ', coalesce(c.gpu_us, 0), ' of ', coalesce(w.gpu_us, 0), ' GPU-µs') as example,
from whole as w
full join cut as c on c.run_id = w.run_id and c.part = w.part and c.category = w.category
where c.gpu_us is distinct from w.gpu_us
