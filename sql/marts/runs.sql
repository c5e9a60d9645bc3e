-- one row per run over the period: who it is, how large, how well, and its largest loss
-- do not add goodput over runs: the row (all) of marts.period has it
-- attempts: attempts of the whole life
-- top_loss: title of the category that cost most
-- top_loss_gpu_s: what it cost; in GPU-seconds
with

losses as (
    select run_id, category, any_value(title) as title, sum(gpu_us) as gpu_us
    from marts.losses
    group by run_id, category
),

top as (
    select run_id, arg_max(title, (gpu_us, category)) as title, max(gpu_us) as gpu_us
    from losses
    group by run_id
),

final as (
    select
        r.run_id,
        r.gpus,
        r.gpu_model,
        r.formats,
        r.attempts,
        r.first_step,
        r.last_step,
        p.held_gpu_s,
        p.capacity_gpu_s,
        p.training_time_goodput,
        p.g_infra,
        p.g_framework,
        p.g_model,
        p.productive_gpu_s,
        p.provisional_gpu_s,
        p.undefined_reason,
        p.g_model_reason,
        t.title as top_loss,
        coalesce(t.gpu_us, 0) / 1e6 as top_loss_gpu_s,
        r.ongoing,
        r.observed,
        r.flags,
    from ledger.runs as r
    inner join marts.period as p using (run_id)
    left join top as t using (run_id)
)

select * from final
order by run_id
