-- one row per source and stretch of time with lines or silent
-- do not sum over sources: they cover the same time
-- state: lines or silent
with

dated as (
    select source_id, min(ts) as first_ts, max(ts) as last_ts
    from (
        select source_id, ts from staging.stream
        union all
        select source_id, ts from staging.step_lines
        union all
        select source_id, unnest([submit_ts, start_ts, end_ts]) as ts from staging.allocations
    )
    where ts is not null
    group by source_id
),

-- accounting and other tables are not in the stream of lines: their own span stands for them
spans as (
    select
        e.source_id,
        s.path,
        s.run_id,
        -- a stamp without a year stands in 1972 until a dated line corrects it
        coalesce(d.first_ts, case when year(e.first_ts) > 1972 then e.first_ts end) as first_ts,
        coalesce(d.last_ts, case when year(e.last_ts) > 1972 then e.last_ts end) as last_ts,
    from events.sources as e
    inner join staging.sources as s using (source_id)
    left join dated as d using (source_id)
    where e.duplicate_of is null
),

borders as (
    select source_id, first_ts as ts, 1 as place, 'lines' as state from spans where first_ts is not null
    union all
    select source_id, start_ts as ts, 2 as place, 'silent' as state from marts.silences
    union all
    select source_id, end_ts as ts, 3 as place, 'lines' as state from marts.silences
),

stretches as (
    select
        source_id,
        ts as start_ts,
        lead(ts) over (partition by source_id order by ts, place) as next_ts,
        state,
    from borders
),

final as (
    select
        t.source_id,
        s.path,
        s.run_id,
        t.start_ts,
        coalesce(t.next_ts, s.last_ts) as end_ts,
        t.state,
    from stretches as t
    inner join spans as s using (source_id)
    where coalesce(t.next_ts, s.last_ts) > t.start_ts
)

select * from final
order by path, source_id, start_ts
