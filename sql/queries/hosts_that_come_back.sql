-- Hosts with two events or more in twelve weeks, what chance would give them, and whether it explains them.
select
    host,
    events_1w,
    events_4w,
    events,
    round(host_days, 1) as host_days,
    round(expected, 2) as expected,
    chance_adjusted,
    is_repeat,
    causes,
    parts,
    state,
from marts.hosts
where events >= 2
order by is_repeat desc, chance_adjusted, host
