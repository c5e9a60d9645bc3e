-- one row per run whose logs reveal something of its model: its shape, in the words of a transformer
-- do not sum: widths and counts describe one model
-- gated: whether the feed-forward part has three matrices (SwiGLU and its like) or two; null where nothing tells
-- ffn_told: false where the width is not printed, and four times the hidden size is taken until the count of parameters says otherwise
-- frozen: whether most of its weights stay as they are, as in a fine-tuning with adapters
-- parameters: all of them; null where only those that are trained are counted
-- trainable: parameters that are trained; null where no line tells them
-- trainable_share: share of the parameters of one rank that are trained; null where no rank counts
-- unlike: why the formulas for a plain transformer do not hold for it
-- benchmark: whether the shape is that of a benchmark whose rules fix the model, not of facts in the log
with

-- counts are printed as 8,030,261,248, as 7.24B and as [128]
facts as (
    select
        run_id,
        key,
        value,
        lower(value) in ('true', 'yes', '1') as is_true,
        try_cast(regexp_extract(replace(value, ',', ''), '^\[?([0-9.]+(?:[eE][+-]?[0-9]+)?)', 1) as double)
        * case upper(regexp_extract(value, '[0-9.] ?([KkMmGgBbTt])(?:\W|$)', 1))
            when 'K' then 1e3
            when 'M' then 1e6
            when 'G' then 1e9
            when 'B' then 1e9
            when 'T' then 1e12
            else 1
        end as number,
        place,
    from staging.facts
),

told as (
    select
        run_id,
        max(value) filter (where key = 'model_name') as model_name,
        max(value) filter (where key = 'run_name') as benchmark,
        max(number) filter (where key = 'hidden_size') as hidden_size,
        max(number) filter (where key = 'ffn_hidden_size') as ffn_hidden_size,
        max(number) filter (where key = 'dense_ffn_hidden_size') as dense_ffn_hidden_size,
        max(number) filter (where key = 'ffn_dim_multiplier') as ffn_dim_multiplier,
        max(number) filter (where key = 'ffn_multiple_of') as ffn_multiple_of,
        max(number) filter (where key = 'ffn_expansion') as ffn_expansion,
        max(number) filter (where key = 'num_layers') as num_layers,
        max(number) filter (where key = 'num_attention_heads') as num_attention_heads,
        max(number) filter (where key = 'num_query_groups') as num_query_groups,
        bool_or(is_true) filter (where key = 'group_query_attention') as grouped,
        max(number) filter (where key = 'kv_channels') as head_dim,
        max(number) filter (where key = 'vocab_size') as vocab_size,
        max(number) filter (where key = 'seq_length') as seq_length,
        max(number) filter (where key = 'global_batch_size') as global_batch_size,
        max(number) filter (where key = 'tokens_per_step') as tokens_per_step,
        bool_or(is_true) filter (where key = 'swiglu') as swiglu,
        max(lower(value)) filter (where key = 'activation') as activation,
        bool_or(is_true) filter (where key = 'attention_output_gate') as attention_gate,
        max(number) filter (where key = 'num_experts') as num_experts,
        bool_or(is_true) filter (where key = 'moe_enabled') as experts_enabled,
        max(number) filter (where key = 'moe_router_topk') as experts_per_token,
        max(number) filter (where key = 'moe_ffn_hidden_size') as expert_ffn_hidden_size,
        max(number) filter (where key = 'moe_shared_expert_intermediate_size') as shared_expert_ffn_hidden_size,
        max(number) filter (where key = 'num_shared_experts') as num_shared_experts,
        bool_or(is_true) filter (where key = 'has_shared_expert') as has_shared_expert,
        bool_or(is_true) filter (where key = 'scaled_experts') as scaled_experts,
        max(number) filter (where key = 'shared_experts_default_one') as shared_experts_default_one,
        max(number) filter (where key = 'moe_latent_size') as moe_latent_size,
        max(value) filter (where key = 'moe_layer_freq') as moe_layer_freq,
        max(number) filter (where key = 'moe_layer_interval') as moe_layer_interval,
        max(number) filter (where key = 'num_dense_layers') as num_dense_layers,
        max(number) filter (where key = 'mtp_num_layers') as mtp_layers,
        bool_or(is_true) filter (where key = 'multi_latent_attention') as multi_latent_attention,
        max(lower(value)) filter (where key = 'decoder_block') as decoder_block,
        max(lower(value)) filter (where key = 'attention_type') as attention_type,
        max(number) filter (where key = 'q_lora_rank') as q_lora_rank,
        max(number) filter (where key = 'kv_lora_rank') as kv_lora_rank,
        max(number) filter (where key = 'qk_head_dim') as qk_head_dim,
        max(number) filter (where key = 'qk_pos_emb_head_dim') as qk_rope_head_dim,
        max(number) filter (where key = 'v_head_dim') as v_head_dim,
        bool_or(is_true) filter (where key = 'tied_embeddings') as tied,
        bool_or(is_true) filter (where key = 'untied_embeddings') as untied,
        max(number) filter (where key = 'params_trainable') as trainable,
        max(number) filter (where key = 'params_all') as all_parameters,
        max(number) filter (where key = 'params_frozen') as frozen_parameters,
        max(lower(value)) filter (where key = 'finetuning_method') as finetuning_method,
        max(number) filter (where key = 'params') as printed_parameters,
        max(number) filter (where key = 'params_active') as active_parameters,
        max(value) filter (where key = 'dtype') as dtype,
        coalesce(bool_or(is_true) filter (where key in ('bf16', 'fp16')), false) as half_precision,
        max(lower(value)) filter (where key in ('fp8', 'quantization')) as fp8,
        max(value) filter (where key in ('attention_variant', 'hybrid_layer_pattern')) as attention_variant,
        max(number) filter (where key = 'attention_block') as attention_block,
        max(number) filter (where key = 'attention_chunk') as attention_chunk,
        max(try_cast(regexp_extract(value, '^\(?([0-9]+)', 1) as double)) filter (where key = 'attention_window') as attention_window,
    from facts
    where place = 1
    group by run_id
),

