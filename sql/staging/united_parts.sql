-- one row per stretch of time in which the parts of a job held the same number of accelerators, and per job that waits
-- do not sum gpus over rows of one job: a stretch goes on with the allocation of the stretch before it
-- state: RESIZING where another stretch of the same allocation follows
with

parts as (
    select
        *,
        hash(coalesce(cluster, ''), coalesce("user", ''), job_id) as job_key,
    from staging.job_parts
),

started as (
    select
        *,
        coalesce(end_ts, 'infinity'::timestamptz) as until_ts,
        max(start_ts) over (partition by job_key, island) as last_start_ts,
    from parts
    where start_ts is not null
),

-- parts that were there at the end say how it ended; of them the first that did not end well
island_ends as (
    select
        job_key,
        island,
        arg_min(
            struct_pack(state := state, state_by := state_by, exit_code := exit_code, exit_signal := exit_signal, reason := reason),
            (state in ('COMPLETED', 'RUNNING'), until_ts, source_id, line, part)
        ) as ending,
    from started
    where until_ts >= last_start_ts
    group by all
),

islands as (
    select
        s.job_key,
        s.island,
        any_value(e.ending) as ending,
        min(s.submit_ts) as submit_ts,
        min(s.eligible_ts) as eligible_ts,
        -- where every allocation of the job bears another number
        case
            when count(*) over (partition by s.job_key) = count(distinct s.restart_no) over (partition by s.job_key)
                then s.restart_no
        end as restart_no,
    from started as s
    inner join island_ends as e using (job_key, island)
    group by s.job_key, s.island, s.restart_no
),

-- what is held changes where a part begins or ends
edges as (
    select job_key, island, start_ts as ts, coalesce(gpus, 0) as gpus, 1 as parts
    from started
    union all
    select job_key, island, end_ts as ts, -coalesce(gpus, 0) as gpus, -1 as parts
    from started
    where end_ts is not null
),

sizes as (
    select
        job_key,
        island,
        ts,
        sum(sum(gpus)) over w as gpus,
        sum(sum(parts)) over w as parts,
    from edges
    group by job_key, island, ts
    window w as (partition by job_key, island order by ts)
),

changes as (
    select *
    from sizes
    qualify gpus is distinct from lag(gpus) over (partition by job_key, island order by ts) or parts = 0
),

stretches as (
    select
        job_key,
        island,
        ts as start_ts,
        lead(ts) over w as end_ts,
        coalesce(lead(parts) over w, 0) = 0 as is_last,
        parts,
    from changes
    window w as (partition by job_key, island order by ts)
),

held as (
    select
        arg_min(p.source_id, (p.start_ts, p.source_id, p.line, p.part)) as source_id,
        arg_min(p.line, (p.start_ts, p.source_id, p.line, p.part)) as line,
        arg_min_null(p.partition, (p.start_ts, p.source_id, p.line, p.part)) as "partition",
        arg_min_null(p.qos, (p.start_ts, p.source_id, p.line, p.part)) as qos,
        arg_min_null(p.account, (p.start_ts, p.source_id, p.line, p.part)) as account,
        any_value(p.cluster) as cluster,
        any_value(p.scheduler) as scheduler,
        p.job_id,
        any_value(p.name) as name,
        any_value(p.user) as "user",
        s.start_ts,
        s.end_ts,
        any_value(i.restart_no) as restart_no,
        any_value(i.submit_ts) as submit_ts,
        any_value(i.eligible_ts) as eligible_ts,
        case when s.is_last then any_value(i.ending) end as ending,
        list_sort(list_distinct(flatten(list(p.nodes)))) as nodes,
        sum(p.n_nodes)::bigint as n_nodes,
        sum(p.gpus)::bigint as gpus,
    from stretches as s
    inner join started as p
        on p.job_key = s.job_key and p.island = s.island and p.start_ts <= s.start_ts and p.until_ts > s.start_ts
    inner join islands as i on i.job_key = s.job_key and i.island = s.island
    where s.parts > 0
    group by s.job_key, p.job_id, s.island, s.start_ts, s.end_ts, s.is_last
),

-- what waits beside parts that run is a part of what they began
waiting as (
    select
        any_value(w.source_id) as source_id,
        min(w.line) as line,
        any_value(w.partition) as "partition",
        any_value(w.qos) as qos,
        any_value(w.account) as account,
        any_value(w.cluster) as cluster,
        any_value(w.scheduler) as scheduler,
        w.job_id,
        any_value(w.name) as name,
        any_value(w.user) as "user",
        null::timestamptz as start_ts,
        max(w.end_ts) as end_ts,
        max(w.restart_no) as restart_no,
        min(w.submit_ts) as submit_ts,
        min(w.eligible_ts) as eligible_ts,
        arg_min(
            struct_pack(state := w.state, state_by := w.state_by, exit_code := w.exit_code, exit_signal := w.exit_signal, reason := w.reason),
            (w.source_id, w.line, w.part)
        ) as ending,
        null::varchar[] as nodes,
        sum(w.n_nodes)::bigint as n_nodes,
        sum(w.gpus)::bigint as gpus,
    from parts as w
    where w.start_ts is null
        and not exists (
            select 1 from started as s where s.job_key = w.job_key and s.until_ts > w.submit_ts
        )
    group by w.job_key, w.job_id, w.restart_no
),

united as (
    from held
    union all by name
    from waiting
)

select
    * exclude (ending),
    epoch(end_ts) - epoch(start_ts) as elapsed_s,
    coalesce(ending.state, case when start_ts is not null then 'RESIZING' end) as state,
    ending.state_by as state_by,
    ending.exit_code as exit_code,
    ending.exit_signal as exit_signal,
    ending.reason as reason,
from united
