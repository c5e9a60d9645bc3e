-- one row per save of an attempt: when the loop stood still for it, and when it was durable
-- do not add background_s to blocking_s: the background part costs no time of the loop
with

save_ends_untold as (
    select format
    from events.formats
    where save_end_untold
),

background_told as (
    select format
    from events.formats
    where background_told
),

-- a training that was over at a step has saved none behind it, however its callbacks count
last_of_all as (
    select run_id, launch_no, min(regexp_extract(detail, '^max_steps=(\d+)$', 1)::bigint) as step
    from staging.placed
    where kind = 'phase' and name = 'loop' and edge = 'end' and regexp_full_match(coalesce(detail, ''), 'max_steps=\d{1,12}')
    group by all
),

lines as (
    select
        p.run_id,
        t.attempt,
        t.attempt_key,
        p.edge,
        case when p.step is not null then least(p.step, a.step) end as step,
        p.ts,
        p.duration_s,
        p.background_s,
        p.ok,
        p.log_no,
        p.ord,
        p.source_id,
        p.line,
        p.format,
        p.name as tier,
        -- that a save goes on in the background: it tells neither a step nor a time, and belongs to a save that was told before
        p.edge = 'blocked' and p.step is null and p.format in (from background_told) as sent_off,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    left join last_of_all as a using (run_id, launch_no)
    where p.kind = 'save'
),

-- a line without a step number is known by its place: it belongs to the save that began before it
placed as (
    select
        *,
        'n' || count_if(step is null and edge = 'begin') over w as place_key,
        last_value(
            case when edge = 'begin' then coalesce(step::varchar, '') when edge = 'blocked' then step::varchar end ignore nulls
        ) over w as begun_key,
        count_if(edge = 'begin') over (partition by run_id, attempt, step) > 0 as step_begun,
    from lines
    window w as (partition by run_id, attempt, log_no order by ord rows unbounded preceding)
),

keyed as (
    select
        *,
        case
            when edge in ('begin', 'span') then coalesce(step::varchar, place_key)
            -- only the end of a save may tell its step
            when step is not null and (step_begun or coalesce(begun_key, '-') <> '') then step::varchar
            else coalesce(nullif(begun_key, ''), place_key)
        end as save_key,
    from placed
    where not sent_off or begun_key is not null
),

paired as (
    select
        run_id,
        attempt,
        attempt_key,
        save_key,
        max(step) as step,
        min(epoch_us(ts)) filter (where edge in ('begin', 'span')) as begin_us,
        min(epoch_us(ts)) filter (where edge = 'blocked' and not sent_off) as written_us,
        max(epoch_us(ts)) filter (where sent_off) as sent_us,
        coalesce(sent_us, written_us) as blocked_us,
        max(epoch_us(ts)) filter (where edge = 'end') as end_us,
        -- what is told of the write ends before the loop goes on
        max((duration_s * 1000000)::bigint) + coalesce(sent_us - written_us, 0) as told_us,
        max(background_s) as background_s,
        bool_or(edge = 'begin') as has_begin,
        bool_or(edge = 'blocked') as has_blocked,
        bool_or(sent_off) as sent_off,
        bool_or(edge = 'end') as has_end,
        bool_or(edge = 'span') as has_span,
        bool_and(coalesce(ok, true)) as ok,
        bool_or(edge = 'span' and ok) as span_is_durable,
        min(format) as format,
        arg_min(log_no, (ord, source_id)) as log_no,
        min(ord) as ord,
        arg_min(source_id, (ord, source_id)) as source_id,
        arg_min(line, (ord, source_id)) as line,
        min(tier) as tier,
    from keyed
    group by all
),

-- a save without a step number holds the last step printed before it
last_steps as (
    select attempt_key, end_us, max(step_last) as step_last
    from ledger.spans
    where end_us is not null
    group by all
),

stepped as (
    select
        p.* exclude (attempt_key, step),
        coalesce(p.step, s.step_last) as step,
        s.end_us as progress_us,
    from paired as p
    asof left join last_steps as s
        on p.attempt_key = s.attempt_key
        and coalesce(p.begin_us, p.end_us, p.blocked_us) >= s.end_us
),

-- a timer that is printed after a save holds the wait for the save before it as well, which comes before the first line
timers as (
    select
        s.run_id,
        s.attempt,
        s.save_key,
        max((p.duration_s * 1000000)::bigint) as timer_us,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    asof inner join stepped as s
        on s.run_id = p.run_id and s.attempt = t.attempt and s.log_no = p.log_no and p.ord > s.ord
    where p.kind = 'timer' and p.name = 'save-checkpoint'
    group by all
),

-- a loop that waits for all that follows a step goes on when its timer is printed; what an evaluation took is not of the save
waited as (
    select s.run_id, s.attempt, s.save_key, min(epoch_us(p.ts)) as over_us
    from stepped as s
    inner join ledger.timeline as t using (run_id, attempt)
    inner join staging.placed as p
        on p.run_id = s.run_id and p.launch_no = t.launch_no and p.kind = 'timer' and p.name = 'hooks' and p.step = s.step
        and epoch_us(p.ts) >= coalesce(s.blocked_us, s.begin_us)
    where s.has_blocked
        and not exists (
            select 1 from staging.placed as e
            where e.run_id = s.run_id and e.launch_no = t.launch_no and e.kind = 'phase' and e.name = 'eval'
                and epoch_us(e.ts) > s.begin_us and e.ts <= p.ts
        )
    group by all
),

