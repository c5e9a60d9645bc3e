-- one row per step span and part of it: gap, warm-up, steps
-- do not sum: stalls and lost work lie on top; see ledger.intervals
with

edges as (
    select
        e.*,
        s.gap_us,
        s.warmup_us,
        s.unproven,
        s.ts_quality,
        s.source_id,
        s.line,
        i.previous_incident_id,
    from ledger.step_edges as e
    inner join ledger.step_times as s using (run_id, attempt, step_first)
    inner join ledger.incident_ids as i using (run_id, attempt)
),

parts as (
    select
        run_id,
        attempt,
        case when gap_us > 0 then gap_end_us else start_us end as start_us,
        end_us,
        'productive' as category,
        80 as precedence,
        null::varchar as incident_id,
        concat(case when unproven then '†' end, case when ts_quality = 'none' then '†' end) as marks,
        source_id,
        line,
    from edges
    union all
    select
        run_id,
        attempt,
        start_us,
        gap_end_us as end_us,
        'loop_gap' as category,
        75 as precedence,
        null::varchar as incident_id,
        '' as marks,
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
        85 as precedence,
        previous_incident_id as incident_id,
        '' as marks,
        source_id,
        line,
    from edges
    where warmup_us > 0
    union all
    -- whatever else happened between the first step and the last save of the loop
    select
        p.run_id,
        p.attempt,
        p.loop_us as start_us,
        p.progress_us as end_us,
        'loop_gap' as category,
        74 as precedence,
        null::varchar as incident_id,
        '' as marks,
        t.source_id,
        t.line,
    from ledger.progress as p
    inner join ledger.timeline as t using (run_id, attempt)
    where p.has_steps
)

select
    run_id,
    attempt,
    start_us,
    end_us,
    category,
    precedence,
    incident_id,
    case when marks like '%†%' then '†' else '' end as mark,
    source_id,
    line,
from parts
where end_us > start_us
