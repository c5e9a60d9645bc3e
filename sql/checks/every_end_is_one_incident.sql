-- one row per attempt whose end is no incident or several, and per incident without an attempt
-- law: the end of every attempt is exactly one incident, completion included
with

counted as (
    select a.run_id, a.attempt, count(i.incident_id) as incidents
    from ledger.attempts as a
    left join ledger.incidents as i using (run_id, attempt)
    group by a.run_id, a.attempt
)

select
    run_id,
    'the end of an attempt is not exactly one incident' as what,
    concat('attempt ', attempt, ': ', incidents, ' incidents') as example,
from counted
where incidents <> 1
union all
select
    i.run_id,
    'an incident has no attempt' as what,
    concat(i.incident_id, ': attempt ', coalesce(i.attempt::varchar, 'null')) as example,
from ledger.incidents as i
anti join ledger.attempts as a using (run_id, attempt)
