-- one row per step span of an attempt: the steps that one step line stands for, and when
-- do not sum lengths as productive time: stalls, warm-up and lost work lie inside
with

-- from its first line to the next launch of its log a launch is told
launches as (
    select
        a.log_no,
        a.first_ord,
        coalesce(lead(a.first_ord) over (partition by a.log_no order by a.first_ord), 9223372036854775807) as next_ord,
        t.run_id,
        t.attempt,
        t.attempt_key,
    from staging.attempts as a
    inner join ledger.timeline as t on t.run_id = a.run_id and t.launch_no = a.launch_no
),

lines as (
    select
        l.run_id,
        a.attempt,
        a.attempt_key,
        l.event_row,
        l.edge,
        l.step,
        l.steps,
        l.duration_s,
        l.told_of_one,
        l.told_of_all,
        l.elapsed_s,
        epoch_us(l.ts) as ts_us,
        l.ts_quality,
        l.log_no,
        l.log_line,
        l.ord,
        l.source_id,
        l.line,
        l.segment,
        l.format,
    from staging.step_lines as l
    inner join launches as a on l.log_no = a.log_no and l.ord >= a.first_ord and l.ord < a.next_ord
),

-- a benchmark that prints blocks of training with their count of samples, and no steps
blocks as (
    select
        p.run_id,
        t.attempt,
        t.attempt_key,
        p.pattern,
        p.edge,
        epoch_us(p.ts) as ts_us,
        lead(p.edge) over w as next_edge,
        lead(epoch_us(p.ts)) over w as next_us,
        p.ts_quality,
        p.format,
        p.log_no,
        p.ord,
        p.source_id,
        p.line,
        p.segment,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    left join (select distinct run_id, attempt from lines) as l on l.run_id = t.run_id and l.attempt = t.attempt
    where p.kind = 'phase' and p.name = 'block' and p.ts is not null and l.run_id is null
    window w as (partition by p.run_id, t.attempt, p.pattern, p.log_no order by p.ts, p.log_line)
),

block_pairs as (
    select *
    from blocks
    where edge = 'begin' and next_edge = 'end' and next_us > ts_us
),

-- blocks and epochs nest: the kind with more pairs is the finer one
finest as (
    select run_id, attempt, arg_max(pattern, (pairs, pattern)) as pattern
    from (select run_id, attempt, pattern, count(*) as pairs from block_pairs group by all)
    group by all
),

block_spans as (
    select
        b.run_id,
        b.attempt,
        b.attempt_key,
        row_number() over (partition by b.run_id, b.attempt order by b.ts_us, b.ord) as step,
        b.ts_us as start_us,
        b.next_us as end_us,
        b.ts_quality,
        b.format,
        b.log_no,
        b.ord,
        b.source_id,
        b.line,
        b.segment,
    from block_pairs as b
    inner join finest as f using (run_id, attempt, pattern)
),

-- where some lines carry a time, the others only fill the count of steps
stamps as (
    select
        attempt_key,
        count(ts_us) > 0 as stamped,
        count(*) > count(distinct step) as repeated,
    from lines
    group by all
),

told as (
    select
        *,
        attempt_key in (select attempt_key from stamps where stamped) as stamped,
        attempt_key in (select attempt_key from stamps where repeated) as repeated,
    from lines
    where ts_us is not null or not stamped
),

-- one line per step: hosts and ranks print the same step
kept as (
    select * from told where not repeated
    union all by name
    select *
    from told
    where repeated
    qualify lag(step) over (
        partition by attempt_key order by step, ts_us nulls last, log_no, log_line, segment
    ) is distinct from step
),

neighbours as (
    select
        *,
        lag(step) over w as previous_step,
        lead(step) over w as next_step,
        lag(ts_us) over w as previous_us,
        lag(elapsed_s) over w as previous_elapsed_s,
        lead(ts_us) over w as next_us,
        row_number() over w as place,
    from kept
    window w as (partition by attempt_key order by step)
),

-- the usual distance between lines of the run
strides as (
    select run_id, arg_max(stride, (lines, -stride)) as stride
    from (
        select run_id, step - previous_step as stride, count(*) as lines
        from neighbours
        where step > previous_step
        group by all
    )
    group by run_id
),

wholes as (
    select run_id, attempt, bool_and(ts_us % 1000000 = 0) as whole_seconds
    from kept
    where ts_us is not null
    group by all
),

