-- one row per run and source of its model FLOPs per token
-- do not sum or average: sources tell the same thing
-- source: configured, line_ratio (TFLOP/s ÷ tokens/s of the same lines), log (printed once), shape, or parameters (6 × N; where most stay as they are 4 × N and 2 × those that are trained)
-- ord: the first one that is not null and counts no second computation is taken
-- convention: causal_halved, full_attention, no_attention, as_printed (its program says neither) or as_configured
-- recompute_counted: true where the figure counts what is computed a second time: no model FLOPs, and never taken
with

facts as (
    select
        run_id,
        max(try_cast(value as double)) filter (where key = 'flops_per_step_per_gpu') as step_flops_per_gpu,
        max(try_cast(value as double)) filter (where key = 'flops_per_sample') as sample_flops,
        max(try_cast(replace(value, ',', '') as double)) filter (where key = 'micro_batch_size') as micro_batch,
    from staging.facts
    where place = 1
    group by run_id
),

-- where most weights stay as they are, no gradient of them is computed, and a program may count it all the same
staying as (
    select run_id
    from ledger.model_shapes
    where frozen
),

known as (
    select run_id from ledger.model_shapes
    union
    select run_id from ledger.printed_rates
    union
    select run_id from config.runs where flops_per_token is not null or parameters is not null
),

configured as (
    select
        run_id,
        'configured' as source,
        1 as ord,
        flops_per_token,
        'as_configured' as convention,
        false as recompute_counted,
        'goodput.toml' as proof,
    from config.runs
    where flops_per_token > 0
),

ratios as (
    select
        p.run_id,
        'line_ratio' as source,
        2 as ord,
        case
            when not p.recompute_counted and p.ratio_flops_per_token is not null then p.ratio_flops_per_token
            -- of a program that prints both, MFU is the one that leaves the second computation out
            when p.mfu_per_rate is not null and coalesce(d.logged_peak_flops, d.table_peak_flops) is not null
                then p.mfu_per_rate * coalesce(d.logged_peak_flops, d.table_peak_flops)
            else p.ratio_flops_per_token
        end as flops_per_token,
        p.convention,
        p.recompute_counted
        and (p.mfu_per_rate is null or coalesce(d.logged_peak_flops, d.table_peak_flops) is null) as recompute_counted,
        case
            when p.ratio_flops_per_token is not null and not p.recompute_counted
                then 'median over lines of TFLOP/s ÷ tokens/s'
            when p.mfu_per_rate is not null then 'median over lines of MFU × the peak that it is a share of ÷ tokens/s'
            else 'median over lines of TFLOP/s ÷ tokens/s, what is computed twice included'
        end as proof,
    from ledger.printed_rates as p
    left join ledger.device_peaks as d using (run_id)
    where p.run_id not in (from staying)
        -- MFU of a peak that nobody tells is a share of nothing known
        and coalesce(p.ratio_flops_per_token, p.mfu_per_rate * coalesce(d.logged_peak_flops, d.table_peak_flops)) is not null
),

logged as (
    select
        f.run_id,
        'log' as source,
        3 as ord,
        coalesce(f.step_flops_per_gpu / (f.micro_batch * s.seq_length), f.sample_flops / s.seq_length) as flops_per_token,
        coalesce(p.convention, 'as_printed') as convention,
        false as recompute_counted,
        case
            when f.step_flops_per_gpu is not null then 'FLOPs of a step and device, printed at the start'
            else 'FLOPs of a sample, printed at the start'
        end as proof,
    from facts as f
    inner join ledger.model_shapes as s using (run_id)
    left join ledger.printed_rates as p using (run_id)
    where f.run_id not in (from staying)
        and coalesce(f.step_flops_per_gpu / (f.micro_batch * s.seq_length), f.sample_flops / s.seq_length) > 0
),

shapes as (
    select
        f.run_id,
        'shape' as source,
        4 as ord,
        coalesce(f.flops_causal, f.flops_weights) as flops_per_token,
        case when f.flops_causal is null then 'no_attention' else 'causal_halved' end as convention,
        false as recompute_counted,
        concat(
            case when s.benchmark then 'the model of the benchmark: ' else '' end,
            s.num_layers::bigint, ' layers, width ', s.hidden_size::bigint,
            ', ', s.num_attention_heads::bigint, '/', s.num_query_groups::bigint, ' heads',
            case when s.num_experts is null then ', feed-forward ' || s.ffn_hidden_size::bigint else '' end,
            case
                when s.num_experts is not null
                    then concat(', ', s.experts_per_token::bigint, ' of ', s.num_experts::bigint, ' experts of ', s.expert_ffn_hidden_size::bigint)
                else ''
            end,
            ', vocabulary ', s.vocab_size::bigint,
            coalesce(', sequence ' || s.seq_length::bigint, '')
        ) as proof,
    from ledger.shape_flops as f
    inner join ledger.model_shapes as s using (run_id)
),

-- every parameter is multiplied once, unless experts share them: then only those that a token meets count
counts as (
    select
        k.run_id,
        coalesce(
            c.parameters,
            s.active_parameters,
            case when s.num_experts is null then s.parameters end
        ) as parameters,
        c.parameters is not null as configured,
        coalesce(s.frozen, false) as frozen,
        coalesce(s.trainable, 0) as trainable,
        s.num_layers * s.hidden_size * s.seq_length as half_scores,
    from known as k
    left join config.runs as c using (run_id)
    left join ledger.model_shapes as s using (run_id)
),

parameters as (
    select
        run_id,
        'parameters' as source,
        5 as ord,
        case when frozen then 4 * parameters + 2 * trainable else 6 * parameters end + coalesce(6 * half_scores, 0) as flops_per_token,
        case when half_scores is null then 'no_attention' else 'causal_halved' end as convention,
        false as recompute_counted,
        concat(
            case when frozen then '4 × ' else '6 × ' end, parameters::hugeint,
            case when configured then ' parameters, configured' else ' parameters, printed' end,
            case when frozen then concat(', and 2 × ', trainable::hugeint, ' that are trained') else '' end
        ) as proof,
    from counts
    where parameters > 0
),

sources as (
    select * from configured
    union all by name
    select * from ratios
    union all by name
    select * from logged
    union all by name
    select * from shapes
    union all by name
    select * from parameters
)

select * from sources
order by run_id, ord
