-- one row per input file: what it was taken for, how much of it is understood, and how its clock was read
-- do not sum lines over files of which duplicate_of is set: their content was read elsewhere
-- parsed_share: parsed_lines of lines
-- undated_events: events of the file without a usable time
-- gaps: silences of the file, see marts.silences
-- longest_gap_s: the longest of them; in seconds
-- unknown_templates: shapes of line that no pattern knows
-- top_templates: the three most frequent of them, with their counts
with

dated as (
    select
        source_id,
        min(ts) as first_ts,
        max(ts) as last_ts,
        count_if(ts is null) as undated_events,
    from (
        select source_id, ts from staging.stream
        union all
        select source_id, ts from staging.step_lines
    )
    group by source_id
),

gaps as (
    select source_id, count(*) as gaps, max(silence_s) as longest_gap_s
    from marts.silences
    group by source_id
),

ranked as (
    select
        *,
        row_number() over (partition by source_id order by count desc, template) as place,
    from events.templates
),

templates as (
    select
        source_id,
        count(*) as unknown_templates,
        string_agg(count || ' × ' || template, '; ' order by place) filter (where place <= 3) as top_templates,
    from ranked
    group by source_id
),

final as (
    select
        e.source_id,
        e.path,
        e.format,
        e.format_score,
        e.runner_up,
        e.role,
        s.run_id,
        e.bytes,
        e.lines,
        e.parsed_lines,
        e.unknown_lines,
        e.bad_lines,
        e.parsed_lines / nullif(e.lines, 0) as parsed_share,
        -- a stamp without a year stands in 1972 until a dated line corrects it
        coalesce(d.first_ts, case when year(e.first_ts) > 1972 then e.first_ts end) as first_ts,
        coalesce(d.last_ts, case when year(e.last_ts) > 1972 then e.last_ts end) as last_ts,
        -- a file that prints no time, or only such with an offset, needs no zone
        case when e.zone is null or e.zone = 'logged' then e.zone else coalesce(s.zone_told, e.zone) end as zone,
        c.offset_s as clock_offset_s,
        coalesce(d.undated_events, 0) as undated_events,
        coalesce(g.gaps, 0) as gaps,
        g.longest_gap_s,
        coalesce(t.unknown_templates, 0) as unknown_templates,
        t.top_templates,
        e.duplicate_of,
        e.error,
    from events.sources as e
    left join staging.sources as s using (source_id)
    left join dated as d using (source_id)
    left join gaps as g using (source_id)
    left join ledger.clocks as c using (source_id)
    left join templates as t using (source_id)
)

select * from final
order by path, source_id
