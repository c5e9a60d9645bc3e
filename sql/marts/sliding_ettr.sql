-- one row per run and end of an hour at which the share of good time in that hour changes its slope: between two rows it is a straight line
-- do not average rows: they are not evenly spaced; the least and the greatest hour of the run are among them
-- hour_end_ts: end of the hour
-- good_gpu_s: time in that hour of steps that survived, at nominal size; in GPU-seconds
-- hour_gpu_s: the hour at nominal size; in GPU-seconds
-- value: good_gpu_s / hour_gpu_s
with

lives as (
    select run_id, gpus, epoch_us(life_start_ts) as life_start_us, epoch_us(life_end_ts) as life_end_us
    from ledger.runs
),

good as (
    select
        run_id,
        start_us,
        end_us,
        category in ('productive', 'data_stall', 'loop_gap') as is_good,
    from ledger.intervals
    where part = 'active'
),

summed as (
    select
        *,
        coalesce(sum(case when is_good then end_us - start_us else 0 end) over (
            partition by run_id order by start_us rows between unbounded preceding and 1 preceding
        ), 0) as before_us,
    from good
),

ends as (
    select g.run_id, g.start_us as hour_end_us from good as g
    union
    select g.run_id, g.start_us + 3600000000 from good as g
    union
    select l.run_id, l.life_end_us from lives as l
    union
    select l.run_id, l.life_start_us + 3600000000 from lives as l
),

whole as (
    select
        e.run_id,
        e.hour_end_us,
        e.hour_end_us - 3600000000 as hour_start_us,
        l.gpus,
    from ends as e
    inner join lives as l using (run_id)
    where e.hour_end_us <= l.life_end_us and e.hour_end_us - 3600000000 >= l.life_start_us
),

measured as (
    select
        w.*,
        b.before_us + case when b.is_good then least(w.hour_end_us, b.end_us) - b.start_us else 0 end
            - a.before_us - case when a.is_good then least(w.hour_start_us, a.end_us) - a.start_us else 0 end as good_us,
    from whole as w
    asof inner join summed as b on b.run_id = w.run_id and w.hour_end_us >= b.start_us
    asof inner join summed as a on a.run_id = w.run_id and w.hour_start_us >= a.start_us
),

final as (
    select
        run_id,
        make_timestamptz(hour_end_us) as hour_end_ts,
        good_us::hugeint * gpus / 1e6 as good_gpu_s,
        3600.0 * gpus as hour_gpu_s,
        good_us / 3600e6 as value,
    from measured
)

select * from final
order by run_id, hour_end_ts
