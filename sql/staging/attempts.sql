-- one row per launch in a log, with the attempt of the run that it belongs to
-- do not count rows as attempts: count distinct run_id, attempt
with

-- one log may hold the output of several jobs, each of which the scheduler names when it ends
named as (
    select
        l.log_no,
        l.launch,
        case when count(distinct e.job_id) = 1 then min(e.job_id) end as job_id,
    from events.signals as e
    inner join staging.sources as s using (source_id)
    anti join staging.foreign_lines as f on f.source_id = e.source_id and f.line = e.line
    asof inner join staging.launches as l on s.log_no = l.log_no and line_order(s.lines_before + e.line, e.segment) >= l.first_ord
    where e.job_id is not null and not s.has_trainer_lines
    group by all
),

-- logs of a run that name no job were written by the same processes where they overlap in time, and where one goes on with
-- the step after the last one of another, at the same pace and without a start: a log that was cut in two
logs as (
    select
        l.run_id,
        l.log_no,
        any_value(s.log) as log,
        min(l.start_ts) as start_ts,
        max(coalesce(l.end_ts, l.start_ts)) as end_ts,
        arg_min(l.begins_inside, l.launch) as begins_inside,
        arg_min(l.first_step, l.launch) as first_step,
        arg_max(l.last_step, l.launch) as last_step,
        max(l.stride) as stride,
        max(l.beat_us) as beat_us,
    from staging.launches as l
    inner join staging.sources as s using (source_id)
    where s.job_id is null and l.start_ts is not null
    group by all
),

reached as (
    select
        *,
        max(end_ts) over (
            partition by run_id order by start_ts, log_no rows between unbounded preceding and 1 preceding
        ) as earlier_end_ts,
        coalesce(begins_inside, false)
            and first_step - lag(last_step) over w between 1 and coalesce(stride, lag(stride) over w)
            and epoch_us(start_ts) - epoch_us(lag(end_ts) over w) <= 3 * coalesce(beat_us, lag(beat_us) over w) as goes_on,
    from logs
    window w as (partition by run_id order by start_ts, log_no)
),

beside as (
    select
        *,
        count_if(earlier_end_ts is null or (start_ts > earlier_end_ts and not coalesce(goes_on, false))) over (
            partition by run_id order by start_ts, log_no rows unbounded preceding
        ) as together,
    from reached
),

log_keys as (
    select run_id, log_no, min(log) over (partition by run_id, together) as job_key
    from beside
),

-- what its trainers tell without the name of a job tells of all jobs, and a start that no trainer tells of names none of them
nameless as (
    select distinct l.run_id
    from staging.launches as l
    inner join staging.sources as s using (source_id)
    left join named as n on n.log_no = l.log_no and n.launch = l.launch
    where not coalesce(l.is_silent, false) and n.job_id is null and s.job_id is null
),

launches as (
    select
        l.*,
        case when l.is_silent and l.run_id in (from nameless) then null else coalesce(n.job_id, s.job_id) end as job_id,
        case
            when l.is_silent and l.run_id in (from nameless) then s.log
            else coalesce(n.job_id, s.job_id, k.job_key, s.log)
        end as job_key,
    from staging.launches as l
    inner join staging.sources as s using (source_id)
    left join named as n on n.log_no = l.log_no and n.launch = l.launch
    left join log_keys as k on k.run_id = l.run_id and k.log_no = l.log_no
),

-- without a time of its own a launch comes after the one before it
sorted as (
    select
        *,
        max(start_ts) over (partition by run_id, job_key, log_no order by launch rows unbounded preceding) as sort_ts,
    from launches
),

-- launches of one job that overlap in time, or of which one goes on where the other ends, are the same attempt, told by
-- several logs
ordered as (
    select
        *,
        max(coalesce(end_ts, start_ts)) over (
            partition by run_id, job_key order by sort_ts nulls last, log_no, first_ord
            rows between unbounded preceding and 1 preceding
        ) as earlier_end_ts,
        -- a log tells of one launch after the other, whatever their clocks say; but ranks begin one after the other, too, and what
        -- has made no step may be one of those
        arg_max(case when step_lines > 0 then log_no else -1 end, coalesce(end_ts, start_ts)) over (
            partition by run_id, job_key order by sort_ts nulls last, log_no, first_ord
            rows between unbounded preceding and 1 preceding
        ) = log_no as follows_own,
        coalesce(begins_inside, false)
            and first_step - lag(last_step) over w between 1 and coalesce(stride, lag(stride) over w)
            and epoch_us(start_ts) - epoch_us(lag(coalesce(end_ts, start_ts)) over w) <= 3 * coalesce(beat_us, lag(beat_us) over w) as goes_on,
    from sorted
    window w as (partition by run_id, job_key order by sort_ts nulls last, log_no, first_ord)
),

