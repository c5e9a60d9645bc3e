-- one row per log that tells how many accelerators its processes used
-- do not sum: logs of one job tell the same
with

facts as (
    select s.log_no, f.key, f.value, f.format
    from events.facts as f
    inner join staging.sources as s using (source_id)
),

told as (
    select log_no, max(try_cast(value as bigint)) as gpus
    from facts
    where key = 'world_size'
    group by log_no
),

-- a program that prints the degrees of its parallelism instead of their product
degrees as (
    select
        log_no,
        key,
        max(try_cast(value as bigint)) as degree,
    from facts
    where key in ('pipeline_parallel', 'data_parallel_replicate', 'data_parallel_shard', 'context_parallel', 'tensor_parallel')
        and format = 'torchtitan'
    group by all
),

products as (
    select log_no, try_cast(product(degree) as bigint) as gpus
    from degrees
    where degree > 0
    group by log_no
),

meshes as (
    select
        log_no,
        max(try_cast(list_product(list_transform(regexp_extract_all(value, '\d+'), lambda x: x::double)) as bigint)) as gpus,
    from facts
    where key = 'device_mesh'
    group by log_no
)

select
    coalesce(t.log_no, p.log_no, m.log_no) as log_no,
    coalesce(t.gpus, p.gpus, m.gpus) as gpus,
from told as t
full outer join products as p on p.log_no = t.log_no
full outer join meshes as m on m.log_no = coalesce(t.log_no, p.log_no)
-- a number that no cluster has is damage
where coalesce(t.gpus, p.gpus, m.gpus) between 1 and 1000000000
