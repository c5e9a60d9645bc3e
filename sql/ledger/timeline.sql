-- one row per attempt: a launch of trainer processes, or a held span without any trainer log; its marks before and after the loop
-- do not sum: times are microseconds since the epoch, null where no line tells
-- start_estimated: no line tells the start: it lay before start_us, which is the first time that is told at all
-- start_untold: nor does any line of its trainer have a time, so that the first that is told is that of its end
-- trainer_unseen: no line of a trainer is in what was printed, so that nobody saw whether steps were made
-- errors_alone: an error stream is all that was printed: the output in which steps would stand is missing
with

-- what a log is: one of a trainer, or the error stream of a job, whose name says so
-- where a trainer writes into another log of the run that is called alike but for numbers, it would have written here, too
printed as (
    select
        log_no,
        bool_or(bool_or(role = 'trainer')) over (
            partition by any_value(run_id), regexp_replace(any_value(log), '\d+', '0', 'g')
        ) as is_of_trainer,
        bool_and(regexp_matches(parse_filename(log), '(?i)(^|[._-])(stderr|err)([._-]|$)|\.e\d+$')) as is_error_stream,
    from staging.sources
    group by log_no
),

launches as (
    select
        a.run_id,
        a.launch_no,
        any_value(a.job_id) as job_id,
        any_value(a.job_key) as job_key,
        any_value(a.attempt_start_ts) as attempt_start_ts,
        arg_min(a.source_id, (a.step_lines = 0, a.start_ts, a.source_id, a.first_line)) as source_id,
        arg_min(a.first_line, (a.step_lines = 0, a.start_ts, a.source_id, a.first_line)) as line,
        sum(a.step_lines)::bigint as step_lines,
        epoch_us(min(a.start_ts)) as first_mark_us,
        epoch_us(max(a.end_ts)) as last_mark_us,
        coalesce(bool_or(p.is_of_trainer), true) as is_of_trainer,
        coalesce(bool_and(p.is_error_stream), false) as is_error_stream,
    from staging.attempts as a
    left join printed as p using (log_no)
    group by all
),

fitting as (
    select
        l.run_id,
        l.launch_no,
        l.job_id,
        -- a little after its release clocks may differ, unless another allocation of the run was held at that moment
        epoch_us(l.attempt_start_ts) > h.released_us
            and exists (
                select 1 from ledger.holdings as o
                where o.run_id = l.run_id
                    and o.job_id is distinct from l.job_id
                    and o.start_us <= epoch_us(l.attempt_start_ts)
                    and epoch_us(l.attempt_start_ts) <= o.released_us
            ) as fits_another,
    from launches as l
    inner join ledger.holdings as h
        on h.run_id = l.run_id
        and h.job_id = l.job_id
        and h.start_us <= epoch_us(l.attempt_start_ts) + 60000000
        and epoch_us(l.attempt_start_ts) <= h.released_us + 300000000
),

-- the only job that a file names need not be the job of all its launches: a job that completes says nothing
named_by_others as (
    select l.run_id, l.launch_no
    from launches as l
    where exists (
            select 1 from fitting as f
            where f.run_id = l.run_id and f.job_id = l.job_id and not f.fits_another
        )
        and not exists (
            select 1 from fitting as f
            where f.run_id = l.run_id and f.launch_no = l.launch_no and not f.fits_another
        )
),

-- the allocation that a launch ran in: its job's, else the one that was held then
held as (
    select
        l.run_id,
        l.launch_no,
        arg_max(
            h.holding,
            (n.launch_no is null and h.job_id is not distinct from l.job_id, h.start_us <= coalesce(epoch_us(l.attempt_start_ts), h.start_us) + 60000000, h.start_us)
        ) as holding,
    from launches as l
    left join named_by_others as n using (run_id, launch_no)
    inner join ledger.holdings as h
        on h.run_id = l.run_id
        and (
            h.job_id is not distinct from l.job_id
            or not exists (select 1 from ledger.holdings as o where o.run_id = l.run_id and o.job_id = l.job_id)
            or n.launch_no is not null
        )
        and (
            l.attempt_start_ts is null
            or (
                h.start_us <= epoch_us(l.attempt_start_ts) + 60000000
                and epoch_us(l.attempt_start_ts) <= h.released_us + 300000000
            )
        )
    group by all
),

lines as (
    select
        *,
        -- a library may tell of communicators, and a launcher of processes, where the trainer writes elsewhere
        kind in ('load', 'save', 'timer')
            or kind = 'phase' and name not in ('process_start', 'library_setup', 'init', 'exit', 'job') as of_trainer,
    from staging.placed
    where launch_no is not null
),

