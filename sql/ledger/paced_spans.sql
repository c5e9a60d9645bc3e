-- one row per step span: its pace, and the configuration of the run that it belongs to
-- do not sum: step_us is a mean over the steps of the span
-- step_us: net time of one step, stalls and warm-up left out; in microseconds
-- clean: whether the span holds nothing but steps, and is not the first of its attempt
-- gpus: accelerators that made it, no more than the run's own
-- batch: tokens of a step, else samples; null where lines do not tell, or tell another number for nearly each step
-- batch_tokens: tokens of a step, where they are the batch
-- place: number of the span among the clean ones of its configuration, in order; null where it is not clean
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
        s.step_first,
        s.step_last,
        s.steps,
        s.surviving_steps,
        s.start_ts,
        s.end_ts,
        s.net_us / s.steps as step_us,
        not s.first_span and not s.holds_stall and s.net_us > 0 as clean,
        least(coalesce(a.gpus, r.gpus), r.gpus) as gpus,
        round(s.tokens / s.steps) as step_tokens,
        coalesce(step_tokens, s.batch_size) as step_batch,
        l.seq_length,
        s.source_id,
        s.line,
    from ledger.steps as s
    inner join ledger.runs as r using (run_id)
    left join ledger.attempts as a using (run_id, attempt)
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

keyed as (
    select
        s.* exclude (step_tokens, step_batch),
        case when v.run_id is null then s.step_batch end as batch,
        case when v.run_id is null then s.step_tokens end as batch_tokens,
    from spans as s
    left join varied as v using (run_id)
),

placed as (
    select
        *,
        case
            when clean
                then row_number() over (partition by run_id, gpus, batch, clean order by attempt, step_first)
        end as place,
    from keyed
),

-- a count of the whole partition beside each row would be slow
counted as (
    select run_id, gpus, batch, count(*) as places
    from keyed
    where clean
    group by all
)

select
    p.*,
    coalesce(c.places, 0) as places,
from placed as p
left join counted as c
    on c.run_id = p.run_id and c.gpus is not distinct from p.gpus and c.batch is not distinct from p.batch
