-- one row per record of accounting: as a log of a scheduler has it, or a report in the output of a job, of which each line tells a part
-- do not sum gpus: exports overlap, and a record may stand for a part of a job
-- gpus_per_node: accelerators on each host, where the record tells no sum
-- part: as in events.allocations; `report` of a record that the output of its own job tells
-- a view: most stores hold no report, and all others pass as they are
with

told as (
    select *
    from events.allocations
    where part = 'report'
),

-- the subject of a report names its job and begins it
reported as (
    select
        *,
        count_if(job_id is not null) over (partition by source_id order by line, segment rows unbounded preceding) as report,
    from told
),

-- hosts stand before the start
placed as (
    select
        *,
        count_if(start_ts is not null) over (partition by source_id, report order by line, segment rows unbounded preceding) = 0
            as before_start,
    from reported
    where report > 0
),

-- what a job prints behind the report of another one may look like a part of it: the first of each counts
reports as (
    select
        source_id,
        min(line) as line,
        any_value(format) as format,
        arg_min(ts_quality, line) filter (where start_ts is not null) as ts_quality,
        any_value(scheduler) as scheduler,
        any_value(part) as part,
        arg_min(cluster, line) as cluster,
        min(job_id) as job_id,
        arg_min(name, line) as name,
        arg_min("user", line) as "user",
        arg_min("partition", line) as "partition",
        arg_min(submit_ts, line) as submit_ts,
        arg_min(start_ts, line) as start_ts,
        arg_min(end_ts, line) as end_ts,
        -- why it was ended says more than how
        coalesce(arg_min(state, line) filter (where reason is not null), arg_min(state, line)) as state,
        arg_min(reason, line) as reason,
        arg_min(exit_code, line) as exit_code,
        arg_min(exit_signal, line) as exit_signal,
        flatten(list(nodes order by line) filter (where nodes is not null and before_start)) as nodes,
    from placed
    group by source_id, report
    having count(start_ts) > 0
)

-- what prints no year has its times from elsewhere
select
    a.* exclude (suspended_s, time_limit_s, submit_ts, eligible_ts, start_ts, end_ts),
    case when a.ts_quality = 'year_assumed' then y.submit_ts else a.submit_ts end as submit_ts,
    case when a.ts_quality = 'year_assumed' then y.eligible_ts else a.eligible_ts end as eligible_ts,
    case when a.ts_quality = 'year_assumed' then y.start_ts else a.start_ts end as start_ts,
    case when a.ts_quality = 'year_assumed' then y.end_ts else a.end_ts end as end_ts,
from events.allocations as a
left join staging.record_times as y on y.source_id = a.source_id and y.line = a.line
where a.part is distinct from 'report'
union all by name
select * from reports
