-- one row per event of a line that says something about a run, steps apart: phases, checkpoints, timers, signals
-- do not sum: a span may be told twice, and a crash prints the same line on every rank
-- what an output quotes about another job is left out
-- clock_offset_s: what was taken off its stamp, since the clock of its host runs ahead; null where nothing was
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

-- a clock of all evaluations since the run began: what it goes on by is the last one
evaluations as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host, rank,
        'timer' as kind,
        'span' as edge,
        'evaluate' as name,
        step,
        mean_s - lag(mean_s) over (partition by source_id, rank order by line, segment) as duration_s,
        null::varchar as detail,
        null::double as background_s,
        null::boolean as ok,
    from events.timers
    where component = 'clock of evaluations'
    qualify duration_s > 0
),

signals as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host,
        -- an agent is none of the ranks that it started
        case when task is null or source_id not in (from staging.agents) then rank end as rank,
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
    from evaluations
    union all by name
    from signals
),

-- clocks that are off by more than their stamps could be
moving as (
    select clock, offset_s from staging.clock_offsets where moves
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
            when u.ts_quality = 'year_assumed' then u.ts + to_years((y.year - 1972)::integer)
        end as printed_ts,
        case when u.ts_quality = 'uptime' then u.ts end as since_boot,
        u.ts_quality,
        -- daemons of the scheduler go by the clock of the host, and not of the container that they print beside
        case when u.format in (select format from events.formats where by_host_clock) then s.host_zone else s.zone end as zone,
        -- a scheduler tells of hosts by its own clock
        case when coalesce(s.role, '') <> 'scheduler' then c.offset_s end as clock_offset_s,
    from united as u
    inner join staging.sources as s using (source_id)
    anti join (from staging.foreign_lines where names = 'job') as f on f.source_id = u.source_id and f.line = u.line
    left join staging.years as y
        on y.source_id = u.source_id and u.ts_quality = 'year_assumed' and u.line >= y.line and u.line < y.next_line
    left join moving as c on c.clock = coalesce(split_part(coalesce(u.host, s.host), '.', 1), 'log ' || s.log)
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
        * exclude (printed_ts, ts_quality, zone, clock_offset_s),
        case
            when ts_quality in ('logged', 'anchored') or zone = 'UTC' then printed_ts
            else timezone(zone, printed_ts::timestamp)
        end - to_microseconds(coalesce((clock_offset_s * 1000000)::bigint, 0)) as ts,
        case when printed_ts is not null then clock_offset_s end as clock_offset_s,
        case when printed_ts is null then 'none' else ts_quality end as ts_quality,
        -- records carry their own time and arrive out of order; lines, and what stands in one line, are in the order of their log
        case
            when format in (select format from events.formats where ordered_by_time) then epoch_us(printed_ts)
            else line_order(log_line, segment)
        end as ord,
    from anchored
)

select * from final
