-- one row per source that tells how many accelerators its processes used
-- do not sum: sources of one job tell the same
with

told as (
    select source_id, max(try_cast(value as bigint)) as gpus
    from events.facts
    where key = 'world_size'
    group by source_id
),

-- a program that prints the degrees of its parallelism instead of their product
degrees as (
    select
        source_id,
        key,
        max(try_cast(value as bigint)) as degree,
    from events.facts
    where key in ('pipeline_parallel', 'data_parallel_replicate', 'data_parallel_shard', 'context_parallel', 'tensor_parallel')
        and format = 'torchtitan'
    group by all
),

products as (
    select source_id, try_cast(product(degree) as bigint) as gpus
    from degrees
    where degree > 0
    group by source_id
),

meshes as (
    select
        source_id,
        max(try_cast(list_product(list_transform(regexp_extract_all(value, '\d+'), lambda x: x::double)) as bigint)) as gpus,
    from events.facts
    where key = 'device_mesh'
    group by source_id
)

select
    coalesce(t.source_id, p.source_id, m.source_id) as source_id,
    coalesce(t.gpus, p.gpus, m.gpus) as gpus,
from told as t
full outer join products as p on p.source_id = t.source_id
full outer join meshes as m on m.source_id = coalesce(t.source_id, p.source_id)
-- a number that no cluster has is damage
where coalesce(t.gpus, p.gpus, m.gpus) between 1 and 1000000000
