-- one row per step span of an attempt: the steps that one step line stands for, their time, and how many of them survived
-- do not sum start_ts..end_ts as productive time: stalls, warm-up and lost work lie inside (see ledger.intervals)
with

lengths as (
    select run_id, try_cast(max(value) as bigint) as seq_length
    from staging.facts
    where key = 'seq_length' and place = 1
    group by run_id
),

printed as (
    select
        s.*,
        e.step_time_s,
        -- samples of a fixed length are tokens
        coalesce(e.tokens, e.batch_size * l.seq_length * s.steps) as tokens,
        e.consumed_samples,
        e.batch_size,
        e.tokens_per_s,
        e.tokens_per_s_per_gpu,
        e.tflops_per_gpu,
        e.mfu,
        e.loss,
        e.skipped,
        e.step_target,
    from ledger.step_times as s
    left join events.steps as e on e.rowid = s.event_row
    left join lengths as l on l.run_id = s.run_id
)

select
    run_id,
    attempt,
    step_first,
    step_last,
    steps,
    make_timestamptz(start_us) as start_ts,
    make_timestamptz(end_us) as end_ts,
    net_us - warmup_us as net_us,
    warmup_us,
    gap_us,
    stall_us,
    step_time_s,
    first_span,
    holds_stall,
    surviving_steps,
    tokens,
    consumed_samples,
    batch_size,
    tokens_per_s,
    tokens_per_s_per_gpu,
    tflops_per_gpu,
    mfu,
    loss,
    skipped,
    step_target,
    ts_quality,
    stamped,
    printed_us,
    source_id,
    line,
from printed
