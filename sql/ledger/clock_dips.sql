-- one row per attempt, device and time in which its clock was a tenth or more below its own usual, while that of the others was not
-- do not count rows as faults: what held the clock down nobody says; devices that tell reasons have none here (see ledger.throttled_devices)
-- gpu: index or identity of the device on its host
-- first_ts: first sample of it
-- last_ts: last of it
-- clock_ratio: lowest clock of a minute / usual: the clock that a quarter of the minutes of the device in the attempt reaches
with

minutes as (
    select
        run_id,
        attempt,
        host,
        gpu,
        date_trunc('minute', ts) as minute_start,
        avg(value) as clock,
        min(ts) as first_ts,
        max(ts) as last_ts,
    from ledger.device_samples
    where metric = 'sm_clock'
    group by all
),

-- a quarter, so that the usual stays where it is if most of an attempt is slow
usuals as (
    select
        run_id,
        attempt,
        host,
        gpu,
        quantile_cont(clock, 0.75) as usual,
        min(clock) <= 0.9 * usual as has_low,
    from minutes
    group by all
    having usual > 0
),

-- what a device says of itself is better than what its clock does
told as (
    select distinct run_id, attempt, host, gpu
    from ledger.device_hours
    where metric = 'throttled'
),

-- few devices have such a minute
ratios as (
    select
        m.*,
        m.clock / u.usual as clock_ratio,
        -- place among the minutes that were sampled, however far apart
        row_number() over (partition by m.run_id, m.attempt, m.host, m.gpu order by m.minute_start) as place,
    from minutes as m
    inner join usuals as u
        on u.run_id = m.run_id and u.attempt = m.attempt and u.host = m.host and u.gpu is not distinct from m.gpu
    left join told as t
        on t.run_id = m.run_id and t.attempt = m.attempt and t.host = m.host and t.gpu is not distinct from m.gpu
    where u.has_low and t.run_id is null
),

low as (
    select *
    from ratios
    where clock_ratio <= 0.9
),

-- all of them run slower where there is less to do
others as (
    select m.run_id, m.attempt, m.minute_start
    from minutes as m
    inner join usuals as u
        on u.run_id = m.run_id and u.attempt = m.attempt and u.host = m.host and u.gpu is not distinct from m.gpu
    where (m.run_id, m.attempt, m.minute_start) in (select (run_id, attempt, minute_start) from low)
    group by all
    having count(*) >= 4 and median(m.clock / u.usual) > 0.95
),

islands as (
    select
        l.*,
        l.place - row_number() over (partition by l.run_id, l.attempt, l.host, l.gpu order by l.place) as island,
    from low as l
    inner join others as o using (run_id, attempt, minute_start)
)

-- one minute may be a spike
select
    run_id,
    attempt,
    host,
    gpu,
    min(first_ts) as first_ts,
    max(last_ts) as last_ts,
    min(clock_ratio) as clock_ratio,
from islands
group by run_id, attempt, host, gpu, island
having count(*) > 1
