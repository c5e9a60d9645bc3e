-- one row per source whose step lines count samples or tokens instead of steps, with the count of one step
-- do not sum: it is a divisor
with

counted as (
    select
        source_id,
        max(try_cast(value as bigint)) filter (where key = 'global_batch_size') as batch,
        max(try_cast(value as bigint)) filter (where key = 'seq_length') as length,
    from events.facts
    where key in ('global_batch_size', 'seq_length')
    group by source_id
),

-- a count of tokens is a multiple of batch and sequence in every line; a count of samples is not
units as (
    select
        s.source_id,
        any_value(c.batch) as batch,
        any_value(c.length) as length,
        bool_and(s.consumed_samples % (c.batch * c.length) = 0) as in_tokens,
    from events.steps as s
    inner join counted as c using (source_id)
    where s.step_last is null and s.consumed_samples > 0 and c.batch > 0
    group by s.source_id
)

select
    source_id,
    case when coalesce(in_tokens, false) then batch * length else batch end as unit,
    coalesce(in_tokens, false) as in_tokens,
from units
