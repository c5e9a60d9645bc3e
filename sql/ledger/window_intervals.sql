-- one row per interval and window that it touches: ledger.intervals cut at windows
-- sum gpu_us or gpu_s; rows of all windows add up to the part of ledger.intervals inside the period
with

windows as (
    select
        window_start,
        window_end,
        epoch_us(window_start) as window_start_us,
        epoch_us(window_end) as window_end_us,
    from ledger.windows
),

cut as (
    select
        i.*,
        w.window_start,
        w.window_end,
        greatest(i.start_us, w.window_start_us) as cut_start_us,
        least(i.end_us, w.window_end_us) as cut_end_us,
    from ledger.intervals as i
    inner join windows as w on i.start_us < w.window_end_us and i.end_us > w.window_start_us
)

select
    run_id,
    window_start,
    window_end,
    attempt,
    part,
    make_timestamptz(cut_start_us) as start_ts,
    make_timestamptz(cut_end_us) as end_ts,
    (cut_end_us - cut_start_us) / 1e6 as seconds,
    gpus,
    (cut_end_us - cut_start_us)::hugeint * gpus as gpu_us,
    (cut_end_us - cut_start_us)::hugeint * gpus / 1e6 as gpu_s,
    category,
    was,
    layer,
    charged_to,
    incident_id,
    mark,
    held,
    source_id,
    line,
from cut
