-- one row per stall of a loop: saves, evaluations, waits, with begin and end, told or worked out
-- do not sum over categories: stalls of several kinds may overlap
with

spans as (
    select
        s.*,
        coalesce(sz.clean_us, p.clean_us) as clean_us,
    from ledger.closed_spans as s
    left join ledger.pace as p using (run_id)
    left join ledger.attempt_pace as sz using (run_id, attempt)
),

-- what stamped stalls take of a span, and where the last one that begins it ends
known as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        sum(least(k.end_us, s.end_us) - greatest(k.start_us, s.start_us))::bigint as known_us,
        max(least(k.end_us, s.end_us)) filter (where k.step < s.step_first or k.step is null) as after_us,
    from spans as s
    inner join (select distinct run_id, attempt, span_step from ledger.stall_marks) as m
        on m.run_id = s.run_id and m.attempt = s.attempt and m.span_step = s.step_first
    inner join ledger.known_stalls as k
        on k.run_id = s.run_id and k.attempt = s.attempt and k.start_us < s.end_us and k.end_us > s.start_us
    group by all
),

marked as (
    select
        m.run_id,
        m.attempt,
        m.span_step,
        any_value(m.timer_us) filter (where m.what = 'save') as save_timer_us,
        any_value(m.timer_us) filter (where m.what = 'eval') as eval_timer_us,
        coalesce(bool_or(m.what = 'save'), false) as has_save,
        coalesce(bool_or(m.what = 'eval'), false) as has_eval,
        any_value(m.step) filter (where m.what = 'save') as save_step,
        any_value(m.step) filter (where m.what = 'eval') as eval_step,
        any_value(m.source_id) filter (where m.what = 'save') as save_source_id,
        any_value(m.line) filter (where m.what = 'save') as save_line,
        any_value(m.source_id) filter (where m.what = 'eval') as eval_source_id,
        any_value(m.line) filter (where m.what = 'eval') as eval_line,
    from ledger.stall_marks as m
    group by all
),

-- inside the loop: timers, else what the span takes beyond its steps
inside as (
    select
        m.*,
        greatest(s.start_us, coalesce(k.after_us, s.start_us)) as from_us,
        s.end_us as span_end_us,
        s.step_first,
        greatest(
            0,
            s.end_us - s.start_us - coalesce(k.known_us, 0)
            - case
                when s.stamped and s.printed_us is not null then s.printed_us
                else coalesce(s.steps * s.clean_us, s.end_us - s.start_us)
            end
        ) as rest_us,
    from marked as m
    inner join spans as s on s.run_id = m.run_id and s.attempt = m.attempt and s.step_first = m.span_step
    left join known as k on k.run_id = s.run_id and k.attempt = s.attempt and k.step_first = s.step_first
),

lengths as (
    select
        *,
        case
            when not has_save then 0
            when save_timer_us is not null then save_timer_us
            when has_eval and eval_timer_us is null then 0
            else greatest(0, rest_us - coalesce(eval_timer_us, 0))
        end as save_us,
        case
            when not has_eval then 0
            when eval_timer_us is not null then eval_timer_us
            else greatest(0, rest_us - coalesce(save_timer_us, 0))
        end as eval_us,
    from inside
),

-- after the last step line of an attempt only timers tell how long; what names a later step comes later
last_spans as (
    select run_id, attempt, max(end_us) as end_us, max(step_last) as step_last
    from spans
    group by all
),

tail as (
    select
        m.*,
        greatest(
            l.end_us,
            coalesce((
                select max(k.end_us) from ledger.known_stalls as k
                where k.run_id = m.run_id and k.attempt = m.attempt and k.start_us >= l.end_us
                    and coalesce(k.step <= coalesce(m.eval_step, m.save_step), true)
            ), l.end_us)
        ) as from_us,
        l.step_last + 1 as step_first,
        coalesce(m.save_timer_us, 0) as save_us,
        coalesce(m.eval_timer_us, 0) as eval_us,
        null::bigint as span_end_us,
    from marked as m
    inner join last_spans as l using (run_id, attempt)
    where m.span_step is null
),

