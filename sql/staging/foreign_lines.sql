-- one row per line of a job's own output that tells of another job, as the scheduler named it there
-- do not count as ends: such a line is quoted, and ended nothing in the job whose output quotes it
select distinct e.source_id, e.line
from events.signals as e
inner join staging.sources as s using (source_id)
inner join staging.allocations as a on a.run_id = s.run_id and a.job_id = s.job_id
-- an element of an array bears a number of its own beside that of the array
where e.job_id <> s.job_id and regexp_full_match(e.job_id || s.job_id, '\d+')
