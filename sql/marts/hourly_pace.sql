-- one row per run and UTC hour of the period with step lines or a restart: how long its steps took, and how often it began again
-- do not average over hours or runs: medians do not add up, and models differ; restarts may be added
-- hour_ts: begin of the hour
-- start_ts: begin of the first of its step lines, not before the hour
-- end_ts: end of the last of them
-- step_lines: step lines that end in the hour
-- step_p10_s: nine of ten step lines show a longer step; in seconds
-- step_median_s: half of the step lines show a longer step; in seconds
-- step_p90_s: one of ten step lines shows a longer step; in seconds
-- mfu_p10: nine of ten step lines show a higher MFU
-- mfu_median: half of the step lines show a higher MFU
-- mfu_p90: one of ten step lines shows a higher MFU
-- restarts: attempts after the first one that began in the hour
-- first_restart_ts: when the first of them began
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

lines as (
    select
        *,
        -- a line that ends on the hour belongs to the one before
        (epoch_us(end_ts) - 1) // 3600000000 as hour_no,
    from marts.step_pace
),

paces as (
    select
        run_id,
        hour_no,
        greatest(min(start_ts), make_timestamptz(hour_no * 3600000000)) as start_ts,
        max(end_ts) as end_ts,
        count(*) as step_lines,
        quantile_cont(step_s, 0.1) as step_p10_s,
        median(step_s) as step_median_s,
        quantile_cont(step_s, 0.9) as step_p90_s,
        quantile_cont(mfu, 0.1) as mfu_p10,
        median(mfu) as mfu_median,
        quantile_cont(mfu, 0.9) as mfu_p90,
    from lines
    group by run_id, hour_no
),

begun as (
    select
        a.run_id,
        epoch_us(a.begin_ts) // 3600000000 as hour_no,
        count(*) as restarts,
        min(a.begin_ts) as first_restart_ts,
    from (
        select run_id, attempt, coalesce(start_ts, loop_start_ts, first_step_ts) as begin_ts
        from ledger.attempts
    ) as a
    inner join period as p on a.begin_ts >= p.period_start and a.begin_ts < p.period_end
    where a.attempt > 1
    group by all
),

final as (
    select
        run_id,
        make_timestamptz(hour_no * 3600000000) as hour_ts,
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
    full join begun as b using (run_id, hour_no)
)

select * from final
order by run_id, hour_ts
