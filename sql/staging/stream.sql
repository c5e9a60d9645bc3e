-- one row per event of a line that says something about a run, steps apart: phases, checkpoints, timers, signals
-- do not sum: a span may be told twice, and a crash prints the same line on every rank
with

phases as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host, rank,
        'phase' as kind,
        edge,
        phase as name,
        step,
        duration_s,
        detail,
        null::double as background_s,
        null::boolean as ok,
    from events.phases
),

checkpoints as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host, rank,
        op as kind,
        edge,
        tier as name,
        step,
        blocking_s as duration_s,
        path as detail,
        background_s,
        ok,
    from events.checkpoints
    where op in ('save', 'load')
),

timers as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host, rank,
        'timer' as kind,
        'span' as edge,
        replace(component, ' ', '-') as name,
        step,
        coalesce(max_s, mean_s) as duration_s,
        null::varchar as detail,
        null::double as background_s,
        null::boolean as ok,
    from events.timers
    where replace(component, ' ', '-') in ('load-checkpoint', 'save-checkpoint', 'evaluate')
),

signals as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host, rank,
        'signal' as kind,
        'point' as edge,
        signal_id as name,
        null::bigint as step,
        waited_s as duration_s,
        text as detail,
        null::double as background_s,
        null::boolean as ok,
    from events.signals
),

united as (
    from phases
    union all by name
    from checkpoints
    union all by name
    from timers
    union all by name
    from signals
),

timed as (
    select
        u.* exclude (ts, ts_quality, host),
        s.run_id,
        s.job_id,
        s.log_no,
        s.lines_before + u.line as log_line,
        s.path,
        coalesce(u.host, s.host) as host,
        case
            when u.ts_quality in ('logged', 'zone_assumed') then u.ts
            -- the year that brings the time nearest to the dated lines around it
            when u.ts_quality = 'year_assumed' then u.ts + to_years((
                year(s.anchor_ts) - 1972
                + case
                    when epoch_us(u.ts + to_years((year(s.anchor_ts) - 1972)::integer)) - epoch_us(s.anchor_ts) > 15811200000000 then -1
                    when epoch_us(s.anchor_ts) - epoch_us(u.ts + to_years((year(s.anchor_ts) - 1972)::integer)) > 15811200000000 then 1
                    else 0
                end
            )::integer)
        end as printed_ts,
        case when u.ts_quality = 'uptime' then u.ts end as since_boot,
        u.ts_quality,
        s.zone,
    from united as u
    inner join staging.sources as s using (source_id)
),

-- seconds since boot are a time where the kernel said when it had booted
anchored as (
    select
        t.* exclude (since_boot, printed_ts, ts_quality),
        coalesce(t.printed_ts, make_timestamptz(b.boot_us + epoch_us(t.since_boot))) as printed_ts,
        case when t.since_boot is not null and b.boot_us is not null then 'anchored' else t.ts_quality end as ts_quality,
    from timed as t
    asof left join staging.boots as b on t.log_no = b.log_no and t.log_line >= b.ord
),

final as (
    select
        * exclude (printed_ts, ts_quality, zone),
        case
            when ts_quality in ('logged', 'anchored') or zone = 'UTC' then printed_ts
            else timezone(zone, printed_ts::timestamp)
        end as ts,
        case when printed_ts is null then 'none' else ts_quality end as ts_quality,
        -- records carry their own time and arrive out of order; lines are in the order of their log
        case
            when format in (select format from events.formats where ordered_by_time) then epoch_us(printed_ts)
            else log_line
        end as ord,
    from anchored
)

select * from final
