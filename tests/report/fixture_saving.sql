-- What the marts about saves read beside fixture_ledger.sql, as a story tells it; the marts themselves are the SELECTs of sql/marts.
create table seeds.definitions as
select * from (values
    ('training_time_goodput', 'Training-time goodput', 'this ledger'),
    ('productive_share', 'Productive share', 'this ledger'),
    ('ettr', 'Effective training time ratio', 'Kokolis et al. 2025'),
    ('program_goodput', 'Program goodput', 'Google ML productivity goodput')
) as d (definition, title, defined_by);

create table ledger.window_intervals as
select
    run_id, window_start, window_end, attempt, 'active' as part, start_ts, end_ts, gpus, category, layer, held,
    null::varchar as was, incident_id, (gpu_s * 1e6)::hugeint as gpu_us,
from given.cut;

create table ledger.restores as
select run_id, attempt, 1::bigint as step, false as cold, end_ts, epoch(end_ts) - epoch(start_ts) as duration_s
from given.intervals
where category = 'restore';

-- each seventh save fails, and the last one before a failure is never committed
create table marts.saves as
with stalls as (
    select
        *,
        row_number() over w as n,
        lag(end_ts) over w as previous_ts,
        row_number() over (partition by run_id, attempt order by start_ts desc) as from_end,
    from given.intervals
    where category = 'checkpoint_stall'
    window w as (partition by run_id, attempt order by start_ts)
)
select
    run_id,
    attempt,
    case when n % 7 <> 0 or n % 2 = 0 then (epoch(end_ts) - epoch(start_ts)) * (0.6 + (n * 37 % 80) / 100) end as stall_s,
    90.0 as background_s,
    n > 1 as after_save,
    1200::bigint as interval_steps,
    epoch(start_ts) - epoch(previous_ts) as interval_s,
    case when n % 7 = 0 then 'failed' when from_end = 1 and n > 3 then 'never committed' else 'durable' end as outcome,
from stalls;

create table marts.definitions as
select
    run_id, period_start as window_start, period_end as window_end, d.definition, d.title, d.defined_by,
    good / nullif(whole, 0) as value, good as numerator_gpu_s, whole as denominator_gpu_s,
    case when good is null then g_model_reason end as reason,
from (
    select
        *,
        unnest(['training_time_goodput', 'productive_share', 'ettr', 'program_goodput']) as definition,
        unnest([productive_gpu_s, productive_gpu_s, productive_gpu_s + sst_gpu_s, productive_gpu_s * g_model]) as good,
        unnest([capacity_gpu_s - planned_gpu_s, capacity_gpu_s, capacity_gpu_s, productive_gpu_s]) as whole,
    from marts.period
    where run_id <> '(all)'
)
inner join seeds.definitions as d using (definition);
