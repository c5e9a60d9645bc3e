-- one row per stretch of consecutive steps, and per gap and warm-up inside it
-- do not sum: stalls and lost work lie on top; see ledger.intervals
-- precedence: strength where it is not that of the category, and null otherwise
with

-- spans that follow each other without a hole are one claim; the line of each piece is found by its time
stretches as (
    select
        run_id,
        attempt,
        min(start_us) as start_us,
        max(end_us) as end_us,
        max(end_us) - min(start_us) = sum(end_us - start_us) as is_solid,
        coalesce(bool_or(unproven), false) or bool_or(ts_quality in ('none', 'derived', 'anchored')) as estimated,
        arg_min(source_id, (start_us, step_first)) as source_id,
        arg_min(line, (start_us, step_first)) as line,
    from ledger.step_times
    group by all
),

edges as (
    select
        e.*,
        s.gap_us,
        s.warmup_us,
        s.source_id,
        s.line,
        i.previous_incident_id,
    from ledger.step_edges as e
    inner join ledger.step_times as s using (run_id, attempt, step_first)
    inner join ledger.incident_ids as i using (run_id, attempt)
    where s.gap_us > 0 or s.warmup_us > 0
),

parts as (
    select
        run_id,
        attempt,
        start_us,
        end_us,
        'productive' as category,
        null::integer as precedence,
        null::varchar as incident_id,
        case when estimated then '†' else '' end as mark,
        source_id,
        line,
    from stretches
    where is_solid
    union all
    select
        s.run_id,
        s.attempt,
        s.start_us,
        s.end_us,
        'productive' as category,
        null::integer as precedence,
        null::varchar as incident_id,
        case when t.estimated then '†' else '' end as mark,
        s.source_id,
        s.line,
    from stretches as t
    inner join ledger.step_times as s using (run_id, attempt)
    where not t.is_solid
    union all
    -- a gap that was measured against the printed step time stands above the steps around it
    select
        run_id,
        attempt,
        start_us,
        gap_end_us as end_us,
        'loop_gap' as category,
        82 as precedence,
        null::varchar as incident_id,
        '' as mark,
        source_id,
        line,
    from edges
    where gap_us > 0
    union all
    select
        run_id,
        attempt,
        gap_end_us as start_us,
        warmup_end_us as end_us,
        'warmup' as category,
        null::integer as precedence,
        previous_incident_id as incident_id,
        '' as mark,
        source_id,
        line,
    from edges
    where warmup_us > 0
    union all
    -- whatever else happened between the first step and the last
    select
        p.run_id,
        p.attempt,
        p.loop_us as start_us,
        p.progress_us as end_us,
        'loop_gap' as category,
        74 as precedence,
        null::varchar as incident_id,
        '' as mark,
        t.source_id,
        t.line,
    from ledger.progress as p
    inner join ledger.timeline as t using (run_id, attempt)
    where p.has_steps
)

select *
from parts
where end_us > start_us
