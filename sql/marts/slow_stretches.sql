-- one row per stretch of steps that took longer than the reference of its configuration, or change of level
-- do not add costs of a change of level and of stretches within it: kinds are told apart
-- start_ts: begin of the stretch
-- end_ts: end of the stretch
-- step_first: first step of it
-- step_last: last step of it
-- slowdown: time of a step / reference step time
-- cost_gpu_s: what it took beyond the reference; in GPU-seconds
-- kind: jitter (single lines), stretch (several in a row, and then the pace before), level (the pace of all lines to the end of the attempt or the next level)
-- host: host that the evidence names, if any
select
    run_id,
    attempt,
    start_ts,
    end_ts,
    step_first,
    step_last,
    null::double as slowdown,
    null::double as cost_gpu_s,
    null::varchar as kind,
    null::varchar as host,
from ledger.steps
where false
