-- one row per phase of an attempt after its loop: hang, teardown, shutdown, idle while held
-- do not sum: see ledger.intervals
with

-- lines that bear another time than they print
corrected as (
    select distinct source_id, line from staging.stream where clock_offset_s is not null
),

ends as (
    select
        e.*,
        i.incident_id,
        t.source_id as own_source_id,
        t.line as own_line,
        -- the last line that a leaving process stamped
        greatest(coalesce(e.exit_us, e.job_end_us), coalesce(e.job_end_us, e.exit_us)) as left_us,
        c.line is not null as clock_moved,
    from ledger.ends as e
    inner join ledger.incident_ids as i using (run_id, attempt)
    inner join ledger.timeline as t using (run_id, attempt)
    left join corrected as c on c.source_id = e.evidence_source_id and c.line = e.evidence_line
    where e.observed
),

phases as (
    select
        run_id,
        attempt,
        stop_us as start_us,
        detected_us as end_us,
        'hang' as category,
        incident_id,
        case when clock_moved then '‡' else '' end as mark,
        coalesce(evidence_source_id, own_source_id) as source_id,
        coalesce(evidence_line, own_line) as line,
    from ends
    where kind not in ('completed', 'ongoing') and not undated
    union all
    select
        run_id,
        attempt,
        detected_us as start_us,
        release_us as end_us,
        'teardown' as category,
        incident_id,
        case when undated then '†' when clock_moved then '‡' else '' end as mark,
        coalesce(evidence_source_id, own_source_id) as source_id,
        coalesce(evidence_line, own_line) as line,
    from ends
    where kind not in ('completed', 'ongoing')
    union all
    select
        run_id,
        attempt,
        stop_us as start_us,
        least(coalesce(left_us, release_us), release_us) as end_us,
        'shutdown' as category,
        incident_id,
        '' as mark,
        coalesce(exit_source_id, own_source_id) as source_id,
        coalesce(exit_line, own_line) as line,
    from ends
    where kind = 'completed'
    union all
    select
        run_id,
        attempt,
        greatest(left_us, stop_us) as start_us,
        release_us as end_us,
        'idle_held' as category,
        incident_id,
        '' as mark,
        coalesce(exit_source_id, own_source_id) as source_id,
        coalesce(exit_line, own_line) as line,
    from ends
    where kind = 'completed' and left_us is not null
)

select
    p.run_id,
    p.attempt,
    p.start_us,
    p.end_us,
    p.category,
    p.incident_id,
    p.mark,
    p.source_id,
    p.line,
from phases as p
where p.end_us > p.start_us
