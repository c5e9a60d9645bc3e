-- one row per step span: its pace, and the configuration of the run that it belongs to
-- do not sum: step_us is a mean over the steps of the span
-- step_us: net time of one step, stalls and warm-up left out; in microseconds
-- clean: whether the span holds nothing but steps, and is not the first of its attempt
-- gpus: accelerators that made it, no more than the run's own
-- window_start: begin of the window that it lies in; null where it crosses a border, or lies in none
-- batch: tokens of a step, else samples; null where lines do not tell, or tell another number for nearly each step
-- batch_tokens: tokens of a step, where they are the batch
-- told_tokens: tokens of a step as its line tells them, else by the rate that it prints
-- place: number of the span within the run, in the order of attempts and steps; null where it is not clean
-- places: clean spans of the configuration
with

lengths as (
    select run_id, try_cast(max(value) as bigint) as seq_length
    from staging.facts
    where key = 'seq_length' and place = 1
    group by run_id
),

spans as (
    select
        s.run_id,
        s.attempt,
        s.place,
        s.step_first,
        s.step_last,
        s.steps,
        s.surviving_steps,
        s.start_ts,
        s.end_ts,
        s.window_start,
        s.net_us / s.steps as step_us,
        not s.first_span and not s.holds_stall and s.net_us > 0 as clean,
        a.counted_gpus as gpus,
        round(s.tokens / s.steps) as step_tokens,
        coalesce(step_tokens, s.batch_size) as step_batch,
        l.seq_length,
        s.tokens / s.steps as span_tokens,
        coalesce(s.step_time_s, step_us / 1e6) as rated_s,
        s.tokens_per_s,
        s.tokens_per_s_per_gpu,
    from ledger.steps as s
    inner join ledger.runs as r using (run_id)
    inner join ledger.attempts as a using (run_id, attempt)
    left join lengths as l on l.run_id = s.run_id
    where s.steps > 0
),

-- documents and answers of any length make another number of tokens in each step: no configuration
varied as (
    select run_id
    from spans
    group by run_id
    having approx_count_distinct(step_batch) * 20 > count(step_batch) and count(distinct step_batch) > 2
),

marked as (
    select *, run_id in (from varied) as is_varied from spans
),

keyed as (
    select
        s.* exclude (is_varied, step_tokens, step_batch, span_tokens, rated_s, tokens_per_s, tokens_per_s_per_gpu),
        case when not s.is_varied then s.step_batch end as batch,
        case when not s.is_varied then s.step_tokens end as batch_tokens,
        coalesce(s.span_tokens, s.tokens_per_s * s.rated_s, s.tokens_per_s_per_gpu * s.gpus * s.rated_s) as told_tokens,
    from marked as s
),

-- spans of the run before the first one of an attempt
offsets as (
    select
        run_id,
        attempt,
        coalesce(
            sum(max(place)) over (partition by run_id order by attempt rows between unbounded preceding and 1 preceding), 0
        )::bigint as before,
    from ledger.steps
    group by run_id, attempt
),

-- a count of the whole partition beside each row would be slow
configurations as (
    select run_id, gpus, batch, count_if(clean) as places
    from keyed
    group by run_id, gpus, batch
)

select
    k.* exclude (place),
    case when k.clean then o.before + k.place end as place,
    c.places,
from keyed as k
inner join offsets as o using (run_id, attempt)
inner join configurations as c
    on c.run_id = k.run_id and c.gpus is not distinct from k.gpus and c.batch is not distinct from k.batch
