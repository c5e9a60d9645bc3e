-- one row per step span that is still open: closed at a clean end, else after the clean time of its steps
-- do not sum lengths as productive time: stalls, warm-up and lost work lie inside
with

limits as (
    select
        t.run_id,
        t.attempt,
        t.clean_exit_us,
        t.loop_end_us,
        least(
            coalesce(h.end_us, t.last_evidence_us),
            coalesce(case when t.next_holding is not distinct from t.holding then t.next_start_us end, h.end_us, t.last_evidence_us)
        ) as limit_us,
        t.next_start_us,
        h.from_accounting,
        c.end_us as life_end_us,
    from ledger.timeline as t
    left join ledger.holdings as h using (run_id, holding)
    left join (select run_id, epoch_us(end_ts) as end_us from config.runs) as c using (run_id)
),

-- a stall that begins inside the open span makes it longer
stalled as (
    select
        s.run_id,
        s.attempt,
        s.step_first,
        sum(k.end_us - k.start_us)::bigint as stall_us,
    from ledger.spans as s
    inner join ledger.known_stalls as k
        on k.run_id = s.run_id and k.attempt = s.attempt and k.start_us >= s.start_us
    where s.end_us is null
    group by all
),

-- the first process that leaves ends the loop of all
exits as (
    select
        s.run_id,
        s.attempt,
        min(epoch_us(p.ts)) as exit_us,
    from ledger.spans as s
    inner join ledger.timeline as t using (run_id, attempt)
    inner join staging.placed as p on p.run_id = t.run_id and p.launch_no = t.launch_no
    where s.end_us is null and p.kind = 'phase' and p.name = 'exit' and epoch_us(p.ts) >= s.start_us
    group by all
),

closed as (
    select
        s.* exclude (end_us),
        greatest(
                s.start_us,
                case
                    when l.clean_exit_us >= s.start_us then l.clean_exit_us
                    when l.loop_end_us >= s.start_us then l.loop_end_us
                    -- whatever else ended the processes cuts it, and does not make it longer
                    else least(
                        s.start_us + coalesce(s.steps * coalesce(sz.clean_us, p.clean_us), 0) + coalesce(k.stall_us, 0),
                        l.next_start_us,
                        case when l.from_accounting then l.limit_us end,
                        l.life_end_us,
                        x.exit_us
                    )
                end
        )::bigint as end_us,
        case
            when l.clean_exit_us >= s.start_us or l.loop_end_us >= s.start_us then null
            else coalesce(sz.clean_us, p.clean_us)
        end as clean_us,
        coalesce(k.stall_us, 0) as stall_us,
    from ledger.spans as s
    left join limits as l using (run_id, attempt)
    left join ledger.pace as p using (run_id)
    left join ledger.attempt_pace as sz using (run_id, attempt)
    left join stalled as k using (run_id, attempt, step_first)
    left join exits as x using (run_id, attempt)
    where s.end_us is null
),

-- what was cut holds as many of its steps as there was time for; the one that it was in is none
cut as (
    select
        c.* exclude (end_us, steps, step_last, clean_us, stall_us),
        case
            when clean_us > 0 then greatest(1, least(steps, floor((end_us - start_us - stall_us) / clean_us)))::bigint
            else steps
        end as kept_steps,
        least(end_us, coalesce(start_us + stall_us + kept_steps * clean_us, end_us)) as end_us,
        kept_steps as steps,
        step_first + kept_steps - 1 as step_last,
    from closed as c
)

select * exclude (kept_steps) from cut
