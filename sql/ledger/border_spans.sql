-- one row per step span with surviving steps that crosses a border of windows, and window: the share of it that lies there
-- do not sum shares over spans: a span that lies in one window alone has no row
-- share: of its productive time; null where it has none
with

placed as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        s.start_ts,
        s.end_ts,
        w.window_start,
        w.window_end,
    from ledger.steps as s
    inner join ledger.windows as w on s.start_ts < w.window_end and s.end_ts > w.window_start
    where s.surviving_steps > 0 and s.window_start is null
)

select
    p.run_id,
    p.attempt,
    p.step_first,
    p.window_start,
    sum(greatest(
        epoch_us(least(i.end_ts, p.end_ts, p.window_end)) - epoch_us(greatest(i.start_ts, p.start_ts, p.window_start)), 0
    ))::double / sum(epoch_us(least(i.end_ts, p.end_ts)) - epoch_us(greatest(i.start_ts, p.start_ts)))::double as share,
from placed as p
inner join ledger.intervals as i
    on i.run_id = p.run_id
    and i.attempt = p.attempt
    and i.category = 'productive'
    and i.part = 'active'
    and i.start_ts < p.end_ts
    and i.end_ts > p.start_ts
group by all
