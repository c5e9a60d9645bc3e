-- one row per step span, or part of one, whose steps are not in the final state, and per loop that stopped inside a step
-- do not sum steps: a span may be lost in part
with

-- the next attempt may restore a step that only its save tells of
restored as (
    select
        run_id,
        attempt,
        lead(restored_step) over (partition by run_id, training order by attempt) as restored_step,
    from ledger.survival
    qualify survives_to = last_step
),

-- a save after the last step line, which the next attempt restored, is not lost
kept as (
    select
        e.run_id,
        e.attempt,
        min(s.start_us) as start_us,
        max(s.end_us) as end_us,
    from ledger.ends as e
    inner join restored as v using (run_id, attempt)
    inner join ledger.stalls as s using (run_id, attempt)
    where s.category = 'checkpoint_stall' and s.start_us >= e.progress_us and s.after_step <= v.restored_step
    group by all
),

-- a save or an evaluation after a last step that is lost goes with that step
heads as (
    select
        e.run_id,
        e.attempt,
        l.incident_id,
        max(s.end_us) as end_us,
    from ledger.ends as e
    inner join ledger.lost_spans as l
        on l.run_id = e.run_id and l.attempt = e.attempt and l.step_last = e.last_step
    inner join ledger.stalls as s on s.run_id = e.run_id and s.attempt = e.attempt
    where s.category in ('checkpoint_stall', 'evaluation') and s.start_us >= e.progress_us and s.after_step <= e.last_step
    group by all
),

tails as (
    select
        e.*,
        case when k.start_us is not null then least(k.start_us, e.stop_us) end as saved_us,
        greatest(e.progress_us, coalesce(least(coalesce(k.end_us, h.end_us), e.stop_us), e.progress_us)) as goes_on_us,
        h.incident_id as head_incident_id,
    from ledger.ends as e
    left join kept as k using (run_id, attempt)
    left join heads as h using (run_id, attempt)
),

-- the step during which the loop stopped left no line
partial as (
    select
        e.run_id,
        e.attempt,
        unnest([e.progress_us, e.goes_on_us]) as start_us,
        unnest([coalesce(e.saved_us, e.goes_on_us), e.stop_us]) as end_us,
        coalesce(e.evidence_source_id, t.source_id) as source_id,
        coalesce(e.evidence_line, t.line) as line,
        unnest([coalesce(e.head_incident_id, i.incident_id), i.incident_id]) as incident_id,
    from tails as e
    inner join ledger.timeline as t using (run_id, attempt)
    inner join ledger.incident_ids as i using (run_id, attempt)
    where e.has_steps and e.stop_us > e.progress_us
)

select
    run_id,
    attempt,
    head_end_us as start_us,
    end_us,
    'lost_work' as category,
    incident_id,
    '' as mark,
    source_id,
    line,
from ledger.lost_spans
where end_us > head_end_us
union all
select
    run_id,
    attempt,
    kept_end_us as start_us,
    head_end_us as end_us,
    'lost_work' as category,
    head_incident_id as incident_id,
    '' as mark,
    source_id,
    line,
from ledger.lost_spans
where head_end_us > kept_end_us
union all
select
    p.run_id,
    p.attempt,
    p.start_us,
    p.end_us,
    'lost_work' as category,
    p.incident_id,
    case when e.undated then '†' else '' end as mark,
    p.source_id,
    p.line,
from partial as p
inner join ledger.ends as e using (run_id, attempt)
where p.end_us > p.start_us
