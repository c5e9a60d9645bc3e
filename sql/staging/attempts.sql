-- one row per launch in a source, with the attempt of the run that it belongs to
-- do not count rows as attempts: count distinct run_id, attempt
with

-- one file may hold the output of several jobs, each of which the scheduler names when it ends
named as (
    select
        l.source_id,
        l.launch,
        case when count(distinct e.job_id) = 1 then min(e.job_id) end as job_id,
    from events.signals as e
    inner join staging.sources as s using (source_id)
    asof inner join staging.launches as l on e.source_id = l.source_id and e.line >= l.first_line
    where e.job_id is not null and not s.has_trainer_lines
    group by all
),

-- files of a run that name no job were written by the same processes where they overlap in time, and where one goes on with
-- the step after the last one of another, at the same pace and without a start: a log that was cut in two
files as (
    select
        l.run_id,
        -- the parts of a rotated log are one file
        coalesce(s.log, s.path) as log,
        min(s.path) as path,
        min(l.start_ts) as start_ts,
        max(coalesce(l.end_ts, l.start_ts)) as end_ts,
        arg_min(l.begins_inside, (-coalesce(s.rotation, 0), l.launch)) as begins_inside,
        arg_min(l.first_step, (-coalesce(s.rotation, 0), l.launch)) as first_step,
        arg_max(l.last_step, (-coalesce(s.rotation, 0), l.launch)) as last_step,
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
            partition by run_id order by start_ts, path rows between unbounded preceding and 1 preceding
        ) as earlier_end_ts,
        coalesce(begins_inside, false)
            and first_step - lag(last_step) over w between 1 and coalesce(stride, lag(stride) over w)
            and epoch_us(start_ts) - epoch_us(lag(end_ts) over w) <= 3 * coalesce(beat_us, lag(beat_us) over w) as goes_on,
    from files
    window w as (partition by run_id order by start_ts, path)
),

beside as (
    select
        *,
        count_if(earlier_end_ts is null or (start_ts > earlier_end_ts and not coalesce(goes_on, false))) over (
            partition by run_id order by start_ts, path rows unbounded preceding
        ) as together,
    from reached
),

file_keys as (
    select run_id, log, min(path) over (partition by run_id, together) as job_key
    from beside
),

launches as (
    select
        l.*,
        coalesce(n.job_id, s.job_id) as job_id,
        coalesce(n.job_id, s.job_id, k.job_key, s.path) as job_key,
        s.path,
        coalesce(s.log, s.path) as log,
        coalesce(s.rotation, 0) as rotation,
    from staging.launches as l
    inner join staging.sources as s using (source_id)
    left join named as n on n.source_id = l.source_id and n.launch = l.launch
    left join file_keys as k on k.run_id = l.run_id and k.log = coalesce(s.log, s.path)
),

-- the first launch of a part of a log goes on from the part before it unless a start comes after what is no start, or the
-- same process starts again; without a time of its own a launch comes after the one before it
parts as (
    select
        *,
        coalesce(
            launch = 1
            and lag(rotation) over w > rotation
            and not coalesce(first_step < lag(last_step) over w, false)
            and (
                opens_with is null
                or (
                    lag(ends_in_start) over w
                    and not (opens_with = 'process_start' and coalesce(start_ts > lag(start_ts) over w + interval 30 seconds, false))
                )
            ),
            false
        ) as next_part,
        max(start_ts) over (w rows unbounded preceding) as sort_ts,
    from launches
    window w as (partition by run_id, job_key, log order by rotation desc, launch)
),

-- launches of one job that overlap in time, or of which one goes on where the other ends, are the same attempt, told by
-- several files
ordered as (
    select
        *,
        max(coalesce(end_ts, start_ts)) over (
            partition by run_id, job_key order by sort_ts nulls last, log, rotation desc, first_ord
            rows between unbounded preceding and 1 preceding
        ) as earlier_end_ts,
        coalesce(begins_inside, false)
            and first_step - lag(last_step) over w between 1 and coalesce(stride, lag(stride) over w)
            and epoch_us(start_ts) - epoch_us(lag(coalesce(end_ts, start_ts)) over w) <= 3 * coalesce(beat_us, lag(beat_us) over w) as goes_on,
    from parts
    window w as (partition by run_id, job_key order by sort_ts nulls last, log, rotation desc, first_ord)
),

islands as (
    select
        *,
        count_if(
            not next_part
            and (start_ts is null or earlier_end_ts is null or (start_ts > earlier_end_ts and not coalesce(goes_on, false)))
        ) over (
            partition by run_id, job_key order by sort_ts nulls last, log, rotation desc, first_ord rows unbounded preceding
        ) as island,
    from ordered
),

starts as (
    select
        run_id,
        job_key,
        island,
        min(start_ts) as attempt_start_ts,
        min(path) as first_path,
        min(first_ord) as attempt_first_ord,
    from islands
    group by all
),

numbered as (
    select
        *,
        row_number() over (
            partition by run_id order by attempt_start_ts nulls last, first_path, attempt_first_ord
        )::integer as launch_no,
    from starts
)

select
    i.run_id,
    n.launch_no,
    i.job_id,
    i.job_key,
    i.source_id,
    i.launch,
    i.first_ord,
    i.first_line,
    i.start_ts,
    i.end_ts,
    i.step_lines,
    n.attempt_start_ts,
from islands as i
inner join numbered as n using (run_id, job_key, island)
