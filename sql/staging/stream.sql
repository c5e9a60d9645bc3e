-- one row per event of a line that says something about a run: steps, phases, checkpoints, timers, signals
-- do not sum: a line may stand for many steps, and a span may be told twice
with

steps as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host, rank,
        'step' as kind,
        case when ts_edge = 'begin' then 'begin' else 'end' end as edge,
        null::varchar as name,
        step_last as step,
        steps,
        step_time_s as duration_s,
        null::varchar as detail,
        null::double as background_s,
        null::boolean as ok,
    from events.steps
    where step_last is not null
),

-- a line that counts samples or tokens proves the steps that these make
counted_steps as (
    select
        e.source_id, e.line, e.segment, e.format, e.pattern, e.ts_raw, e.ts, e.ts_quality, e.host, e.rank,
        'step' as kind,
        case when e.ts_edge = 'begin' then 'begin' else 'end' end as edge,
        null::varchar as name,
        e.consumed_samples // u.unit as step,
        e.steps,
        e.step_time_s as duration_s,
        null::varchar as detail,
        null::double as background_s,
        null::boolean as ok,
    from events.steps as e
    inner join staging.step_units as u using (source_id)
    where e.step_last is null and e.consumed_samples >= u.unit
),

phases as (
    select
        source_id, line, segment, format, pattern, ts_raw, ts, ts_quality, host, rank,
        'phase' as kind,
        edge,
        phase as name,
        step,
        null::bigint as steps,
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
        null::bigint as steps,
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
        null::bigint as steps,
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
        null::bigint as steps,
        waited_s as duration_s,
        text as detail,
        null::double as background_s,
        null::boolean as ok,
    from events.signals
),

united as (
    from steps
    union all by name
    from counted_steps
    union all by name
    from phases
    union all by name
    from checkpoints
    union all by name
    from timers
    union all by name
    from signals
),

-- the year that brings the time nearest to the dated lines around it
years as (
    select
        u.source_id,
        u.line,
        u.segment,
        u.ts,
        arg_min(
            u.ts + to_years((y.year - 1972)::integer),
            abs(epoch_us(u.ts + to_years((y.year - 1972)::integer)) - epoch_us(s.anchor_ts))
        ) as dated_ts,
    from (select distinct source_id, line, segment, ts from united where ts_quality = 'year_assumed') as u
    inner join staging.sources as s using (source_id)
    cross join lateral (
        select unnest([year(s.anchor_ts) - 1, year(s.anchor_ts), year(s.anchor_ts) + 1]) as year
    ) as y
    group by all
),

timed as (
    select
        u.* exclude (ts, ts_quality, host),
        s.run_id,
        s.job_id,
        s.path,
        coalesce(u.host, s.host) as host,
        case
            when u.ts_quality in ('logged', 'zone_assumed') then u.ts
            when u.ts_quality = 'year_assumed' then y.dated_ts
        end as printed_ts,
        u.ts_quality,
        s.zone,
    from united as u
    inner join staging.sources as s using (source_id)
    left join years as y
        on u.ts_quality = 'year_assumed'
        and y.source_id = u.source_id
        and y.line = u.line
        and y.segment = u.segment
        and y.ts = u.ts
),

final as (
    select
        * exclude (printed_ts, ts_quality, zone),
        case
            when ts_quality = 'logged' or zone = 'UTC' then printed_ts
            else timezone(zone, printed_ts::timestamp)
        end as ts,
        case when printed_ts is null then 'none' else ts_quality end as ts_quality,
        -- records carry their own time and arrive out of order; lines are in the order of their file
        case when format = 'goodput_records' then epoch_us(printed_ts) else line end as ord,
    from timed
)

select * from final