counted as (
    select
        k.*,
        s.stride,
        r.step as restored,
        coalesce(h.whole_seconds, false) as whole_seconds,
        t.loop_start_us,
        greatest(
            t.setup_end_us,
            t.init_end_us,
            t.process_us,
            -- of a program that does not say when its loop begins the last thing before it is the load
            case when t.loop_start_us is null then r.end_us end
        ) as ready_us,
        t.start_us as attempt_us,
    from neighbours as k
    inner join ledger.timeline as t using (run_id, attempt)
    left join strides as s using (run_id)
    left join ledger.restores as r using (run_id, attempt)
    left join wholes as h using (run_id, attempt)
),

-- which steps a line stands for
stepped as (
    select
        *,
        case
            when edge = 'begin' then step
            when previous_step is not null then previous_step + 1
            when steps is not null then step - steps + 1
            when restored is not null and restored < step and step - restored <= 10 * coalesce(stride, step - restored)
                then restored + 1
            when step <= coalesce(stride, step) then least(1, step)
            else step - coalesce(stride, 1) + 1
        end as step_first,
        case
            when edge = 'begin' then coalesce(next_step - 1, step + coalesce(stride, 1) - 1)
            else step
        end as step_last,
    from counted
),

-- lines of saves, and what is told behind and before each: its timer holds the wait for the save before it as well, which comes
-- before its first line
save_lines as (
    select
        t.attempt_key,
        p.kind,
        p.edge,
        p.step,
        epoch_us(p.ts) as begin_us,
        lead(case when p.kind = 'timer' then (least(p.duration_s, 1e9) * 1000000)::bigint end ignore nulls) over w as timer_us,
        lead(case when p.edge = 'blocked' then epoch_us(p.ts) end ignore nulls) over w as blocked_us,
        max(case when p.edge = 'end' then epoch_us(p.ts) end) over (w rows unbounded preceding) as previous_end_us,
        p.ts_quality,
        p.log_no,
        p.log_line,
        p.ord,
        p.source_id,
        p.line,
        p.segment,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    where p.kind = 'save' or (p.kind = 'timer' and p.name = 'save-checkpoint')
    window w as (partition by t.attempt_key, p.log_no order by p.ord)
),

-- a save that begins proves its step, where the line that would tell of it is not printed any more; one of steps far beyond
-- counts something else
saved as (
    select
        *,
        case
            when blocked_us - timer_us < previous_end_us and previous_end_us <= begin_us then blocked_us - timer_us else begin_us
        end as ts_us,
    from save_lines
    where kind = 'save' and edge in ('begin', 'span') and step is not null and begin_us is not null
    qualify row_number() over (partition by attempt_key order by step desc, begin_us, log_no, ord, source_id, line) = 1
),

proved as (
    from stepped
    union all by name
    select
        l.* exclude (duration_s) replace (
            null::bigint as event_row,
            null::bigint as steps,
            false as told_of_one,
            false as told_of_all,
            null::double as elapsed_s,
            l.step as previous_step,
            l.ts_us as previous_us,
            l.place + 1 as place,
            l.step + 1 as step_first,
            s.step as step,
            s.step as step_last,
            greatest(s.ts_us, l.ts_us) as ts_us,
            s.ts_quality as ts_quality,
            s.log_no as log_no,
            s.log_line as log_line,
            s.ord as ord,
            s.source_id as source_id,
            s.line as line,
            s.segment as segment
        ),
    from stepped as l
    inner join saved as s using (attempt_key)
    where l.next_step is null and l.edge = 'end' and s.begin_us >= l.ts_us and s.step between l.step + 1 and l.step + l.stride
),

printed as (
    select
        *,
        ts_us as stamp_us,
        -- a clock that counts from the begin of the loop tells how long a line stands for, stalls and all
        elapsed_s >= coalesce(previous_elapsed_s, 0) as counted_on,
        -- where the timer of the steps never stops, what other timers tell of is inside the printed time
        format in (select format from events.formats where step_time_runs_on) as printed_whole,
        case
            when counted_on and (not stamped or told_of_all) then elapsed_s - coalesce(previous_elapsed_s, 0)
            -- the time of one step says nothing of the steps between two lines
            when told_of_one and step_last > step_first then null
            else duration_s * (step_last - step_first + 1)
        end as told_s,
        -- a printed time of years is damage, and no sum of such may leave the range of times
        case when told_s is not null then (least(told_s, 1e9) * 1000000)::bigint end as printed_us,
    from proved
),