-- a rank that counts before its adapters are there and afterwards has fewer to train then
ranks as (
    select
        run_id,
        min(number) filter (where key = 'rank_params_trainable') / max(number) filter (where key = 'rank_params_all') as trainable_share,
    from facts
    where key in ('rank_params_trainable', 'rank_params_all') and number > 0
    group by run_id
),

-- widths of two models must not be mixed
several as (
    select distinct run_id
    from staging.facts
    where place > 1 and key in ('hidden_size', 'num_layers', 'num_attention_heads', 'ffn_hidden_size')
),

-- a model that the rules of a benchmark fix, where the log tells no other shape
known as (
    select
        t.* exclude (hidden_size, ffn_hidden_size, num_layers, num_attention_heads, num_query_groups, vocab_size, seq_length, swiglu, benchmark, trainable),
        coalesce(t.hidden_size, try_cast(m.hidden_size as double)) as hidden_size,
        coalesce(t.ffn_hidden_size, try_cast(m.ffn_hidden_size as double)) as ffn_hidden_size,
        coalesce(t.num_layers, try_cast(m.num_layers as double)) as num_layers,
        coalesce(t.num_attention_heads, try_cast(m.num_attention_heads as double)) as num_attention_heads,
        coalesce(t.num_query_groups, try_cast(m.num_query_groups as double)) as num_query_groups,
        coalesce(t.vocab_size, try_cast(m.vocab_size as double)) as vocab_size,
        coalesce(t.seq_length, try_cast(m.seq_length as double)) as seq_length,
        coalesce(t.swiglu, m.gated = 'true') as swiglu,
        coalesce(t.all_parameters, t.printed_parameters, t.trainable + t.frozen_parameters) as parameters,
        r.trainable_share,
        coalesce(t.trainable, r.trainable_share * parameters) as trainable,
        coalesce(m.frozen = 'true', t.trainable < 0.5 * parameters, r.trainable_share < 0.5, false) as frozen,
        m.model is not null as benchmark,
    from told as t
    left join ranks as r using (run_id)
    left join seeds.models as m
        on m.model = t.benchmark
        and coalesce(t.hidden_size, try_cast(m.hidden_size as double)) = try_cast(m.hidden_size as double)
        and coalesce(t.num_layers, try_cast(m.num_layers as double)) = try_cast(m.num_layers as double)
),

