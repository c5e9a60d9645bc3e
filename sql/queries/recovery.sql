-- How long each interruption took from the fault to the first new step, phase by phase, in seconds.
with

phases as (
    select
        incident_id,
        title,
        epoch(coalesce(fault_ts, last_progress_ts)) as fault_s,
        epoch(detected_ts) as detected_s,
        epoch(released_ts) as released_s,
        epoch(allocated_ts) as allocated_s,
        epoch(processes_up_ts) as up_s,
        epoch(restored_ts) as restored_s,
        epoch(first_step_ts) as first_step_s,
        epoch(caught_up_ts) as caught_up_s,
    from marts.incidents
    where kind not in ('completed', 'ongoing')
)

select
    incident_id,
    title,
    round(detected_s - fault_s, 1) as detection_s,
    round(released_s - detected_s, 1) as teardown_s,
    round(allocated_s - released_s, 1) as waiting_s,
    round(up_s - allocated_s, 1) as provisioning_s,
    round(restored_s - up_s, 1) as start_and_load_s,
    round(first_step_s - restored_s, 1) as first_step_s,
    round(caught_up_s - first_step_s, 1) as catching_up_s,
from phases
order by fault_s, incident_id
