-- one row per attempt of a run: when it started, how far it came, how it ended
-- do not add gpus over attempts: one allocation may hold several attempts
select
    t.run_id,
    t.attempt,
    coalesce(h.job_id, t.job_id) as job_id,
    coalesce(h.restart, 0) as restart_no,
    h.gpus,
    t.observed,
    make_timestamptz(h.start_us) as allocated_ts,
    make_timestamptz(p.process_us) as start_ts,
    make_timestamptz(p.loop_us) as loop_start_ts,
    make_timestamptz(p.first_step_us) as first_step_ts,
    make_timestamptz(p.last_progress_us) as last_step_ts,
    make_timestamptz(e.stop_us) as loop_end_ts,
    case when e.kind not in ('completed', 'ongoing') then make_timestamptz(e.detected_us) end as detected_ts,
    make_timestamptz(greatest(coalesce(e.exit_us, e.job_end_us), coalesce(e.job_end_us, e.exit_us))) as exit_ts,
    make_timestamptz(p.release_us) as released_ts,
    p.first_step,
    p.last_step,
    v.restored_step,
    v.restored_source,
    v.survives_to,
    e.kind as end_kind,
    i.incident_id,
    t.source_id,
    t.line,
from ledger.timeline as t
inner join ledger.progress as p using (run_id, attempt)
inner join ledger.ends as e using (run_id, attempt)
inner join ledger.incident_ids as i using (run_id, attempt)
left join ledger.holdings as h on h.run_id = t.run_id and h.holding = t.holding
left join ledger.survival as v using (run_id, attempt)
