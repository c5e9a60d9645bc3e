-- one row per run, component and rank that tells its own time: how long it takes, and how often it is the slowest
-- do not sum: ranks wait for one another
-- component: timer, or computing of a profiler's trace
-- seconds: median time of one step; in seconds
-- ranks: ranks that tell
-- steps: steps of which three ranks or more tell
-- slowest_steps: of these, the ones in which it took longest
-- all_told: whether all ranks are told of, and not the slowest ones alone
with

timers as (
    select
        s.run_id,
        t.component,
        e.rank,
        e.step,
        split_part(coalesce(e.host, s.host, ''), '.', 1) as host,
        sum(e.mean_s) as seconds,
    from events.timers as e
    inner join staging.sources as s using (source_id)
    inner join seeds.timers as t
        on t.component = replace(e.component, ' ', '-')
        and t.numbered = 'true'
        -- who communicates longest waited for the slowest
        and t.part in ('compute', 'update', 'data_wait', 'host')
    where s.run_id is not null and e.rank is not null and e.step is not null
    group by all
),

traces as (
    select
        s.run_id,
        'compute' as component,
        p.rank,
        p.first_step as step,
        split_part(coalesce(p.host, s.host, ''), '.', 1) as host,
        sum(p.exposed_s) / coalesce(any_value(p.last_step - p.first_step + 1), 1) as seconds,
    from events.profiles as p
    inner join staging.sources as s using (source_id)
    where s.run_id is not null and p.rank is not null and p.component = 'compute'
    group by s.run_id, p.rank, p.first_step, p.host, s.host
),

united as (
    from timers
    union all by name
    from traces
),

by_step as (
    select run_id, component, step, count(*) as ranks, arg_max(rank, (seconds, -rank)) as slowest
    from united
    group by all
    having count(*) >= 3
),

slowest as (
    select run_id, component, slowest as rank, count(*) as slowest_steps
    from by_step
    group by all
),

counted as (
    select run_id, component, count(*) as steps, max(ranks) as ranks
    from by_step
    group by all
),

by_rank as (
    select
        u.run_id,
        u.component,
        u.rank,
        nullif(min(u.host), '') as host,
        median(u.seconds) as seconds,
    from united as u
    group by all
),

-- a detector that names the slowest rank of each interval, and no other but the fastest
announced as (
    select
        s.run_id,
        e.component,
        e.rank,
        median(e.mean_s) as seconds,
        count(*) as slowest_steps,
    from events.timers as e
    inner join staging.sources as s using (source_id)
    where s.run_id is not null and e.component = 'MxRtt' and e.rank is not null
    group by all
)

select
    r.run_id,
    r.component,
    r.rank,
    r.host,
    r.seconds,
    c.ranks,
    c.steps,
    coalesce(s.slowest_steps, 0) as slowest_steps,
    true as all_told,
from by_rank as r
inner join counted as c using (run_id, component)
left join slowest as s using (run_id, component, rank)
union all by name
select
    a.run_id,
    'computing between two reports' as component,
    a.rank,
    (select min(h.host) from ledger.rank_hosts as h where h.run_id = a.run_id and h.rank = a.rank) as host,
    a.seconds,
    r.gpus as ranks,
    sum(a.slowest_steps) over (partition by a.run_id) as steps,
    a.slowest_steps,
    false as all_told,
from announced as a
inner join ledger.runs as r using (run_id)
where r.gpus >= 3
