-- one row per run or interval whose parts do not add up to accelerators × time, in integer microseconds
-- law: gpu_us is gpus × microseconds; active and missing parts together are nominal accelerators × life
with

products as (
    select
        run_id,
        'gpu_us is not gpus × microseconds' as what,
        concat(category, ' ', start_ts, ': ', gpu_us, ' for ', gpus, ' accelerators') as example,
    from ledger.intervals
    where gpu_us is distinct from gpus::hugeint * (epoch_us(end_ts) - epoch_us(start_ts))
),

totals as (
    select
        i.run_id,
        sum(i.gpu_us) as gpu_us,
        any_value(r.gpus::hugeint * (epoch_us(r.life_end_ts) - epoch_us(r.life_start_ts))) as nominal_gpu_us,
    from ledger.intervals as i
    inner join ledger.runs as r using (run_id)
    where i.part in ('active', 'missing')
    group by i.run_id
),

stretches as (
    select
        i.run_id,
        i.start_ts,
        sum(i.gpus) as gpus,
        any_value(r.gpus) as nominal_gpus,
    from ledger.intervals as i
    inner join ledger.runs as r using (run_id)
    where i.part in ('active', 'missing')
    group by i.run_id, i.start_ts
),

broken as (
    from products
    union all
    select
        run_id,
        'active and missing parts do not fill the capacity' as what,
        concat(gpu_us, ' of ', nominal_gpu_us, ' GPU-µs') as example,
    from totals
    where gpu_us <> nominal_gpu_us
    union all
    select
        run_id,
        'held and missing accelerators are not the nominal ones' as what,
        concat(start_ts, ': ', gpus, ' of ', nominal_gpus) as example,
    from stretches
    where gpus <> nominal_gpus
)

select * from broken
