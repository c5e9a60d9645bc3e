-- one row per attempt, host, device and kind of evidence that it was throttled while steps were made; of dips one row each
-- do not count rows as faults: a device may be told of by lines and by its clock
-- gpu: index or identity of the device on its host; null where the line names none
-- evidence: line (a monitor or the kernel says so), sample (the device says that a fault holds its clock down) clock (a tenth or more below the median of the attempt's devices in the same hour) or dip (the same below its own usual clock, for minutes; inferred, since it tells no reason)
-- first_ts: first evidence
-- last_ts: last evidence
-- clock_ratio: lowest hourly clock / median of the attempt's devices, of a dip lowest clock of a minute / its usual; null where a line or a sample says so
with

lines as (
    select
        s.run_id,
        split_part(s.host, '.', 1) as host,
        split_part(s.path, '/', 1) as folder,
        null::varchar as gpu,
        s.ts,
    from staging.stream as s
    where s.kind = 'signal'
        and s.ts is not null
        and s.host is not null
        and s.name in (select signal_id from seeds.signals where cause = 'power_thermal' and weight <> 'noise')
),

loops as (
    select run_id, attempt, first_step_us, progress_us, list_transform(nodes, lambda n: split_part(n, '.', 1)) as hosts
    from ledger.progress
    where has_steps
),

told as (
    select l.run_id, l.attempt, s.host, s.gpu, min(s.ts) as first_ts, max(s.ts) as last_ts
    from lines as s
    inner join loops as l on epoch_us(s.ts) between l.first_step_us and l.progress_us
    where list_contains(l.hosts, s.host) or l.hosts is null and coalesce(s.run_id, s.folder) = l.run_id
    group by all
),

-- one sample may be a spike
told_by_device as (
    select
        run_id,
        attempt,
        host,
        gpu,
        min(first_fault_ts) as first_ts,
        max(last_fault_ts) as last_ts,
    from ledger.device_hours
    where metric = 'throttled' and first_fault_ts is not null
    group by all
    having sum(value * samples) > 1.5
),

clocks as (
    select
        *,
        value / nullif(median(value) over (partition by run_id, attempt, hour_start), 0) as clock_ratio,
        count(*) over (partition by run_id, attempt, hour_start) as devices,
    from ledger.device_hours
    where metric = 'sm_clock'
),

slow_clocks as (
    select
        run_id,
        attempt,
        host,
        gpu,
        min(first_ts) as first_ts,
        max(last_ts) as last_ts,
        min(clock_ratio) as clock_ratio,
    from clocks
    where devices >= 4 and clock_ratio <= 0.9
    group by all
)

select run_id, attempt, host, gpu, 'line' as evidence, first_ts, last_ts, null::double as clock_ratio
from told
union all by name
select run_id, attempt, host, gpu, 'clock' as evidence, first_ts, last_ts, clock_ratio
from slow_clocks
union all by name
select run_id, attempt, host, gpu, 'sample' as evidence, first_ts, last_ts, null::double as clock_ratio
from told_by_device
union all by name
select run_id, attempt, host, gpu, 'dip' as evidence, first_ts, last_ts, clock_ratio
from ledger.clock_dips
