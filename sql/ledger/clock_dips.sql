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
    select run_id, attempt, host, gpu, quantile_cont(clock, 0.75) as usual
    from minutes
    group by all
),

ratios as (
    select
        m.*,
        m.clock / u.usual as clock_ratio,
        -- place among the minutes that were sampled, however far apart
        row_number() over (partition by m.run_id, m.attempt, m.host, m.gpu order by m.minute_start) as place,
    from minutes as m
    inner join usuals as u
        on u.run_id = m.run_id and u.attempt = m.attempt and u.host = m.host and u.gpu is not distinct from m.gpu
    where u.usual > 0
),

-- all of them run slower where there is less to do
others as (
    select run_id, attempt, minute_start
    from ratios
    where (run_id, attempt, minute_start) in (select (run_id, attempt, minute_start) from ratios where clock_ratio <= 0.9)
    group by all
    having count(*) >= 4 and median(clock_ratio) > 0.95
),

low as (
    select
        r.*,
        r.place - row_number() over (partition by r.run_id, r.attempt, r.host, r.gpu order by r.place) as island,
    from ratios as r
    inner join others as o using (run_id, attempt, minute_start)
    -- what a device says of itself is better than what its clock does
    left join (
        select distinct run_id, attempt, host, gpu
        from ledger.device_hours
        where metric = 'throttled'
    ) as t on t.run_id = r.run_id and t.attempt = r.attempt and t.host = r.host and t.gpu is not distinct from r.gpu
    where r.clock_ratio <= 0.9 and t.run_id is null
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
from low
group by run_id, attempt, host, gpu, island
having count(*) > 1
