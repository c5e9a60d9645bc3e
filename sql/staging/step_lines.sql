-- one row per step line of a run, with its final time
-- do not sum steps: several hosts or ranks may print the same step
-- told_of_one: whether its step time is that of the printed step alone, and says nothing of those since the line before
-- told_of_all: whether its step time is the mean of all since elapsed_s began
with

-- programs whose evaluations draw bars too
drawn as (
    select format
    from events.formats
    where bars_for_evaluations
),

-- totals of the bars of a log: an evaluation draws the same one as the training, and ends at another number
totals as (
    select s.log_no, e.step_target, max(e.elapsed_s) as elapsed_s
    from events.steps as e
    inner join staging.sources as s using (source_id)
    where e.format in (from drawn) and e.step_last is not null
    group by s.log_no, e.step_target
    qualify count(*) over (partition by s.log_no) > 1
),

-- what stands beside the bars: results of the training, results of evaluations
beside as (
    select
        s.log_no,
        s.lines_before + e.line as log_line,
        e.segment,
        case when e.step_last is null then 'train' else 'bar' end as what,
        e.step_target,
    from events.steps as e
    inner join staging.sources as s using (source_id)
    where e.format in (from drawn) and s.log_no in (select log_no from totals)
    union all
    select s.log_no, s.lines_before + e.line as log_line, e.segment, 'train' as what, null::bigint as step_target
    from events.phases as e
    inner join staging.sources as s using (source_id)
    where e.format in (from drawn) and e.phase = 'loop' and e.edge = 'end' and s.log_no in (select log_no from totals)
    union all
    select s.log_no, s.lines_before + e.line as log_line, e.segment, 'eval' as what, null::bigint as step_target
    from events.timers as e
    inner join staging.sources as s using (source_id)
    where e.format in (from drawn) and s.log_no in (select log_no from totals)
),

followed as (
    select
        *,
        lead(what) over (partition by log_no order by log_line, segment) as next_what,
    from beside
),

told_totals as (
    select distinct s.log_no, try_cast(replace(f.value, ',', '') as bigint) as step_target
    from events.facts as f
    inner join staging.sources as s using (source_id)
    where f.format in (from drawn) and f.key = 'train_iters'
),

judged as (
    select
        t.log_no,
        t.step_target,
        max(t.elapsed_s) as elapsed_s,
        bool_or(d.step_target is not null) as told,
        coalesce(bool_or(f.next_what = 'train'), false) as trains,
        coalesce(bool_or(f.next_what = 'eval'), false) as evaluates,
    from totals as t
    left join followed as f on f.log_no = t.log_no and f.step_target = t.step_target
    left join told_totals as d on d.log_no = t.log_no and d.step_target = t.step_target
    group by all
),

-- where nothing else tells, the training is what took longest: its clock counts the evaluations inside of it too
evaluations as (
    select log_no, step_target
    from judged
    window l as (partition by log_no)
    qualify
        case
            when bool_or(told) over l then not told
            when bool_or(trains) over l then not trains
            else evaluates or elapsed_s < max(elapsed_s) over l
        end
),

evaluation_bars as (
    select v.log_no, v.step_target, d.format
    from evaluations as v
    cross join drawn as d
),

-- clocks that are off by more than their stamps could be
moving as (
    select clock, offset_s from staging.clock_offsets where moves
),

counted as (
    select
        e.rowid as event_row,
        e.source_id,
        e.line,
        e.segment,
        e.rank,
        e.format,
        -- a line that counts samples or tokens proves the steps that these make
        case
            when e.step_last is not null then e.step_last
            when e.consumed_samples >= u.unit then e.consumed_samples // u.unit
        end as step,
        e.steps,
        e.step_time_s as duration_s,
        coalesce((e.format, e.pattern) in (select (format, unnest(step_time_of_one)) from events.formats), false) as told_of_one,
        coalesce((e.format, e.pattern) in (select (format, unnest(step_time_of_all)) from events.formats), false) as told_of_all,
        e.elapsed_s,
        case when e.ts_edge in ('begin', 'late') then e.ts_edge else 'end' end as edge,
        e.ts,
        e.ts_quality,
        s.run_id,
        s.log_no,
        s.lines_before + e.line as log_line,
        s.zone,
        y.year,
        c.offset_s as clock_offset_s,
    from events.steps as e
    inner join staging.sources as s using (source_id)
    left join staging.years as y
        on y.source_id = e.source_id and e.ts_quality = 'year_assumed' and e.line >= y.line and e.line < y.next_line
    left join moving as c on c.clock = coalesce(split_part(coalesce(e.host, s.host), '.', 1), 'log ' || s.log)
    left join staging.step_units as u using (log_no)
    anti join evaluation_bars as v on v.log_no = s.log_no and v.step_target = e.step_target and v.format = e.format
    where s.run_id is not null
),