-- a save whose begin is only told as that of its background stops the loop until the line of its own step
own_lines as (
    select
        p.run_id,
        p.attempt,
        p.save_key,
        min(s.end_us) as line_us,
    from stepped as p
    inner join ledger.spans as s
        on s.run_id = p.run_id and s.attempt = p.attempt and s.step_last = p.step and s.end_us >= p.blocked_us
    where not p.has_begin and not p.has_span
    group by all
),

ended as (
    select
        p.* exclude (begin_us, blocked_us),
        case when o.line_us is not null then p.blocked_us else p.begin_us end as begin_us,
        coalesce(h.over_us, o.line_us, p.blocked_us) as blocked_us,
        coalesce(p.blocked_us, case when not p.has_blocked then p.end_us end) - t.timer_us as timed_us,
        lag(p.end_us) over (partition by p.run_id, p.attempt order by p.ord) as previous_end_us,
    from stepped as p
    left join timers as t using (run_id, attempt, save_key)
    left join own_lines as o using (run_id, attempt, save_key)
    left join waited as h using (run_id, attempt, save_key)
),

timed as (
    select
        *,
        coalesce(
            case
                when timed_us < previous_end_us and previous_end_us <= begin_us then
                    greatest(timed_us, coalesce(progress_us, timed_us))
            end,
            begin_us,
            coalesce(blocked_us, end_us) - told_us
        ) as stall_start_us,
        case
            when has_span then begin_us + told_us
            when blocked_us is not null then blocked_us
            when has_blocked then null
            when end_us is not null then end_us
            when told_us is not null then begin_us + told_us
        end as stall_end_us,
    from ended
),

-- a later load of the step proves that it was durable
used as (
    select
        s.run_id,
        s.attempt,
        s.save_key,
        min(r.attempt) as used_by,
    from timed as s
    inner join ledger.restores as r
        on r.run_id = s.run_id and r.attempt > s.attempt and r.step = s.step and not r.cold
    group by all
),

-- a program that never says when a save is over, and waits for it: the next step line says so
went_on as (
    select
        p.run_id,
        p.attempt,
        p.save_key,
        s.end_us as line_us,
    from timed as p
    asof inner join ledger.spans as s
        on p.run_id = s.run_id and p.attempt = s.attempt and p.log_no = s.log_no and p.ord < s.ord
    where p.format in (from save_ends_untold) and p.has_begin and not p.has_blocked and not p.has_end and s.step_last > p.step
),

-- a program may print when a save goes on in the background, and wait for it before it saves again
followed as (
    select
        *,
        has_blocked and format in (select format from events.formats where blocked_is_end_of_sync) as blocked_may_end,
        has_blocked and not sent_off and format in (from background_told) as at_once,
        format in (select format from events.formats where next_save_waits) and has_blocked and not has_end
            and lead(stall_start_us) over (partition by run_id, attempt order by stall_start_us nulls last) is not null
            as followed_by_save,
        lead(stall_start_us) over (partition by run_id, attempt order by stall_start_us nulls last) as next_save_us,
    from timed
),

synchronous as (
    select distinct run_id
    from staging.facts
    where key = 'async_save' and lower(value) in ('disabled', 'false')
),

final as (
    select
        t.*,
        case
            when not t.ok then false
            when t.has_end or coalesce(t.span_is_durable, false) then true
            when t.at_once or (t.blocked_may_end and y.run_id is not null) then true
            when t.followed_by_save then true
            when w.run_id is not null then true
            when u.used_by is not null then true
            else false
        end as durable,
        case
            when t.has_end or coalesce(t.span_is_durable, false) then t.stall_end_us
            when t.at_once or (t.blocked_may_end and y.run_id is not null) then t.stall_end_us
            when t.followed_by_save then t.next_save_us
            when w.run_id is not null then w.line_us
            else t.stall_end_us
        end as durable_from_us,
        case
            when not t.ok then 'failed'
            when t.has_end or coalesce(t.span_is_durable, false) then 'logged'
            when t.at_once or (t.blocked_may_end and y.run_id is not null) then 'saves are synchronous'
            when t.followed_by_save then 'the next save waited for it'
            when w.run_id is not null then 'the steps went on after it'
            when u.used_by is not null then 'a later load used it'
            when t.has_span then 'no line says so'
            else 'no completion logged'
        end as durable_how,
    from followed as t
    left join used as u using (run_id, attempt, save_key)
    left join went_on as w using (run_id, attempt, save_key)
    left join synchronous as y using (run_id)
)

select
    run_id,
    attempt,
    step,
    make_timestamptz(stall_start_us) as begin_ts,
    make_timestamptz(stall_end_us) as blocked_ts,
    case when durable then make_timestamptz(coalesce(end_us, durable_from_us)) end as durable_ts,
    (stall_end_us - stall_start_us) / 1e6 as blocking_s,
    coalesce(
        background_s,
        case when end_us > stall_end_us then (end_us - stall_end_us) / 1e6 end
    ) as background_s,
    durable,
    durable_how,
    has_span as record_of_whole_save,
    tier,
    stall_start_us,
    stall_end_us,
    case when durable then coalesce(end_us, durable_from_us) end as durable_us,
    ord,
    source_id,
    line,
from final