widths as (
    select
        *,
        coalesce(head_dim, hidden_size / num_attention_heads) as width,
        case when grouped is false then num_attention_heads else coalesce(num_query_groups, num_attention_heads) end as groups,
        -- two thirds of four times the hidden size, stretched; it is rounded up to a multiple
        floor(coalesce(ffn_dim_multiplier, 1) * floor(8 * hidden_size / 3)) as stretched,
        coalesce(
            dense_ffn_hidden_size,
            ffn_hidden_size,
            ffn_expansion * hidden_size,
            ceil(stretched / ffn_multiple_of) * ffn_multiple_of
        ) as ffn,
        -- a model without experts may print those that it would have
        coalesce(num_experts, 1) > 1 and coalesce(experts_enabled, true) as has_experts,
        -- 1 is every layer, 2 every second one, and a list has a 1 for each layer with experts
        case
            when moe_layer_freq like '%[%' then len(regexp_extract_all(moe_layer_freq, '\b1\b'))
            when moe_layer_interval > 1 then floor(num_layers / moe_layer_interval)
            when num_dense_layers is not null then num_layers - num_dense_layers
            when try_cast(moe_layer_freq as bigint) > 0 then ceil(num_layers / try_cast(moe_layer_freq as bigint))
            else num_layers
        end as expert_layers,
        coalesce(multi_latent_attention, attention_type = 'mla', kv_lora_rank > 0, false) as latent_attention,
        coalesce(
            num_shared_experts,
            has_shared_expert::integer,
            -- a program that tells one by default means it only for the families of models that have such
            case when attention_type = 'mla' or decoder_block like '%llama4%' then shared_experts_default_one end,
            -- and a program that tells the width of dense layers apart has one of the width of the others
            case when dense_ffn_hidden_size > 0 then 1 end
        ) as shared_experts,
        coalesce(
            expert_ffn_hidden_size,
            case when dense_ffn_hidden_size > 0 then ffn_hidden_size end,
            -- what a token passes in a layer is as wide as a dense one: all of its experts and the shared one share the width
            case
                when scaled_experts
                    then ceil(floor(stretched / (experts_per_token + coalesce(shared_experts, 0))) / ffn_multiple_of) * ffn_multiple_of
            end,
            ffn,
            4 * hidden_size
        ) as expert_ffn,
    from known
),

shapes as (
    select
        run_id,
        model_name,
        hidden_size,
        coalesce(ffn, 4 * hidden_size) as ffn_hidden_size,
        ffn is not null as ffn_told,
        num_layers,
        num_attention_heads,
        groups as num_query_groups,
        width as head_dim,
        vocab_size,
        seq_length,
        global_batch_size,
        coalesce(tokens_per_step, global_batch_size * seq_length) as tokens_per_step,
        coalesce(
            swiglu,
            case
                when regexp_matches(activation, 'glu|silu|swish|llama') then true
                when activation in ('gelu', 'gelu_new', 'relu', 'squared_relu', 'mptmlp') then false
                when ffn_multiple_of is not null or latent_attention then true
            end
        ) as gated,
        coalesce(attention_gate, false) as attention_gate,
        case when has_experts then num_experts end as num_experts,
        case when has_experts then experts_per_token end as experts_per_token,
        case when has_experts then expert_ffn end as expert_ffn_hidden_size,
        case when has_experts then coalesce(shared_expert_ffn_hidden_size, shared_experts * expert_ffn, 0) end as shared_expert_ffn_hidden_size,
        case when has_experts then moe_latent_size end as moe_latent_size,
        case when has_experts then num_layers - expert_layers else num_layers end as dense_layers,
        coalesce(mtp_layers, 0) as mtp_layers,
        latent_attention,
        case when latent_attention then q_lora_rank end as q_lora_rank,
        case when latent_attention then kv_lora_rank end as kv_lora_rank,
        case when latent_attention then qk_head_dim end as qk_head_dim,
        case when latent_attention then qk_rope_head_dim end as qk_rope_head_dim,
        case when latent_attention then v_head_dim end as v_head_dim,
        coalesce(tied, not untied) as tied_embeddings,
        case when finetuning_method = 'freeze' then null else parameters end as parameters,
        trainable,
        trainable_share,
        active_parameters,
        dtype,
        case
            when lower(dtype) like '%fp8%' then 'fp8'
            when fp8 not in ('false', 'none', 'no', '') and regexp_matches(fp8, 'fp8|float8|hybrid|e4m3|e5m2|true') then 'fp8'
            when dtype is not null or half_precision then 'bf16'
        end as precision,
        frozen,
        benchmark,
        case
            when run_id in (from several) then 'its logs tell the shapes of several models'
            when finetuning_method = 'freeze' then 'some of its layers alone are trained, and nothing tells how far back gradients go'
            when attention_variant is not null and not coalesce(seq_length <= attention_block, false)
                then 'some layers are no attention over all that came before'
            when attention_window between 1 and seq_length - 1 or attention_chunk between 1 and seq_length - 1
                then 'attention looks back over a window that is shorter than the sequence'
        end as unlike,
    from widths
)

select * from shapes
