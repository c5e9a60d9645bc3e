-- one row per run whose logs tell enough of the shape of its model: multiplications of one token, and what follows from them
-- do not sum: a layer's part is already times the layers that have it
-- attention, feed_forward, logits: weights that a token meets; one multiplication and one addition each, forward
-- scores: multiplications of queries with keys and of weights with values, where each token looks at half of the sequence
-- flops_causal: 2 FLOPs for each of them, times three for forward and twice as much backward; nothing that is computed again
-- flops_full: the same, as if each token looked at the whole sequence
-- flops_weights: the same, without scores
-- parameters_counted: what the shape says that the model has, without norms and biases
-- gated_source: how it is known that the feed-forward part has three matrices, or two
with

told as (
    select
        *,
        num_layers - dense_layers as expert_layers,
        -- those that are trained are all of them, where as many as the shape counts
        coalesce(parameters, trainable) as told_parameters,
        -- the last layer is of the kind of those that predict further tokens
        case when num_layers > dense_layers then 0 else 1 end as further_dense,
    from ledger.model_shapes
    where hidden_size > 0 and num_layers > 0 and num_attention_heads > 0 and vocab_size > 0
        and unlike is null
        and (num_experts is null or experts_per_token > 0)
        and (not latent_attention or kv_lora_rank + qk_head_dim + qk_rope_head_dim + v_head_dim > 0)
),

parts as (
    select
        *,
        case
            when latent_attention
                then
                case
                    when coalesce(q_lora_rank, 0) > 0
                        then q_lora_rank * (hidden_size + num_attention_heads * (qk_head_dim + qk_rope_head_dim))
                    else hidden_size * num_attention_heads * (qk_head_dim + qk_rope_head_dim)
                end
                + hidden_size * (kv_lora_rank + qk_rope_head_dim)
                + kv_lora_rank * num_attention_heads * (qk_head_dim + v_head_dim)
                + num_attention_heads * v_head_dim * hidden_size
            else
                2 * hidden_size * num_attention_heads * head_dim
                + 2 * hidden_size * num_query_groups * head_dim
                + case when attention_gate then hidden_size * num_attention_heads * head_dim else 0 end
        end as layer_attention,
        -- half of the sequence, and a product with each key and one with each value
        seq_length / 2 * num_attention_heads
        * case when latent_attention then qk_head_dim + qk_rope_head_dim + v_head_dim else 2 * head_dim end as layer_scores,
        hidden_size * ffn_hidden_size as matrix,
        coalesce(moe_latent_size, hidden_size) * expert_ffn_hidden_size as expert_matrix,
        hidden_size * shared_expert_ffn_hidden_size as shared_matrix,
        -- the router, and the way into a narrower width and out of it
        hidden_size * num_experts + coalesce(2 * hidden_size * moe_latent_size, 0) as around_experts,
    from told
),

-- three matrices or two, the table of words once or twice: where nothing tells, the printed count of parameters does
kinds as (
    select p.*, k.matrices, t.tables
    from parts as p
    cross join (values (2), (3)) as k(matrices)
    cross join (values (1), (2)) as t(tables)
    where (p.gated is null or k.matrices = case when p.gated then 3 else 2 end)
        and (p.tied_embeddings is null or t.tables = case when p.tied_embeddings then 1 else 2 end)
),

sums as (
    select
        *,
        (num_layers + mtp_layers) * layer_attention as attention,
        (dense_layers + mtp_layers * further_dense) * matrices * matrix
        + coalesce(
            (expert_layers + mtp_layers * (1 - further_dense))
            * (matrices * (experts_per_token * expert_matrix + shared_matrix) + around_experts),
            0
        )
        + mtp_layers * 2 * hidden_size * hidden_size as feed_forward,
        (1 + mtp_layers) * hidden_size * vocab_size as logits,
        (num_layers + mtp_layers) * layer_scores as scores,
        -- of a model that predicts further tokens, the count is the one without them
        num_layers * layer_attention
        + dense_layers * matrices * matrix
        + coalesce(expert_layers * (matrices * (num_experts * expert_matrix + shared_matrix) + around_experts), 0)
        + tables * hidden_size * vocab_size as parameters_counted,
    from kinds
),

chosen as (
    select
        *,
        case
            when gated is not null and ffn_told then 'told'
            when abs(parameters_counted / told_parameters - 1) < 0.03 then 'count of parameters'
            when told_parameters is null and ffn_told and ffn_hidden_size = 4 * hidden_size and matrices = 2
                then 'four times the hidden size'
        end as gated_source,
    from sums
    qualify row_number() over (
        partition by run_id
        order by gated_source nulls last, abs(parameters_counted / told_parameters - 1) nulls last, matrices, tables desc
    ) = 1
),

final as (
    select
        run_id,
        gated_source,
        attention::double as attention,
        feed_forward::double as feed_forward,
        logits::double as logits,
        scores::double as scores,
        -- of weights that stay as they are no gradient is computed; adapters beside them take all of the three
        coalesce(frozen or trainable < 0.5 * parameters_counted, false) as stays,
        case
            when stays then 4 * (attention + feed_forward + logits) + 6 * coalesce(trainable, trainable_share * parameters_counted, 0)
            else 6 * (attention + feed_forward + logits)
        end as flops_weights,
        flops_weights + 6 * scores as flops_causal,
        flops_weights + 12 * scores as flops_full,
        parameters_counted::double as parameters_counted,
    from chosen
    where gated_source is not null
)

select * exclude (stays) from final
