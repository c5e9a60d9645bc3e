-- one row per verdict on an incident that the ledger does not have
-- law: what a person decided is about an end that happened
select
    null::varchar as run_id,
    'a verdict on an unknown incident' as what,
    v.incident_id as example,
from config.verdicts as v
left join ledger.incidents as i using (incident_id)
where i.incident_id is null
