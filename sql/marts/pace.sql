-- one row per run and stretch of the period with step lines or a restart: how long its steps took, and how often it began again
-- do not average over stretches or runs: medians do not add up, and models differ; restarts may be added
-- a stretch is an hour; where the step lines of all runs span half a day or less a quarter of one, and five minutes of three hours
-- bin_ts: begin of the stretch
-- bin_s: length of the stretch; in seconds
-- start_ts: begin of the first of its step lines, not before the stretch
-- end_ts: end of the last of them
-- step_lines: step lines that end in the stretch
-- step_p10_s: nine of ten step lines show a longer step; in seconds
-- step_median_s: half of the step lines show a longer step; in seconds
-- step_p90_s: one of ten step lines shows a longer step; in seconds
-- mfu_p10: nine of ten step lines show a higher MFU
-- mfu_median: half of the step lines show a higher MFU
-- mfu_p90: one of ten step lines shows a higher MFU
-- restarts: attempts after the first one that began in the stretch
-- first_restart_ts: when the first of them began
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

bins as (
    select
        case
            when epoch_us(max(end_ts)) - epoch_us(min(start_ts)) <= 10800000000 then 300000000
            when epoch_us(max(end_ts)) - epoch_us(min(start_ts)) <= 43200000000 then 900000000
            else 3600000000
        end as bin_us,
    from marts.step_pace
),

lines as (
    select
        s.*,
        -- a line that ends on the hour belongs to the one before
        (epoch_us(s.end_ts) - 1) // b.bin_us as bin_no,
        b.bin_us,
    from marts.step_pace as s
    cross join bins as b
),

paces as (
    select
        run_id,
        bin_no,
        greatest(min(start_ts), make_timestamptz(bin_no * any_value(bin_us))) as start_ts,
        max(end_ts) as end_ts,
        count(*) as step_lines,
        quantile_cont(step_s, 0.1) as step_p10_s,
        median(step_s) as step_median_s,
        quantile_cont(step_s, 0.9) as step_p90_s,
        quantile_cont(mfu, 0.1) as mfu_p10,
        median(mfu) as mfu_median,
        quantile_cont(mfu, 0.9) as mfu_p90,
    from lines
    group by run_id, bin_no
),

begun as (
    select
        a.run_id,
        epoch_us(a.begin_ts) // b.bin_us as bin_no,
        count(*) as restarts,
        min(a.begin_ts) as first_restart_ts,
    from (
        select run_id, attempt, coalesce(start_ts, loop_start_ts, first_step_ts) as begin_ts
        from ledger.attempts
    ) as a
    inner join period as p on a.begin_ts >= p.period_start and a.begin_ts < p.period_end
    cross join bins as b
    where a.attempt > 1
    group by all
),

final as (
    select
        run_id,
        make_timestamptz(bin_no * n.bin_us) as bin_ts,
        n.bin_us / 1e6 as bin_s,
        p.start_ts,
        p.end_ts,
        coalesce(p.step_lines, 0) as step_lines,
        p.step_p10_s,
        p.step_median_s,
        p.step_p90_s,
        p.mfu_p10,
        p.mfu_median,
        p.mfu_p90,
        coalesce(b.restarts, 0) as restarts,
        b.first_restart_ts,
    from paces as p
    full join begun as b using (run_id, bin_no)
    cross join bins as n
)

select * from final
order by run_id, bin_ts
