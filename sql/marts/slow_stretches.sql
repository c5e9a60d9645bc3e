-- one row per attempt and stretch of steps that cost more, or less, than at the reference pace; scattered lines are one row an attempt
-- costs of all rows of a run add up to its productive time less the reference time of its steps; never add slowdowns
-- start_ts: begin of the first step of it
-- end_ts: end of the last step of it
-- step_first: first step of it
-- step_last: last step of it
-- slowdown: time of a surviving step / reference step time
-- cost_gpu_s: what its surviving steps took beyond the reference; in GPU-seconds
-- kind: stretch (several lines in a row, and then a faster pace), level (a slower pace up to the end of the attempt), jitter (all other lines of the attempt, those around stalls included)
-- host: the host that alone has evidence of a cause in that time: a throttled device; null otherwise
-- gpu: the device of that host that alone has; null where several have, or no evidence names one
-- host_reason: what tells of it, in words
with

-- a span that is not clean lies at the level of the clean one before it
spans as (
    select
        p.run_id,
        p.attempt,
        p.step_first,
        p.step_last,
        p.start_ts,
        p.end_ts,
        p.gpus,
        p.batch,
        p.clean,
        p.place,
        p.surviving_steps,
        p.step_us,
        r.reference_step_s * 1e6 as reference_us,
        r.margin,
    from ledger.paced_spans as p
    inner join ledger.reference_steps as r
        on r.run_id = p.run_id and r.gpus is not distinct from p.gpus and r.batch is not distinct from p.batch
),

levels as (
    select
        l.run_id,
        l.gpus,
        l.batch,
        l.level,
        l.place_first,
        l.place_last,
        l.step_us > r.reference_step_s * 1e6 * (1 + r.margin) as is_slow,
    from ledger.step_levels as l
    inner join ledger.reference_steps as r
        on r.run_id = l.run_id and r.gpus is not distinct from l.gpus and r.batch is not distinct from l.batch
),

slow as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        l.level,
    from spans as s
    inner join levels as l
        on l.run_id = s.run_id
        and l.gpus is not distinct from s.gpus
        and l.batch is not distinct from s.batch
        and s.place between l.place_first and l.place_last
    where l.is_slow
),

marked as (
    select s.*, w.level
    from spans as s
    left join slow as w using (run_id, attempt, step_first)
),

stretches as (
    select
        run_id,
        attempt,
        level,
        gpus,
        batch,
        min(start_ts) as start_ts,
        max(end_ts) as end_ts,
        min(step_first) as step_first,
        max(step_last) as step_last,
        max(step_first) filter (where clean and level is null) as last_normal,
        -- whole nanoseconds of accelerators: their sums do not depend on the order of rows
        sum((surviving_steps * step_us * gpus * 1000)::hugeint) as took,
        sum((surviving_steps * reference_us * gpus * 1000)::hugeint) as reference,
    from marked
    group by all
),

-- scattered lines of all configurations of an attempt are one row
joined as (
    select
        run_id,
        attempt,
        level,
        min(start_ts) as start_ts,
        max(end_ts) as end_ts,
        min(step_first) as step_first,
        max(step_last) as step_last,
        sum(took) as took,
        sum(reference) as reference,
    from stretches
    group by run_id, attempt, level, case when level is not null then gpus end, case when level is not null then batch end
    having sum(reference) > 0
),

-- the last clean span of each attempt that is not slow
normal as (
    select run_id, attempt, max(last_normal) as last_normal
    from stretches
    group by all
),

-- the host and device that alone have evidence of a cause in that time
hosts as (
    select
        j.run_id,
        j.attempt,
        j.step_first,
        case when count(distinct t.host) = 1 then min(t.host) end as host,
        case when count(distinct t.host) = 1 and count(distinct t.gpu) = 1 then min(t.gpu) end as gpu,
        case
            when count(distinct t.host) > 1 then null
            when bool_or(t.evidence = 'sample') then 'says that a fault holds its clock down'
            when bool_or(t.evidence = 'line') then 'was throttled'
            when bool_or(t.evidence = 'clock')
                then format('ran at {:.0f} % of the clock of the others', 100 * min(t.clock_ratio) filter (where t.evidence = 'clock'))
            else format('ran at {:.0f} % of its usual clock (inferred, since it tells no reason)', 100 * min(t.clock_ratio))
        end as host_reason,
    from joined as j
    inner join ledger.throttled_devices as t
        on t.run_id = j.run_id and t.attempt = j.attempt and t.first_ts < j.end_ts and t.last_ts > j.start_ts
    where j.level is not null
        -- what is inferred has to explain more of the stretch than not
        and (
            t.evidence <> 'dip'
            or epoch_us(least(t.last_ts, j.end_ts)) - epoch_us(greatest(t.first_ts, j.start_ts)) >= 0.5 * (epoch_us(j.end_ts) - epoch_us(j.start_ts))
        )
    group by j.run_id, j.attempt, j.step_first
)

select
    j.run_id,
    j.attempt,
    j.start_ts,
    j.end_ts,
    j.step_first,
    j.step_last,
    (j.took / j.reference)::double as slowdown,
    (j.took - j.reference) / 1e9 as cost_gpu_s,
    case
        when j.level is null then 'jitter'
        when n.last_normal > j.step_last then 'stretch'
        else 'level'
    end as kind,
    h.host,
    h.gpu,
    h.host_reason,
from joined as j
left join normal as n using (run_id, attempt)
left join hosts as h on h.run_id = j.run_id and h.attempt = j.attempt and h.step_first = j.step_first and j.level is not null
order by cost_gpu_s desc, run_id, start_ts, kind
