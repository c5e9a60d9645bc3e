-- The ten incidents that cost most, with the line that proves each cause.
select
    incident_id,
    run_id,
    kind,
    title,
    charged_to,
    owner,
    at_ts,
    round(total_gpu_s / 3600, 1) as gpu_hours,
    lost_steps,
    confidence || mark as confidence,
    host,
    evidence,
    evidence_text,
from marts.incidents
where kind not in ('completed', 'ongoing')
order by total_gpu_s desc, incident_id
limit 10