worked_out as (
    select
        run_id,
        attempt,
        'checkpoint_stall' as category,
        from_us as start_us,
        least(from_us + save_us, coalesce(span_end_us, from_us + save_us)) as end_us,
        coalesce(save_step, step_first - 1) as step,
        save_timer_us is null as estimated,
        save_source_id as source_id,
        save_line as line,
    from (from lengths union all by name from tail)
    where save_us > 0
    union all
    select
        run_id,
        attempt,
        'evaluation' as category,
        from_us + save_us as start_us,
        least(from_us + save_us + eval_us, coalesce(span_end_us, from_us + save_us + eval_us)) as end_us,
        coalesce(eval_step, step_first - 1) as step,
        eval_timer_us is null as estimated,
        eval_source_id as source_id,
        eval_line as line,
    from (from lengths union all by name from tail)
    where eval_us > 0
),

told as (
    select
        k.run_id,
        k.attempt,
        k.category,
        k.start_us,
        k.end_us,
        k.step,
        false as estimated,
        k.source_id,
        k.line,
    from ledger.known_stalls as k
),

united as (
    from told
    union all by name
    from worked_out
),

real as (
    select * from united where end_us > start_us
),

-- a stall without a step number lies in the last span that began before it
within as (
    select
        row_number() over (order by r.run_id, r.attempt, r.start_us, r.category) as stall_no,
        r.* exclude (step),
        s.step_first,
        s.step_last,
        -- a step that is logged as it begins has begun; of one that is logged when it ends nobody knows
        case when s.edge = 'begin' then s.step_first else s.step_first - 1 end as step_from,
        s.start_us as span_start_us,
        s.end_us as span_end_us,
        s.first_span,
        s.was_open,
        s.clean_us,
    from real as r
    asof left join (
        from spans semi join (select distinct run_id, attempt from real where step is null) using (run_id, attempt)
    ) as s on r.run_id = s.run_id and r.attempt = s.attempt and r.start_us >= s.start_us
    where r.step is null
),

-- moments near it of which it is known after which step they come: the edges of the span, and stalls inside it that tell;
-- a first span begins with a warm-up, and where an open one ended is worked out
moments as (
    select stall_no, span_start_us as moment_us, step_first - 1 as step, first_span as vague
    from within
    where span_start_us is not null
    union all
    select stall_no, greatest(span_end_us, start_us) as moment_us, step_last as step, was_open as vague
    from within
    where span_end_us is not null
    union all
    select
        w.stall_no,
        case when r.end_us <= w.start_us then r.end_us else greatest(r.start_us, w.start_us) end as moment_us,
        r.step,
        false as vague,
    from within as w
    inner join real as r
        on r.run_id = w.run_id and r.attempt = w.attempt and r.start_us >= w.span_start_us and r.start_us < w.span_end_us
    where r.step is not null
),

apart as (
    select
        m.stall_no,
        m.step,
        coalesce(m.vague, false) as vague,
        m.moment_us > w.start_us as is_later,
        w.run_id,
        w.attempt,
        case when m.moment_us > w.start_us then w.end_us else m.moment_us end as from_us,
        case when m.moment_us > w.start_us then greatest(m.moment_us, w.end_us) else w.start_us end as to_us,
    from moments as m
    inner join within as w using (stall_no)
),

-- steps are made in the time that no stall takes
freed as (
    select
        a.stall_no,
        a.step,
        a.vague,
        a.is_later,
        greatest(0, a.to_us - a.from_us - coalesce(sum(r.end_us - r.start_us), 0))::bigint as free_us,
    from apart as a
    left join real as r
        on r.run_id = a.run_id and r.attempt = a.attempt and r.start_us >= a.from_us and r.end_us <= a.to_us
    group by a.stall_no, a.step, a.vague, a.is_later, a.from_us, a.to_us
),

nearest as (
    select
        stall_no,
        arg_min(
            {'step': step, 'is_later': is_later, 'free_us': free_us},
            (vague, free_us, is_later, step)
        ) as moment,
    from freed
    group by stall_no
),

unnumbered as (
    select
        w.run_id,
        w.attempt,
        w.category,
        w.start_us,
        w.end_us,
        greatest(w.step_from, least(
            w.step_last,
            n.moment.step + case when n.moment.is_later then -1 else 1 end
                * coalesce(round(n.moment.free_us / w.clean_us)::bigint, 0)
        )) as after_step,
        w.estimated,
        w.source_id,
        w.line,
        null::bigint as step,
    from within as w
    left join nearest as n using (stall_no)
),

final as (
    select *, step as after_step from real where step is not null
    union all by name
    from unnumbered
)

select * from final
