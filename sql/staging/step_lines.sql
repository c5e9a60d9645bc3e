-- one row per step line of a run, with its final time
-- do not sum steps: several hosts or ranks may print the same step
with

counted as (
    select
        e.rowid as event_row,
        e.source_id,
        e.line,
        e.segment,
        e.format,
        -- a line that counts samples or tokens proves the steps that these make
        case
            when e.step_last is not null then e.step_last
            when e.consumed_samples >= u.unit then e.consumed_samples // u.unit
        end as step,
        e.steps,
        e.step_time_s as duration_s,
        e.elapsed_s,
        case when e.ts_edge in ('begin', 'late') then e.ts_edge else 'end' end as edge,
        e.ts,
        e.ts_quality,
        s.run_id,
        s.log_no,
        s.lines_before + e.line as log_line,
        s.zone,
        s.anchor_ts,
    from events.steps as e
    inner join staging.sources as s using (source_id)
    left join staging.step_units as u using (log_no)
    where s.run_id is not null
),

-- the year that brings the time nearest to the dated lines around it
dated as (
    select
        * exclude (ts),
        case
            when ts is null or ts_quality not in ('logged', 'zone_assumed', 'year_assumed') then null
            when ts_quality <> 'year_assumed' then ts
            else ts + to_years((
                year(anchor_ts) - 1972
                + case
                    when epoch_us(ts + to_years((year(anchor_ts) - 1972)::integer)) - epoch_us(anchor_ts) > 15811200000000 then -1
                    when epoch_us(anchor_ts) - epoch_us(ts + to_years((year(anchor_ts) - 1972)::integer)) > 15811200000000 then 1
                    else 0
                end
            )::integer)
        end as printed_ts,
    from counted
    where step is not null
),

zoned as (
    select
        * exclude (printed_ts),
        case
            when ts_quality = 'logged' or zone = 'UTC' then printed_ts
            else timezone(zone, printed_ts::timestamp)
        end as ts,
    from dated
),

-- what another thread prints may come behind lines of later steps, or twice: the counter has not gone back
kept as (
    select *
    from zoned
    where log_no not in (select log_no from zoned where edge = 'late')
    union all by name
    select *
    from zoned
    where log_no in (select log_no from zoned where edge = 'late')
    qualify edge <> 'late' or step > coalesce(
        max(step) over (
            partition by log_no order by log_line, segment rows between 8 preceding and 1 preceding
        ),
        0
    )
)

select
    run_id,
    event_row,
    log_no,
    log_line,
    source_id,
    line,
    segment,
    -- records carry their own time and arrive out of order; lines are in the order of their log
    case when format in ('goodput_records', 'one_logger', 'otel_spans') then epoch_us(ts) else log_line end as ord,
    step,
    steps,
    duration_s,
    elapsed_s,
    case when edge = 'late' then 'end' else edge end as edge,
    format,
    ts,
    case when ts is null then 'none' else ts_quality end as ts_quality,
from kept
