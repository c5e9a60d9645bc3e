-- one row per pair of attempts in different allocations that claim to be productive at the same time
-- law: a run makes progress in one place at a time; two at once are two runs under one name, or a wrong clock
with

claims as (
    select
        c.run_id,
        c.attempt,
        concat(a.job_id, '.', a.restart_no) as allocation,
        c.start_ts,
        c.end_ts,
    from ledger.claims as c
    inner join ledger.attempts as a using (run_id, attempt)
    where c.category = 'productive' and a.job_id is not null
),

-- the latest end before each claim in any other allocation of the run
allocations as (
    select run_id, allocation, min(start_ts) as start_ts, max(end_ts) as end_ts, min(attempt) as attempt
    from claims
    group by run_id, allocation
),

pairs as (
    select
        e.run_id,
        e.allocation as earlier,
        l.allocation as later,
        greatest(e.start_ts, l.start_ts) as from_ts,
        least(e.end_ts, l.end_ts) as to_ts,
    from allocations as e
    inner join allocations as l
        on l.run_id = e.run_id and (l.start_ts, l.allocation) > (e.start_ts, e.allocation) and l.start_ts < e.end_ts
),

-- a stretch in which either does nothing is no contradiction
clashes as (
    select p.run_id, p.earlier, p.later, min(greatest(a.start_ts, b.start_ts)) as at_ts
    from pairs as p
    inner join claims as a
        on a.run_id = p.run_id and a.allocation = p.earlier and a.start_ts < p.to_ts and a.end_ts > p.from_ts
    inner join claims as b
        on b.run_id = p.run_id and b.allocation = p.later and b.start_ts < a.end_ts and b.end_ts > a.start_ts
    group by p.run_id, p.earlier, p.later
)

select
    run_id,
    'two allocations are productive at once' as what,
    concat(earlier, ' and ', later, ' at ', at_ts) as example,
from clashes
