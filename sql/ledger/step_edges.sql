-- one row per step span that has a gap, a warm-up or a lost step: the moments at which each of them ends
-- do not sum: times are microseconds since the epoch
with

plain as (
    select
        run_id,
        attempt,
        step_first,
        start_us,
        end_us,
        gap_us,
        warmup_us,
        kept_free_us,
        surviving_steps,
        steps,
        holds_stall,
    from ledger.step_times
    where gap_us > 0 or warmup_us > 0 or surviving_steps < steps
),

-- free time of a span runs on after each stall inside it
held as (
    select
        p.run_id,
        p.attempt,
        p.step_first,
        coalesce(sum(s.stall_us) filter (where s.free_before_us < p.gap_us), 0)::bigint as before_gap_end_us,
        coalesce(sum(s.stall_us) filter (where s.free_before_us < p.gap_us + p.warmup_us), 0)::bigint as before_warmup_end_us,
        coalesce(sum(s.stall_us) filter (where s.free_before_us < p.kept_free_us), 0)::bigint as before_kept_end_us,
        coalesce(sum(s.stall_us) filter (where s.free_before_us = 0), 0)::bigint as before_all_us,
    from plain as p
    inner join ledger.span_stalls as s using (run_id, attempt, step_first)
    where p.holds_stall
    group by all
)

select
    p.run_id,
    p.attempt,
    p.step_first,
    p.start_us,
    p.end_us,
    p.start_us + coalesce(h.before_all_us, 0) as free_start_us,
    p.start_us + p.gap_us + greatest(coalesce(h.before_gap_end_us, 0), coalesce(h.before_all_us, 0)) as gap_end_us,
    p.start_us + p.gap_us + p.warmup_us + greatest(coalesce(h.before_warmup_end_us, 0), coalesce(h.before_all_us, 0)) as warmup_end_us,
    case
        when p.surviving_steps = p.steps then p.end_us
        when p.surviving_steps = 0 then p.start_us
        else p.start_us + p.kept_free_us + coalesce(h.before_kept_end_us, 0)
    end as kept_end_us,
from plain as p
left join held as h using (run_id, attempt, step_first)
