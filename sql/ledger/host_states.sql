-- one row per change of a host's state that a scheduler, an orchestrator or a monitor wrote down
-- do not count rows as faults: a state may be told by several files, and told again without a change
select
    regexp_extract(host, '^[0-9.]+$|^[^.]+') as host,
    ts,
    state,
    reason,
    source_id,
    line,
from events.nodes
where host is not null and ts is not null and state is not null