-- what timers and lines of saves say of the length of a stall, by the step line that comes next or tells of it itself;
-- the same one may be repeated
told_timers as (
    select
        n.run_id,
        n.attempt,
        n.step,
        p.name,
        n.log_no,
        p.rank,
        sum(distinct (least(p.duration_s, 1e9) * 1000000)::bigint)::bigint as timer_us,
    from staging.placed as p
    asof inner join (select run_id, attempt, step, log_no, ord from printed where not stamped) as n
        on p.log_no = n.log_no and p.ord <= n.ord
    inner join ledger.timeline as t on t.run_id = n.run_id and t.attempt = n.attempt and t.launch_no = p.launch_no
    where p.run_id = n.run_id
        and (
            (p.kind = 'timer' and p.name in ('save-checkpoint', 'evaluate'))
            or (p.kind = 'save' and p.edge in ('blocked', 'span') and p.duration_s > 0)
        )
    group by all
),

-- several ranks or logs that tell of the same stall tell of one
timers as (
    select run_id, attempt, step, sum(timer_us)::bigint as timer_us
    from (select run_id, attempt, step, name, max(timer_us) as timer_us from told_timers group by all)
    group by all
),

-- without stamps, spans are laid end to end, with room for the stalls that timers tell of
laid as (
    select *, null::bigint as laid_us, 0::bigint as timer_us from printed where stamped
    union all by name
    select
        p.*,
        case when p.counted_on or p.printed_whole then 0 else coalesce(t.timer_us, 0) end as timer_us,
        least(
            sum(
                coalesce(p.printed_us, 0)
                + case when p.counted_on or p.printed_whole then 0 else coalesce(t.timer_us, 0) end
            ) over (
                partition by p.run_id, p.attempt order by p.step rows unbounded preceding
            ),
            1000000000000000
        )::bigint as laid_us,
    from printed as p
    left join timers as t using (run_id, attempt, step)
    where not p.stamped
),

-- attempts that nothing dates, in one allocation, came one after the other: time between them is not told
undated as (
    select run_id, attempt, attempt_us, max(laid_us) as length_us
    from laid
    where not stamped and loop_start_us is null and ready_us is null
    group by all
),

shifts as (
    select
        run_id,
        attempt,
        sum(length_us) over (
            partition by run_id, attempt_us order by attempt rows between unbounded preceding and 1 preceding
        )::bigint as shift_us,
    from undated
),

timed as (
    select
        l.* exclude (ts_quality),
        -- a line without a time is laid behind a line of its log that has one, else behind the start of what held it
        case
            when stamped then ts_quality
            when coalesce(loop_start_us, ready_us) is not null then 'derived'
            when attempt_us is not null then 'anchored'
            else 'none'
        end as ts_quality,
        case
            when edge = 'begin' then stamp_us
            when stamped and previous_us is not null then previous_us
            when stamped then least(
                coalesce(
                    loop_start_us,
                    greatest(ready_us, stamp_us - printed_us),
                    ready_us,
                    stamp_us - printed_us,
                    attempt_us
                ),
                stamp_us
            )
            else
                coalesce(loop_start_us, ready_us, attempt_us + coalesce(shift_us, 0))
                + laid_us - coalesce(printed_us, 0) - timer_us
        end as start_us,
        case
            when edge = 'begin' then next_us
            when stamped then stamp_us
            else coalesce(loop_start_us, ready_us, attempt_us + coalesce(shift_us, 0)) + laid_us
        end as end_us,
    from laid as l
    left join shifts as h using (run_id, attempt)
),

final as (
    select
        run_id,
        attempt,
        attempt_key,
        place,
        place = 1 as first_span,
        edge,
        stamped,
        false as is_block,
        step_first,
        step_last,
        step_last - step_first + 1 as steps,
        start_us,
        -- the last span of steps that are logged at their begin is still open
        case when end_us is not null then greatest(end_us, start_us) end as end_us,
        printed_us,
        coalesce(stride, 1) as stride,
        whole_seconds,
        ts_quality,
        format,
        log_no,
        ord,
        source_id,
        line,
        segment,
        event_row,
    from timed
    union all by name
    select
        run_id,
        attempt,
        attempt_key,
        step as place,
        step = 1 as first_span,
        'block' as edge,
        true as stamped,
        true as is_block,
        step as step_first,
        step as step_last,
        1::bigint as steps,
        start_us,
        end_us,
        null::bigint as printed_us,
        1::bigint as stride,
        false as whole_seconds,
        ts_quality,
        format,
        log_no,
        ord,
        source_id,
        line,
        segment,
        null::bigint as event_row,
    from block_spans
)

select * from final
