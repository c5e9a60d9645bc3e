-- one row per interval that is charged to an incident that does not exist, or belongs to another run
-- law: every incident that an interval names is an incident of the same run
select
    v.run_id,
    'an interval names an incident that its run does not have' as what,
    concat(v.category, ' at ', v.start_ts, ': ', v.incident_id) as example,
from ledger.intervals as v
anti join ledger.incidents as i on i.incident_id = v.incident_id and i.run_id = v.run_id
where v.incident_id is not null
