-- one row per launch of trainer processes seen in one source: where it starts in the file, and its time
-- do not count as attempts: several sources may tell of the same attempt (see staging.attempts)
with

-- what matters for finding launches: start-up lines, loads, steps, and ends
marks as (
    select
        t.source_id,
        t.run_id,
        t.ord,
        t.line,
        t.segment,
        t.ts,
        t.kind,
        t.name,
        t.pattern,
        t.rank,
        t.step,
        case
            when t.kind = 'phase'
                and t.name in ('process_start', 'library_setup', 'init', 'model_setup', 'data_setup', 'compile')
                then 'start'
            when t.kind = 'step' then 'step'
            when t.kind = 'phase' and t.name in ('exit', 'loop') then 'run'
            when t.kind = 'signal' and t.name in ('elastic_child_failed', 'elastic_childfailed_exc') then 'run'
        end as class,
    from staging.stream as t
    where t.run_id is not null
        and (
            t.kind = 'step'
            or (t.kind = 'phase' and t.name in ('process_start', 'library_setup', 'init', 'model_setup', 'data_setup', 'compile', 'exit', 'loop'))
            or (t.kind = 'signal' and t.name in ('elastic_child_failed', 'elastic_childfailed_exc'))
        )
        and t.source_id in (select source_id from staging.sources where is_trainer)
),

-- how long one step takes in this source, to tell a repeated line from a repeated step
beats as (
    select
        source_id,
        median(gap_us) as beat_us,
    from (
        select
            source_id,
            (epoch_us(ts) - epoch_us(lag(ts) over w)) / nullif(step - lag(step) over w, 0) as gap_us,
        from marks
        where kind = 'step'
        window w as (partition by source_id order by ord, line, segment)
    )
    where gap_us > 0
    group by source_id
),

step_marks as (
    select
        m.source_id,
        m.ord,
        m.line,
        m.segment,
        case
            when m.step > lag(m.step) over w then false
            when lag(m.step) over w is null then false
            when m.ts is null then m.step < lag(m.step) over w
            else epoch_us(m.ts) - epoch_us(lag(m.ts) over w) > 0.5 * coalesce(b.beat_us, 0)
        end as goes_back,
    from marks as m
    left join beats as b using (source_id)
    where m.kind = 'step'
    window w as (partition by m.source_id order by m.ord, m.line, m.segment)
),

bounds as (
    select
        m.*,
        coalesce(s.goes_back, false)
            or (m.class = 'start' and coalesce(lag(m.class) over w, 'run') <> 'start') as bound,
    from marks as m
    left join step_marks as s
        on s.source_id = m.source_id and s.ord = m.ord and s.line = m.line and s.segment = m.segment
        and m.kind = 'step'
    window w as (partition by m.source_id order by m.ord, m.line, m.segment)
),

first_pass as (
    select
        *,
        count_if(bound) over (partition by source_id order by ord, line, segment rows unbounded preceding) as block,
    from bounds
),

-- a start that never reached a step: the same process-start line again, well after the first
second_pass as (
    select
        *,
        bound
        or (
            name = 'process_start'
            and lag(ord) over again is not null
            and coalesce(epoch_us(ts) - epoch_us(lag(ts) over again), 0) > 30000000
        ) as starts,
    from first_pass
    window again as (partition by source_id, block, name, pattern, rank order by ord, line, segment)
),

numbered as (
    select
        *,
        count_if(starts) over (partition by source_id order by ord, line, segment rows unbounded preceding) as launch,
    from second_pass
),

launches as (
    select
        source_id,
        any_value(run_id) as run_id,
        greatest(launch, 1) as launch,
        min(ord) as first_ord,
        min(line) as first_line,
        min(ts) as start_ts,
        max(ts) as end_ts,
        count_if(kind = 'step') as step_lines,
        min(step) filter (where kind = 'step') as first_step,
    from numbered
    group by source_id, greatest(launch, 1)
)

select * from launches
