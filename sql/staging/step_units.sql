-- one row per log whose step lines count samples or tokens instead of steps, with the count of one step
-- do not sum: it is a divisor
with

counted as (
    select
        s.log_no,
        max(try_cast(f.value as bigint)) filter (where f.key = 'global_batch_size') as batch,
        max(try_cast(f.value as bigint)) filter (where f.key = 'seq_length') as length,
    from events.facts as f
    inner join staging.sources as s using (source_id)
    where f.key in ('global_batch_size', 'seq_length')
    group by s.log_no
),

-- a count of tokens is a multiple of batch and sequence in every line; a count of samples is not
units as (
    select
        s.log_no,
        any_value(c.batch) as batch,
        any_value(c.length) as length,
        bool_and(e.consumed_samples % (c.batch * c.length) = 0) as in_tokens,
    from events.steps as e
    inner join staging.sources as s using (source_id)
    inner join counted as c using (log_no)
    where e.step_last is null and e.consumed_samples > 0 and c.batch > 0
    group by s.log_no
)

select
    log_no,
    case when coalesce(in_tokens, false) then batch * length else batch end as unit,
    coalesce(in_tokens, false) as in_tokens,
from units
