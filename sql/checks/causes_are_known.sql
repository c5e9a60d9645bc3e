-- one row per incident whose cause is not in the taxonomy
-- law: every cause that occurs is a row of seeds.causes
select
    i.run_id,
    'a cause is not in the taxonomy' as what,
    concat(i.incident_id, ': ', coalesce(i.cause, 'null')) as example,
from ledger.incidents as i
anti join seeds.causes as c on c.code = i.cause
