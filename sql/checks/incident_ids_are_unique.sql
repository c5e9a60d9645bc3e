-- one row per incident id that is missing or given twice
-- law: an incident id names one incident of one run
select
    min(run_id) as run_id,
    case when incident_id is null then 'an incident has no id' else 'an incident id is given twice' end as what,
    concat(coalesce(incident_id, 'null'), ': ', count(*), ' incidents') as example,
from ledger.incidents
group by incident_id
having count(*) > 1 or incident_id is null