told as (
    select
        run_id,
        launch_no,
        min(epoch_us(ts)) filter (where kind = 'phase' and name = 'process_start') as stamped_start_us,
        min(epoch_us(ts)) filter (where tells_start(kind, name)) as first_start_us,
        min(epoch_us(ts)) filter (
            where kind = 'phase' and name in ('library_setup', 'init', 'compile', 'model_setup', 'data_setup') and edge <> 'end'
        ) as first_begin_us,
        -- a length that is told where initialisation ends
        max((duration_s * 1000000)::bigint) filter (
            where kind = 'phase' and name = 'init' and (edge = 'end' or edge = 'span' and ts is null)
        ) as init_length_us,
        max(epoch_us(ts) + coalesce(case when edge = 'span' then (duration_s * 1000000)::bigint end, 0)) filter (
            where kind = 'phase' and name in ('library_setup', 'init') and edge in ('end', 'span')
        ) as init_end_us,
        -- a load that ends with a time is over before the loop begins
        max(epoch_us(ts)) filter (
            where kind = 'phase' and name in ('model_setup', 'data_setup') and edge in ('end', 'point')
                or kind = 'load' and edge = 'end'
        ) as setup_end_us,
        min(epoch_us(ts)) filter (where kind = 'phase' and name = 'loop' and edge = 'begin') as loop_start_us,
        max(epoch_us(ts)) filter (where kind = 'phase' and name = 'loop' and edge = 'end') as loop_end_us,
        max(epoch_us(ts)) filter (
            where kind = 'phase' and name = 'exit'
                and regexp_matches(coalesce(detail, ''), '(?i)^(completed|done|data_exhausted|success)')
        ) as clean_exit_us,
        min(epoch_us(ts)) filter (where kind = 'phase' and name = 'job' and edge = 'begin') as job_start_us,
        max(epoch_us(ts)) filter (where kind = 'phase' and name = 'job' and edge = 'end') as job_end_us,
        max(epoch_us(ts)) as last_evidence_us,
        min(epoch_us(ts)) as first_evidence_us,
        -- who says how long it waited was there before
        min(epoch_us(ts) - (duration_s * 1000000)::bigint) filter (where kind = 'signal' and duration_s > 0) as waited_since_us,
        bool_or(of_trainer) as tells_of_trainer,
        bool_or(ts is not null) filter (where of_trainer) as dates_trainer,
    from lines
    group by all
),

marks as (
    select
        * exclude (stamped_start_us, first_start_us, first_begin_us, init_length_us),
        coalesce(stamped_start_us, least(first_start_us, init_end_us - init_length_us)) as process_us,
        -- the end of what comes first says that it had begun before
        process_us is null or stamped_start_us is null and least(first_begin_us, init_end_us - init_length_us) is distinct from process_us
            as start_estimated,
    from told
),

-- held, and no trainer log of it: an attempt that nobody saw
unseen as (
    select
        h.run_id,
        h.holding,
        h.job_id,
        h.start_us,
        h.source_id,
        h.line,
    from ledger.holdings as h
    where h.from_accounting
        and not exists (select 1 from held as l where l.run_id = h.run_id and l.holding = h.holding)
),

attempts as (
    select
        l.run_id,
        l.launch_no,
        h.holding,
        l.job_id,
        l.job_key,
        l.source_id,
        l.line,
        -- steps without a clock are laid out from the start of the allocation; a log that has neither them nor any time tells
        -- why an attempt ended, and nothing of when
        l.step_lines > 0
            or coalesce(m.process_us, m.first_evidence_us, l.first_mark_us, epoch_us(l.attempt_start_ts)) is not null
            or not coalesce(o.from_accounting, false)
            or count(*) over (partition by l.run_id, h.holding) > 1
            as observed,
        coalesce(m.process_us, least(m.first_evidence_us, l.first_mark_us), epoch_us(l.attempt_start_ts)) as start_us,
        greatest(m.last_evidence_us, l.last_mark_us) as last_evidence_us,
        l.step_lines = 0 and not l.is_of_trainer and not coalesce(m.tells_of_trainer, false) as trainer_unseen,
        l.is_error_stream as errors_alone,
        m.* exclude (run_id, launch_no, first_evidence_us, last_evidence_us, tells_of_trainer, dates_trainer, start_estimated),
        coalesce(m.start_estimated, true) as start_estimated,
        coalesce(m.start_estimated, true) and (
            trainer_unseen
            or l.step_lines = 0 and m.process_us is null and not coalesce(m.dates_trainer, false)
        ) as start_untold,
    from launches as l
    left join held as h using (run_id, launch_no)
    left join marks as m using (run_id, launch_no)
    left join ledger.holdings as o on o.run_id = l.run_id and o.holding = h.holding
    union all by name
    select
        run_id,
        holding,
        job_id,
        source_id,
        line,
        false as observed,
        start_us,
        true as trainer_unseen,
        false as errors_alone,
        true as start_estimated,
        true as start_untold,
    from unseen
),

numbered as (
    select
        a.* exclude (start_us),
        coalesce(a.start_us, h.start_us) as start_us,
        row_number() over (
            partition by a.run_id order by coalesce(a.start_us, h.start_us) nulls last, a.launch_no, a.holding
        )::integer as attempt,
    from attempts as a
    left join ledger.holdings as h using (run_id, holding)
),

-- a start of which only the end is told began when the first that speaks of it began to wait, at the latest
dated as (
    select
        n.* exclude (waited_since_us)
        replace (
            case
                when n.start_untold and n.observed and n.waited_since_us is not null then
                    least(n.start_us, greatest(n.waited_since_us, h.start_us, lag(n.last_evidence_us) over w))
                else n.start_us
            end as start_us
        ),
    from numbered as n
    left join ledger.holdings as h using (run_id, holding)
    window w as (partition by n.run_id, n.holding order by n.attempt)
),

followed as (
    select
        n.*,
        row_number() over (partition by n.run_id, n.holding order by n.attempt)::integer as place_in_holding,
        lead(n.start_us) over (partition by n.run_id order by n.attempt) as next_start_us,
        lead(n.holding) over (partition by n.run_id order by n.attempt) as next_holding,
    from dated as n
),

-- a number for the attempt in the whole store, which sorts faster than names
keyed as (
    select
        *,
        row_number() over (order by run_id, attempt) as attempt_key,
    from followed
)

select * from keyed