islands as (
    select
        *,
        count_if(
            -- who tells of an end before any start tells of what another log saw begin
            not coalesce(begins_with_end, false)
            and (start_ts is null or earlier_end_ts is null or follows_own or (start_ts > earlier_end_ts and not coalesce(goes_on, false)))
        ) over (
            partition by run_id, job_key order by sort_ts nulls last, log_no, first_ord rows unbounded preceding
        ) as island,
    from ordered
),

-- what logs that name no job tell, beside what those of a job tell in the same time
told as (
    select
        run_id,
        job_key,
        island,
        max(job_id) as job_id,
        min(start_ts) as start_ts,
        max(coalesce(end_ts, start_ts)) as end_ts,
        sum(step_lines) as step_lines,
        max(beat_us) as beat_us,
    from islands
    where start_ts is not null and not coalesce(is_silent, false)
    group by run_id, job_key, island
),

met as (
    select
        n.run_id,
        n.job_key,
        n.island,
        j.job_key as of_key,
        j.island as of_island,
        j.job_id as of_job,
        n.start_ts,
        n.step_lines > 0 and j.step_lines > 0 as both_step,
        n.start_ts <= j.end_ts and n.end_ts >= j.start_ts as in_time,
        greatest(coalesce(least(n.beat_us, j.beat_us), n.beat_us, j.beat_us, 0), 5000000) as beat_us,
    from told as n
    inner join told as j on j.run_id = n.run_id and n.job_id is null and j.job_id is not null
    where in_time
        -- who tells no step may fall silent when the start is over
        or (
            least(n.step_lines, j.step_lines) = 0
            and abs(epoch_us(n.start_ts) - epoch_us(j.start_ts)) <= 120000000
        )
),

asked as (
    select run_id, job_key, island from met where both_step
    union
    select run_id, of_key as job_key, of_island as island from met where both_step
),

asked_lines as (
    select i.run_id, i.job_key, i.island, l.step, l.ts, e.loss
    from (
        select * from staging.step_lines
        where step is not null and ts is not null and log_no in (select log_no from islands semi join asked using (run_id, job_key, island))
    ) as l
    asof inner join islands as i on l.log_no = i.log_no and l.ord >= i.first_ord
    left join (select source_id, line, segment, step_last, loss from events.steps) as e
        on e.source_id = l.source_id and e.line = l.line and e.segment = l.segment and e.step_last = l.step
),

-- the same steps at the same time with the same losses are told of one training; two that began together differ in theirs
compared as (
    select
        m.run_id,
        m.job_key,
        m.island,
        m.of_key,
        m.of_island,
        count(distinct n.step) as shared_steps,
        count(distinct n.step) filter (
            where abs(epoch_us(n.ts) - epoch_us(j.ts)) <= m.beat_us
                and coalesce(abs(n.loss - j.loss) <= 0.005 * abs(j.loss), true)
        ) as alike_steps,
    from met as m
    inner join asked_lines as n on n.run_id = m.run_id and n.job_key = m.job_key and n.island = m.island
    inner join asked_lines as j
        on j.run_id = m.run_id and j.job_key = m.of_key and j.island = m.of_island and j.step = n.step
    where m.both_step
    group by all
),

alike as (
    select m.*, bool_or(m.in_time) over (partition by m.run_id, m.job_key, m.island) as some_overlap
    from met as m
    left join compared as c using (run_id, job_key, island, of_key, of_island)
    where not m.both_step or c.alike_steps >= 0.9 * c.shared_steps
),

-- what begins beside it counts where nothing overlaps with it
matched as (
    select
        *,
        count(*) over (partition by run_id, job_key, island) as jobs,
        row_number() over (partition by run_id, of_key, of_island, both_step order by start_ts, job_key, island) as place,
    from alike
    where in_time or not some_overlap
),

-- of several that tell no common step the first began with the job
joined as (
    select run_id, job_key, island, of_key, of_island, of_job
    from matched
    where jobs = 1 and (both_step or place = 1)
),

united as (
    select
        i.* replace (
            coalesce(i.job_id, j.of_job) as job_id,
            coalesce(j.of_key, i.job_key) as job_key,
            coalesce(j.of_island, i.island) as island
        ),
    from islands as i
    left join joined as j using (run_id, job_key, island)
),

starts as (
    select
        run_id,
        job_key,
        island,
        min(start_ts) as attempt_start_ts,
        min(log_no) as first_log,
        min(first_ord) as attempt_first_ord,
    from united
    group by all
),

numbered as (
    select
        *,
        row_number() over (
            partition by run_id order by attempt_start_ts nulls last, first_log, attempt_first_ord
        )::integer as launch_no,
    from starts
)

select
    i.run_id,
    n.launch_no,
    i.job_id,
    i.job_key,
    i.log_no,
    i.launch,
    i.first_ord,
    i.source_id,
    i.first_line,
    i.start_ts,
    i.end_ts,
    i.step_lines,
    n.attempt_start_ts,
from united as i
inner join numbered as n using (run_id, job_key, island)
