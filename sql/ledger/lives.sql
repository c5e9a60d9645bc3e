-- one row per run: its life, from the first allocation or evidence to the last
-- do not add lives of runs: capacity is life times nominal accelerators
with

-- the first wait counts only where the policy says so
policy as (
    select coalesce(bool_or(lower(value) = 'true'), false) as counts_first_wait
    from config.policy
    where key = 'first_queue_wait'
),

spans as (
    select
        run_id,
        least(
            min(start_us),
            case when (select counts_first_wait from policy) then arg_min(coalesce(eligible_us, submit_us, start_us), holding) else min(start_us) end
        ) as start_us,
        max(end_us) as end_us,
        bool_or(from_accounting) as from_accounting,
        max(end_us) filter (where open) is not null as open,
    from ledger.holdings
    group by run_id
),

widths as (
    select
        h.run_id,
        max(h.gpus) filter (where e.has_steps) as step_gpus,
        max(h.gpus) as any_gpus,
    from ledger.holdings as h
    left join ledger.progress as e using (run_id, holding)
    group by h.run_id
),

world_sizes as (
    select s.run_id, max(w.gpus) as world_size
    from staging.world_sizes as w
    inner join staging.sources as s using (log_no)
    where s.run_id is not null
    group by s.run_id
),

facts as (
    select
        run_id,
        coalesce(
            max(value) filter (where key = 'gpu_model'),
            -- a device that its program does not know, and the name that a submission gives to its system
            max(value) filter (where key = 'peak_flops_fallback'),
            max(value) filter (where key = 'submission_platform')
        ) as gpu_model,
    from staging.facts
    where place = 1
    group by run_id
)

select
    s.run_id,
    coalesce(epoch_us(c.start_ts), s.start_us) as start_us,
    coalesce(epoch_us(c.end_ts), s.end_us) as end_us,
    case
        when c.start_ts is not null then 'configuration'
        when s.from_accounting then 'accounting'
        else 'first line'
    end as start_source,
    case
        when c.end_ts is not null then 'configuration'
        when s.open then 'last line'
        when s.from_accounting then 'accounting'
        else 'last line'
    end as end_source,
    coalesce(c.gpus, w.step_gpus, z.world_size, w.any_gpus, 1)::bigint as gpus,
    case
        when c.gpus is not null then 'configuration'
        when w.step_gpus is not null then 'largest allocation that made a step'
        when z.world_size is not null then 'world size in the log'
        when w.any_gpus is not null then 'largest allocation'
        else 'not known: counted as one accelerator'
    end as gpus_source,
    coalesce(c.gpu_model, f.gpu_model) as gpu_model,
from spans as s
left join config.runs as c using (run_id)
left join widths as w using (run_id)
left join facts as f using (run_id)
left join world_sizes as z using (run_id)
where coalesce(epoch_us(c.end_ts), s.end_us) > coalesce(epoch_us(c.start_ts), s.start_us)
