-- one row per attempt that says from which step it went on
-- do not add duration_s to other start-up time: it lies inside it
with

loads as (
    select
        p.run_id,
        t.attempt,
        p.edge,
        p.step,
        p.ts,
        p.log_no,
        p.ord,
        p.source_id,
        p.line,
        p.duration_s,
        p.kind,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    where (p.kind = 'load' and coalesce(p.ok, true)) or (p.kind = 'timer' and p.name = 'load-checkpoint')
),

-- the last load of an attempt is the one it trains from; of records of one time the last that was written
ends as (
    select
        run_id,
        attempt,
        max(step) filter (where kind = 'load' and edge in ('end', 'span', 'begin')) as any_step,
        arg_max(step, (ord, source_id, line)) filter (where kind = 'load' and edge in ('end', 'span') and step is not null) as end_step,
        bool_or(edge = 'none') as cold,
        min(epoch_us(ts)) filter (where kind = 'load' and edge in ('begin', 'span')) as begin_us,
        max(epoch_us(ts)) filter (where kind = 'load' and edge = 'end') as end_us,
        max(epoch_us(ts) + (duration_s * 1000000)::bigint) filter (where kind = 'load' and edge = 'span') as span_end_us,
        max(duration_s) filter (where kind = 'load' and edge <> 'span') as told_s,
        max(duration_s) filter (where kind = 'timer') as timer_s,
        count(*) filter (where kind = 'load' and edge <> 'none') as load_lines,
        arg_max(source_id, (ord, source_id, line)) filter (where kind = 'load') as source_id,
        arg_max(line, (ord, source_id, line)) filter (where kind = 'load') as line,
        arg_min(log_no, (ord, source_id, line)) as log_no,
        min(ord) as first_ord,
        -- a timer is printed by another rank, and may come after the stamp that ends the load
        coalesce(max(ord) filter (where kind = 'load'), max(ord)) as last_ord,
    from loads
    group by all
),

-- an unstamped load lies before the next stamp of its log
neighbours as (
    select
        e.*,
        (
            select max(epoch_us(p.ts)) from staging.placed as p
            where p.log_no = e.log_no and p.ord < e.first_ord and p.ts is not null
                and p.kind = 'phase' and p.edge in ('end', 'point', 'begin') and p.run_id = e.run_id
        ) as before_us,
        least(
            (
                select min(epoch_us(p.ts)) from staging.placed as p
                where p.log_no = e.log_no and p.ord > e.last_ord and p.ts is not null
                    and p.kind = 'phase' and p.run_id = e.run_id
            ),
            (
                select min(epoch_us(l.ts)) from staging.step_lines as l
                where l.log_no = e.log_no and l.ord > e.last_ord and l.ts is not null
                    and l.run_id = e.run_id
            )
        ) as after_us,
    from ends as e
),

placed as (
    select
        run_id,
        attempt,
        case when cold and end_step is null then 0 else coalesce(end_step, any_step) end as step,
        cold and coalesce(end_step, any_step) is null as cold,
        case
            when load_lines = 0 then null
            when span_end_us is not null then begin_us
            when begin_us is not null and end_us is not null then begin_us
            when end_us is not null and told_s is not null then end_us - (told_s * 1000000)::bigint
            when timer_s is not null and after_us is not null then
                greatest(after_us - (timer_s * 1000000)::bigint, coalesce(before_us, after_us - (timer_s * 1000000)::bigint))
            when before_us is not null and after_us is not null then before_us
        end as start_us,
        case
            when load_lines = 0 then null
            when span_end_us is not null then span_end_us
            when end_us is not null then end_us
            when after_us is not null and (timer_s is not null or before_us is not null) then after_us
        end as end_us,
        source_id,
        line,
    from neighbours
)

select
    run_id,
    attempt,
    step,
    cold,
    make_timestamptz(start_us) as start_ts,
    make_timestamptz(end_us) as end_ts,
    (end_us - start_us) / 1e6 as duration_s,
    start_us,
    end_us,
    source_id,
    line,
from placed
