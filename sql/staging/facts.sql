-- one row per run and configuration value that its logs reveal, the most frequent reading first
-- do not sum: values are text
with

facts as (
    select
        s.run_id,
        f.source_id,
        f.line,
        f.key,
        f.value,
    from events.facts as f
    inner join staging.sources as s using (source_id)
    where s.run_id is not null
),

counted as (
    select
        run_id,
        key,
        value,
        count(*) as readings,
        min(source_id) as source_id,
        min(line) as line,
    from facts
    group by all
)

select
    *,
    row_number() over (partition by run_id, key order by readings desc, value) as place,
from counted
