-- one row per step span: what of its length is stall, gap in the loop, warm-up and step time, and how many of its steps survived
-- do not sum surviving steps over runs as tokens: steps of different runs differ in size
-- window_start: begin of the window that it lies in; null where it crosses a border, or lies in none
with

stalled as (
    select run_id, attempt, step_first, sum(stall_us)::bigint as stall_us
    from ledger.span_stalls
    group by all
),

lengths as (
    select
        s.*,
        s.end_us - s.start_us as length_us,
        coalesce(t.stall_us, 0) as stall_us,
        s.end_us - s.start_us - coalesce(t.stall_us, 0) as free_us,
        t.stall_us is not null as holds_stall,
        coalesce(sz.clean_us, p.clean_us) as clean_us,
        v.survives_to,
        v.unproven,
        coalesce(l.slip_us, 0) as slip_us,
    from ledger.closed_spans as s
    left join stalled as t using (run_id, attempt, step_first)
    left join ledger.pace as p using (run_id)
    left join ledger.attempt_pace as sz using (run_id, attempt)
    left join ledger.survival as v using (run_id, attempt)
    left join ledger.stamp_slips as l using (run_id, attempt)
),

gapped as (
    select
        *,
        case
            when not stamped or edge = 'begin' or first_span or printed_us is null then 0
            when free_us - printed_us > greatest(case when whole_seconds then 2000000 else 2 end, printed_us // 100, slip_us)
                then free_us - printed_us
            else 0
        end as gap_us,
    from lengths
),

netted as (
    select
        *,
        free_us - gap_us as loop_us,
        case when first_span and clean_us is not null then greatest(0, free_us - gap_us - steps * clean_us) else 0 end as warmup_us,
        greatest(0, least(steps, coalesce(survives_to, step_first - 1) - step_first + 1)) as surviving_steps,
    from gapped
),

split as (
    select
        *,
        -- free time of the span up to the end of its last surviving step
        case
            when surviving_steps = 0 then 0
            when surviving_steps = steps then free_us
            else gap_us + warmup_us + ((loop_us - warmup_us)::hugeint * surviving_steps // steps)::bigint
        end as kept_free_us,
    from netted
),

grid as (
    select r.window_us, (select min(grid_us) from ledger.windows) as origin_us
    from config.report as r
),

-- samples of a fixed length are tokens
fixed as (
    select run_id, try_cast(max(value) as bigint) as seq_length
    from staging.facts
    where key = 'seq_length' and place = 1
    group by run_id
)

select
    s.run_id,
    s.attempt,
    s.attempt_key,
    s.place,
    s.step_first,
    s.step_last,
    s.steps,
    s.start_us,
    s.end_us,
    s.loop_us - s.warmup_us as net_us,
    s.warmup_us,
    s.gap_us,
    s.stall_us,
    s.holds_stall,
    s.first_span,
    s.surviving_steps,
    s.kept_free_us,
    s.unproven,
    w.window_start,
    s.stamped,
    s.printed_us,
    s.ts_quality,
    s.source_id,
    s.line,
    e.step_time_s,
    coalesce(e.tokens, e.batch_size * f.seq_length * s.steps) as tokens,
    e.consumed_samples,
    e.batch_size,
    e.tokens_per_s,
    e.tokens_per_s_per_gpu,
    e.tflops_per_gpu,
    e.mfu,
    e.loss,
    e.skipped,
    e.step_target,
from split as s
left join events.steps as e on e.rowid = s.event_row
left join fixed as f on f.run_id = s.run_id
cross join grid as g
left join ledger.windows as w
    on w.grid_us = (g.origin_us + (s.start_us - g.origin_us) // g.window_us * g.window_us)::bigint
    and s.start_us >= epoch_us(w.window_start)
    and s.end_us <= epoch_us(w.window_end)
