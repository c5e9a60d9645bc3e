-- one row per step span: what of its length is stall, gap in the loop, warm-up and step time, and how many of its steps survived
-- do not sum surviving steps over runs as tokens: steps of different runs differ in size
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
        free_us - gap_us as net_us,
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
            else gap_us + warmup_us + ((net_us - warmup_us)::hugeint * surviving_steps // steps)::bigint
        end as kept_free_us,
    from netted
)

select * exclude (slip_us) from split
