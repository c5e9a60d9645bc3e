-- What independent sources say differently about the same fact, and every law that the data break.
select run_id, title as what, left_name, left_value, right_name, right_value, difference, unit, note
from marts.reconciliation
where status = 'differs'
union all
select null, "check", 'rows that break the law', rows, 'expected', 0, rows, 'rows', example
from checks.results
where rows > 0
order by run_id, what
