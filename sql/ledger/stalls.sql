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

-- after the last step line of an attempt only timers tell how long
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

-- a stall without a step number comes after the last step that ended before it; where steps are logged as they begin,
-- inside the span of the step that it follows
unnumbered as (
    select
        r.* exclude (step),
        p.step_last as after_step,
        r.step,
    from real as r
    asof left join (
        select run_id, attempt, step_last, case when edge = 'begin' then start_us else end_us end as from_us
        from spans
    ) as p
        on r.run_id = p.run_id and r.attempt = p.attempt and r.start_us >= p.from_us
    where r.step is null
),

final as (
    select *, step as after_step from real where step is not null
    union all by name
    from unnumbered
)

select * from final
