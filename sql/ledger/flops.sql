-- one row per run: the model FLOPs of one token, what they were taken from, and what the next best source says
-- do not average over runs: each has a model of its own
-- convention: how attention counts; found by the shape of the model where a program does not say
-- other_flops_per_token: of the next source, in the same convention where it can be had
-- disagreement: how far the larger is above the smaller; null where one source only tells, or where they count other things
-- reason: why flops_per_token is null
with

runs as (
    select run_id from ledger.lives
    union
    select run_id from ledger.flops_sources
),

sources as (
    select s.*, f.flops_causal, f.flops_full, f.flops_weights
    from ledger.flops_sources as s
    left join ledger.shape_flops as f using (run_id)
),

-- what no program says, the shape tells: within one part in a hundred it is one convention or the other
conventions as (
    select
        * exclude (convention),
        case
            when convention = 'as_printed' and not recompute_counted and abs(flops_per_token / flops_causal - 1) < 0.01
                then 'causal_halved'
            when convention = 'as_printed' and not recompute_counted and abs(flops_per_token / flops_full - 1) < 0.01
                then 'full_attention'
            else convention
        end as convention,
    from sources
),

first_sources as (
    select *
    from conventions
    where not recompute_counted
    qualify row_number() over (partition by run_id order by ord) = 1
),

others as (
    select o.*
    from conventions as o
    inner join first_sources as f on f.run_id = o.run_id and f.source <> o.source
    where not o.recompute_counted
        -- a count of parameters is compared with the count of the shape (marts.model_faults), which is closer
        and (o.source <> 'parameters' or f.source <> 'shape')
    qualify row_number() over (partition by o.run_id order by o.ord) = 1
),

compared as (
    select
        f.*,
        o.source as other_source,
        o.convention as other_convention,
        case
            when o.source = 'shape' and f.convention = 'full_attention' then coalesce(o.flops_full, o.flops_per_token)
            when o.source = 'shape' and f.convention = 'no_attention' then o.flops_weights
            when o.source = 'shape' and f.convention in ('as_printed', 'as_configured')
                and abs(f.flops_per_token - o.flops_full) < abs(f.flops_per_token - o.flops_causal)
                then o.flops_full
            else o.flops_per_token
        end as other_flops_per_token,
    from first_sources as f
    left join others as o using (run_id)
),

final as (
    select
        r.run_id,
        c.flops_per_token,
        c.source,
        c.convention,
        c.proof,
        c.other_source,
        c.other_flops_per_token,
        -- 6 × N without attention is below what is computed by as much as attention takes, and above it by the table of words
        case
            when c.other_flops_per_token is null then null
            when c.other_convention = 'no_attention' and c.convention <> 'no_attention'
                and c.flops_per_token / c.other_flops_per_token between 0.9 and 2
                then null
            else greatest(c.flops_per_token, c.other_flops_per_token) / least(c.flops_per_token, c.other_flops_per_token) - 1
        end as disagreement,
        case
            when c.run_id is not null then null
            when h.run_id is not null then 'the printed TFLOP/s count what is computed a second time, and nothing tells the shape of the model'
            when s.unlike is not null then 'the shape of the model does not tell: ' || s.unlike
            when s.run_id is not null and s.hidden_size is not null
                then 'the shape of the model is told in part: ' || coalesce(nullif(list_aggregate(
                    list_filter(
                        [
                            case when s.num_layers is null then 'layers' end,
                            case when s.num_attention_heads is null then 'heads' end,
                            case when s.vocab_size is null then 'vocabulary' end,
                            case when s.num_experts is not null and s.experts_per_token is null then 'experts of a token' end,
                            case when not s.ffn_told then 'width of the feed-forward part' end,
                            case when s.gated is null then 'matrices of the feed-forward part' end,
                        ],
                        lambda x: x is not null
                    ),
                    'string_agg', ', '
                ), '') || ' untold', 'widths of its attention untold')
            when s.frozen then 'most weights stay as they are, and neither the shape of the model nor its parameters are told'
            when s.trainable is not null
                then 'only the parameters that are trained are counted, and nothing tells how many stay as they are'
            else 'neither configuration nor log tells TFLOP/s beside tokens/s, the shape of the model, or its parameters'
        end as reason,
    from runs as r
    left join compared as c using (run_id)
    left join (select run_id from conventions where recompute_counted) as h on h.run_id = r.run_id
    left join ledger.model_shapes as s on s.run_id = r.run_id
)

select * from final
