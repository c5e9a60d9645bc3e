-- one row per clock that could be compared with another: the clock of a host, or of a log that names no host
-- do not sum: it is a look-up
-- clock: name of the host, else `log ` and the path of the log
-- reference: clock that it was compared with: that of the host with most step lines of the job
-- offset_s: by how much it runs ahead of the clock that all are brought to; 0 for that clock itself
-- pairs: steps that both printed
-- spread_s: middle half of the differences lies within so many seconds
-- moves: whether its stamps are corrected: it is more than a second off
with

-- of each job of most runs one clock tells: there is nothing to compare
tellers as (
    select distinct source_id, host
    from events.steps
),

clocked as (
    select
        s.source_id,
        t.host,
        s.run_id,
        coalesce(s.job_id, '') as job_id,
        coalesce(split_part(coalesce(t.host, s.host), '.', 1), 'log ' || s.log) as clock,
        s.zone,
    from tellers as t
    inner join staging.sources as s using (source_id)
    where s.run_id is not null
),

several as (
    select *
    from clocked
    where run_id in (select run_id from clocked group by run_id, job_id having count(distinct clock) > 1)
),

-- only what the same pattern reads happens at the same moment on every host
stamped as (
    select
        s.run_id,
        s.job_id,
        s.clock,
        e.format,
        e.pattern,
        coalesce(e.ts_edge, 'end') as edge,
        e.step_last as step,
        e.rank,
        case
            when e.ts_quality = 'logged' then e.ts
            when e.ts_quality = 'zone_assumed' then timezone(s.zone, e.ts::timestamp)
            else timezone(s.zone, (e.ts + to_years((y.year - 1972)::integer))::timestamp)
        end as ts,
    from events.steps as e
    inner join several as s on s.source_id = e.source_id and s.host is not distinct from e.host
    left join staging.years as y
        on y.source_id = e.source_id and e.ts_quality = 'year_assumed' and e.line >= y.line and e.line < y.next_line
    where e.step_last is not null
        and coalesce(e.ts_edge, 'end') <> 'late'
        and e.ts_quality in ('logged', 'zone_assumed', 'year_assumed')
),

counted as (
    select run_id, job_id, clock, count(*) as lines, min(coalesce(rank, 0)) as first_rank
    from stamped
    where ts is not null
    group by run_id, job_id, clock
),

-- of a run that goes from host to host, the one that told most of it
ranked as (
    select
        *,
        dense_rank() over (partition by run_id order by told desc, host_rank, clock) as place,
    from (
        select
            *,
            sum(lines) over (partition by run_id, clock) as told,
            min(first_rank) over (partition by run_id, clock) as host_rank,
            count(*) over (partition by run_id, job_id) as clocks,
        from counted
    )
    where clocks > 1
),

-- a step that is made again is printed again: the n-th time by the one clock is the n-th time by the other
numbered as (
    select
        s.*,
        r.place,
        min(r.place) over (partition by s.run_id, s.job_id) as reference_place,
        row_number() over (w order by s.ts) as turn,
        count(*) over w as turns,
    from stamped as s
    inner join ranked as r using (run_id, job_id, clock)
    where s.ts is not null
    window w as (partition by s.run_id, s.job_id, s.clock, s.format, s.pattern, s.edge, s.step)
),

pairs as (
    select
        n.run_id,
        n.clock,
        r.clock as reference,
        n.job_id,
        epoch_us(n.ts) - epoch_us(r.ts) as ahead_us,
        epoch_us(r.ts) as at_us,
    from numbered as n
    inner join numbered as r
        on r.run_id = n.run_id and r.job_id = n.job_id and r.format = n.format and r.pattern = n.pattern
        and r.edge = n.edge and r.step = n.step and r.turn = n.turn and r.turns = n.turns
        and r.place = r.reference_place
    where n.place <> n.reference_place
),

compared as (
    select
        run_id,
        clock,
        reference,
        count(*) as pairs,
        median(ahead_us) as ahead_us,
        quantile_cont(ahead_us, 0.75) - quantile_cont(ahead_us, 0.25) as spread_us,
        max(at_us) - min(at_us) as span_us,
    from pairs
    group by run_id, clock, reference
    qualify row_number() over (partition by run_id, clock order by count(*) desc, reference) = 1
),

-- few pairs, or differences that differ, are no clock; nor is a launch that repeats what an earlier one printed:
-- it begins when that one is over
estimated as (
    select run_id, clock, reference, ahead_us, pairs, spread_us
    from compared
    where pairs >= 10 and spread_us <= 1000000 and abs(ahead_us) <= least(600000000, span_us // 5)
),

-- a reference may itself have been compared with the reference of another job
chained as (
    select
        e.*,
        e.ahead_us + coalesce(r.ahead_us, 0) as total_us,
    from estimated as e
    left join estimated as r on r.run_id = e.run_id and r.clock = e.reference and r.reference <> e.clock
),

-- several runs on a host: what has most pairs
clocks as (
    select
        clock,
        reference,
        total_us as ahead_us,
        pairs,
        spread_us,
    from chained
    union all
    select reference as clock, reference, 0 as ahead_us, max(pairs) as pairs, 0 as spread_us
    from estimated
    where (run_id, reference) not in (select (run_id, clock) from estimated)
    group by run_id, reference
),

best as (
    select *
    from clocks
    qualify row_number() over (partition by clock order by pairs desc, abs(ahead_us), reference) = 1
)

select
    clock,
    reference,
    round(ahead_us)::bigint / 1e6 as offset_s,
    pairs,
    spread_us / 1e6 as spread_s,
    abs(ahead_us) > 1000000 as moves,
from best
