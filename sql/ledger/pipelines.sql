-- one row per run with a pipeline of several stages: its stages, and how much of computing it idles for filling and draining
-- do not sum: bubble_ratio is a ratio
-- stages: stages of the pipeline
-- virtual_stages: parts of the model on each stage, that take turns; 1 without interleaving; null where it interleaves and nothing tells how
-- micro_batches: micro batches of one step and replica; null where the logs do not tell
-- bubble_ratio: idle time of a stage / its computing, (stages − 1) / (micro batches · virtual stages); null where the logs do not tell
with

facts as (
    select run_id, key, try_cast(value as double) as value
    from staging.facts
    where place = 1
        and key in (
            'pipeline_parallel', 'tensor_parallel', 'context_parallel', 'data_parallel', 'world_size',
            'global_batch_size', 'micro_batch_size', 'gradient_accumulation_steps', 'virtual_stages', 'layers_per_virtual_stage',
            'num_layers'
        )
),

wide as (
    select
        run_id,
        max(value) filter (where key = 'pipeline_parallel') as stages,
        max(value) filter (where key = 'tensor_parallel') as tensor_parallel,
        max(value) filter (where key = 'context_parallel') as context_parallel,
        max(value) filter (where key = 'data_parallel') as data_parallel,
        max(value) filter (where key = 'world_size') as world_size,
        max(value) filter (where key = 'global_batch_size') as global_batch_size,
        max(value) filter (where key = 'micro_batch_size') as micro_batch_size,
        max(value) filter (where key = 'gradient_accumulation_steps') as gradient_accumulation_steps,
        max(value) filter (where key = 'virtual_stages') as told_virtual_stages,
        max(value) filter (where key = 'layers_per_virtual_stage') as layers_per_virtual_stage,
        max(value) filter (where key = 'num_layers') as num_layers,
    from facts
    group by run_id
),

replicas as (
    select
        *,
        coalesce(
            data_parallel,
            world_size / nullif(stages * coalesce(tensor_parallel, 1) * coalesce(context_parallel, 1), 0)
        ) as replicas,
    from wide
    where stages > 1
),

counted as (
    select
        run_id,
        stages,
        case
            when told_virtual_stages >= 1 then told_virtual_stages
            when layers_per_virtual_stage >= 1 then num_layers / (stages * layers_per_virtual_stage)
            else 1
        end as virtual_stages,
        coalesce(
            global_batch_size / nullif(micro_batch_size * replicas, 0),
            gradient_accumulation_steps
        ) as micro_batches,
    from replicas
)

select
    run_id,
    stages::bigint as stages,
    case when virtual_stages >= 1 then virtual_stages end as virtual_stages,
    case when micro_batches >= 1 then micro_batches end as micro_batches,
    case when micro_batches >= 1 and virtual_stages >= 1 then (stages - 1) / (micro_batches * virtual_stages) end as bubble_ratio,
from counted