dated as (
    select
        * exclude (ts),
        case
            when ts is null or ts_quality not in ('logged', 'zone_assumed', 'year_assumed') then null
            when ts_quality <> 'year_assumed' then ts
            else ts + to_years((year - 1972)::integer)
        end as printed_ts,
    from counted
    where step is not null
),

zoned as (
    select
        * exclude (printed_ts),
        case
            when ts_quality = 'logged' or zone = 'UTC' then printed_ts
            else timezone(zone, printed_ts::timestamp)
        end - to_microseconds(coalesce((clock_offset_s * 1000000)::bigint, 0)) as ts,
    from dated
),

-- what another thread prints may come behind lines of later steps, or again: the counter has not gone back, unless the program
-- started since
starts as (
    select s.log_no, s.lines_before + p.line as log_line
    from events.phases as p
    inner join staging.sources as s using (source_id)
    where p.phase in ('process_start', 'init') and s.log_no in (select log_no from zoned where edge = 'late')
),

started as (
    select z.*, s.log_line as start_line
    from zoned as z
    asof left join starts as s on s.log_no = z.log_no and s.log_line < z.log_line
    where z.log_no in (select log_no from zoned where edge = 'late')
),

kept as (
    select *
    from zoned
    where log_no not in (select log_no from zoned where edge = 'late')
    union all by name
    select * exclude (start_line)
    from started
    window
        r as (partition by log_no, rank order by log_line, segment),
        before as (partition by log_no order by log_line, segment rows between unbounded preceding and 1 preceding)
    qualify edge <> 'late' or (
        (
            step > coalesce(last_value(case when edge <> 'late' then step end ignore nulls) over before, -1)
            or start_line > last_value(case when edge <> 'late' then log_line end ignore nulls) over before
        )
        -- of the same one the last counts, of each rank that prints it
        and not coalesce(lead(step) over r = step and lead(edge) over r = 'late', false)
    )
),

-- what a program tells behind the line of a step: how long the run has been at its steps since it began, restarts included
clocks as (
    select s.log_no, s.lines_before + t.line as log_line, t.mean_s as clock_s
    from events.timers as t
    inner join staging.sources as s using (source_id)
    where t.component = 'clock of steps'
),

clocked as (
    select k.log_no, k.log_line, any_value(k.rank) as rank, any_value(k.step) as step, max(c.clock_s) as clock_s
    from clocks as c
    asof inner join (select log_no, log_line, rank, step from kept where log_no in (select log_no from clocks)) as k
        on c.log_no = k.log_no and c.log_line >= k.log_line
    group by all
),

-- the mean since the line before; of the first one, and where a restart made steps again, since the run began
paced as (
    select
        log_no,
        log_line,
        case
            when lag(step) over w < step and lag(clock_s) over w < clock_s
                then (clock_s - lag(clock_s) over w) / (step - lag(step) over w)
            else clock_s / nullif(step, 0)
        end as clock_step_s,
    from clocked
    window w as (partition by log_no, rank order by log_line)
),

-- files that repeat what a console tells, and do not say when: of the same run the better one counts
ranked as (
    select
        k.run_id,
        k.log_no,
        min(coalesce(h.second_hand, 0)) as place,
    from kept as k
    left join events.formats as h on h.format = k.format
    group by k.run_id, k.log_no
),

best as (
    select run_id, log_no
    from ranked
    qualify place = min(place) over (partition by run_id)
)

select
    run_id,
    event_row,
    log_no,
    log_line,
    source_id,
    line,
    segment,
    -- records carry their own time and arrive out of order; lines, and what stands in one line, are in the order of their log
    case
        when format in (select format from events.formats where ordered_by_time) then epoch_us(ts)
        else line_order(log_line, segment)
    end as ord,
    step,
    steps,
    coalesce(duration_s, clock_step_s) as duration_s,
    told_of_one,
    told_of_all,
    elapsed_s,
    case when edge = 'late' then 'end' else edge end as edge,
    format,
    ts,
    case when ts is null then 'none' else ts_quality end as ts_quality,
from kept
left join paced using (log_no, log_line)
semi join best using (run_id, log_no)
