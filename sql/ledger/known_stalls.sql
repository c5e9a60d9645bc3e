-- one row per stall of a loop whose begin and end are told
-- do not sum over categories: stalls of several kinds may overlap
with

saves as (
    select
        run_id,
        attempt,
        'checkpoint_stall' as category,
        stall_start_us as start_us,
        stall_end_us as end_us,
        step,
        source_id,
        line,
    from ledger.saves
    where stall_start_us is not null and stall_end_us is not null
),

spans as (
    select
        p.run_id,
        t.attempt,
        p.name,
        p.edge,
        p.detail,
        p.step,
        epoch_us(p.ts) as ts_us,
        p.duration_s,
        p.log_no,
        p.log_line,
        p.ord,
        p.source_id,
        p.line,
        p.pattern,
        t.loop_start_us,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    where p.kind = 'phase' and p.name in ('eval', 'data_wait', 'custom') and p.ts is not null
),

-- a begin and the next end of the same kind are a pair
paired as (
    select
        *,
        lead(edge) over w as next_edge,
        lead(ts_us) over w as next_us,
    from spans
    where edge in ('begin', 'end')
    window w as (partition by run_id, attempt, name, coalesce(detail, ''), log_no order by ts_us, log_line)
),

pairs as (
    select
        run_id,
        attempt,
        name,
        detail,
        ts_us as start_us,
        next_us as end_us,
        step,
        source_id,
        line,
    from paired
    where edge = 'begin' and next_edge = 'end'
    union all
    select
        run_id,
        attempt,
        name,
        detail,
        ts_us as start_us,
        ts_us + (duration_s * 1000000)::bigint as end_us,
        step,
        source_id,
        line,
    from spans
    where edge = 'span' and duration_s is not null
),

-- a result that is printed with a time when the evaluation ends: it began after the line before it
points as (
    select
        s.run_id,
        s.attempt,
        s.name,
        s.detail,
        greatest(
            (
                select max(epoch_us(p.ts)) from staging.placed as p
                where p.log_no = s.log_no and p.ord < s.ord and p.ts is not null
                    and p.kind in ('save', 'phase')
            ),
            (
                select max(epoch_us(l.ts)) from staging.step_lines as l
                where l.log_no = s.log_no and l.ord < s.ord and l.ts is not null
            )
        ) as start_us,
        s.ts_us as end_us,
        s.step,
        s.source_id,
        s.line,
    from spans as s
    where s.name = 'eval' and s.edge = 'point'
),

phases as (
    select
        run_id,
        attempt,
        case
            when name = 'eval' then 'evaluation'
            when name = 'data_wait' then 'data_stall'
            when regexp_matches(coalesce(detail, ''), '(?i)eval') then 'evaluation'
            else 'loop_gap'
        end as category,
        start_us,
        end_us,
        step,
        source_id,
        line,
        name = 'data_wait' and detail is distinct from 'blocking' as beside,
    from (from pairs union all by name from points)
    where end_us > start_us
),

-- a load of data inside the loop may run beside the steps: it is no stall that these lines can prove, unless they say so
first_steps as (
    select run_id, attempt, min(start_us) as first_start_us
    from ledger.spans
    group by all
),

united as (
    from saves
    union all by name
    select p.* exclude (beside)
    from phases as p
    left join first_steps as f using (run_id, attempt)
    where not p.beside or f.first_start_us is null or p.end_us <= f.first_start_us
),

-- the same save told by several hosts overlaps itself
distinct_stalls as (
    select
        run_id,
        attempt,
        category,
        start_us,
        end_us,
        step,
        source_id,
        line,
    from united
    qualify row_number() over (
        partition by run_id, attempt, category, start_us order by end_us desc, source_id, line
    ) = 1
)

select * from distinct_stalls
