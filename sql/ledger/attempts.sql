-- one row per attempt of a run: when it started, how far it came, how it ended
-- do not add gpus over attempts: one allocation may hold several attempts
select
    t.run_id,
    t.attempt,
    coalesce(h.job_id, t.job_id) as job_id,
    coalesce(h.restart, 0) as restart_no,
    -- a launcher may leave out spares, or a host that failed
    least(z.gpus, h.gpus) as gpus,
    t.observed,
    make_timestamptz(h.start_us) as allocated_ts,
    make_timestamptz(e.up_us) as start_ts,
    t.start_estimated,
    make_timestamptz(p.loop_us) as loop_start_ts,
    make_timestamptz(p.first_step_us) as first_step_ts,
    case when p.has_steps then make_timestamptz(p.progress_us) end as last_step_ts,
    make_timestamptz(e.stop_us) as loop_end_ts,
    case when e.kind not in ('completed', 'ongoing') then make_timestamptz(e.detected_us) end as detected_ts,
    make_timestamptz(greatest(coalesce(e.exit_us, e.job_end_us), coalesce(e.job_end_us, e.exit_us))) as exit_ts,
    case when e.kind <> 'ongoing' then make_timestamptz(p.release_us) end as released_ts,
    p.first_step,
    p.last_step,
    case when coalesce(v.restored_source, '') <> 'cold start' then coalesce(nullif(v.restored_step, 0), r.step) end as restored_step,
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
left join ledger.sizes as z on z.run_id = t.run_id and z.attempt = t.attempt
left join ledger.holdings as h on h.run_id = t.run_id and h.holding = t.holding
left join ledger.survival as v on v.run_id = t.run_id and v.attempt = t.attempt
left join ledger.restores as r on r.run_id = t.run_id and r.attempt = t.attempt and not r.cold
