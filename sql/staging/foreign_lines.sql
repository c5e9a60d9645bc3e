-- one row per line of a run's own output that tells of a job or a host of somebody else, by what it names
-- do not count as events: a line may name both
with

-- output of a job that accounting knows may quote the scheduler about a job of somebody else
jobs as (
    select distinct e.source_id, e.line, 'job' as names
    from events.signals as e
    inner join staging.sources as s using (source_id)
    inner join staging.allocations as a on a.run_id = s.run_id and a.job_id = s.job_id
    anti join staging.allocations as o on o.run_id = s.run_id and o.job_id = e.job_id
    where e.job_id <> s.job_id and regexp_full_match(e.job_id || s.job_id, '\d+')
),

-- what is told of another job of the run, which was over before this one began or began after it, is not told of this one
other_jobs as (
    select e.source_id, e.line, 'job' as names
    from events.signals as e
    inner join staging.sources as s using (source_id)
    inner join staging.allocations as a on a.run_id = s.run_id and a.job_id = s.job_id
    inner join staging.allocations as o on o.run_id = s.run_id and o.job_id = e.job_id
    where e.job_id <> s.job_id and regexp_full_match(e.job_id || s.job_id, '\d+')
        -- an output that does not bear the number of a job may hold those of several, which name themselves as they end
        and contains(s.log, s.job_id)
    group by e.source_id, e.line
    having bool_and(coalesce(o.end_ts <= a.start_ts or o.start_ts >= a.end_ts, false))
),

-- hosts that a job held, or a run where its output names no job
held as (
    select run_id, job_id, list_distinct(list_transform(flatten(list(nodes)), lambda x: split_part(x, '.', 1))) as hosts
    from staging.allocations
    where run_id is not null
    group by grouping sets ((run_id, job_id), (run_id))
    -- where one record does not name its hosts, any host may be one of them
    having bool_and(coalesce(len(nodes), 0) > 0)
),

-- what kernels and daemons of hosts tell, quoted in the output of a job
quoted as (
    select distinct
        e.source_id,
        e.line,
        s.run_id,
        s.job_id,
        split_part(e.host, '.', 1) as host,
        contains(e.text, ' ' || e.host || ' ') as is_in_text,
    from events.signals as e
    inner join seeds.signals as c using (signal_id)
    inner join staging.sources as s using (source_id)
    where s.run_id is not null
        and e.host is not null
        and c.source not in ('trainer_stderr', 'python', 'nccl', 'checkpoint', 'slurm', 'lsf', 'pbs', 'k8s')
        -- an address is another name of some host
        and not regexp_full_match(e.host, '(?i)[\d.:]+|[\da-f:]*:[\da-f:]*|ip-\d+-\d+-\d+-\d+(\..*)?')
),

hosts as (
    select q.source_id, q.line, 'host' as names
    from quoted as q
    inner join held as h on h.run_id = q.run_id and h.job_id is not distinct from q.job_id
    where not list_contains(h.hosts, q.host)
        -- a label may be the name of a pod, unless hosts are called like it
        and (
            q.is_in_text
            or list_contains(
                list_transform(h.hosts, lambda x: regexp_replace(x, '\d+', '0', 'g')),
                regexp_replace(q.host, '\d+', '0', 'g')
            )
        )
),

final as (
    select * from jobs
    union all
    select * from other_jobs
    union all
    select * from hosts
)

select * from final
