-- one row per run whose model its logs or its configuration tell: the family of runs that train the same model on sequences of one length
-- do not add runs of a family: they differ in size
-- family: the model and the length of its sequences, in words
with

facts as (
    select run_id, key, try_cast(value as double) as value
    from staging.facts
    where place = 1
        and key in (
            'hidden_size', 'ffn_hidden_size', 'num_layers', 'num_attention_heads', 'num_experts', 'seq_length', 'params'
        )
),

wide as (
    select
        r.run_id,
        max(f.value) filter (where f.key = 'hidden_size')::bigint as hidden_size,
        max(f.value) filter (where f.key = 'ffn_hidden_size')::bigint as ffn_hidden_size,
        max(f.value) filter (where f.key = 'num_layers')::bigint as num_layers,
        max(f.value) filter (where f.key = 'num_attention_heads')::bigint as num_attention_heads,
        max(f.value) filter (where f.key = 'num_experts')::bigint as num_experts,
        max(f.value) filter (where f.key = 'seq_length')::bigint as seq_length,
        coalesce(any_value(c.parameters), max(f.value) filter (where f.key = 'params')) as parameters,
    from ledger.runs as r
    left join facts as f using (run_id)
    left join config.runs as c on c.run_id = r.run_id
    group by r.run_id
),

named as (
    select
        run_id,
        case
            when hidden_size is not null and num_layers is not null then
                concat_ws(
                    ', ',
                    num_layers || ' layers',
                    'width ' || hidden_size,
                    'inner width ' || ffn_hidden_size,
                    num_attention_heads || ' heads',
                    case when num_experts > 1 then num_experts || ' experts' end
                )
            when parameters > 0 then format('{:.3g} parameters', parameters)
        end as model,
        seq_length,
    from wide
)

select
    run_id,
    concat_ws(', ', model, 'sequences of ' || seq_length) as family,
from named
where model is not null
