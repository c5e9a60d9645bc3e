-- one row per run, component, and host or rank whose time stands out among all that do the same
-- do not sum: ranks wait for one another, and the same second is counted on each
-- component: component of the step
-- seconds: time of one step of this host or rank; in seconds
-- median_s: median of all hosts or ranks; in seconds
-- ratio: seconds / median_s
-- p_value: chance that one of so many stands out as far in as many steps if all were alike
select
    run_id,
    null::varchar as host,
    null::bigint as rank,
    null::varchar as component,
    null::double as seconds,
    null::double as median_s,
    null::double as ratio,
    null::double as p_value,
from ledger.runs
where false
