-- one row per attempt and rank of which a line says on which host it was
-- do not count as ranks: most logs say it of few
with

printed as (
    select
        m.run_id,
        m.attempt,
        e.signal_id,
        e.node,
        coalesce(e.fault_rank, p.rank) as rank,
        e.text,
    from staging.placed as p
    inner join ledger.timeline as m using (run_id, launch_no)
    inner join events.signals as e
        on e.source_id = p.source_id and e.line = p.line and e.segment = p.segment and e.signal_id = p.name
    where p.kind = 'signal'
        -- of a list of hosts nobody says who holds which task
        and regexp_full_match(e.node, '[\w.-]+')
        and (starts_with(e.signal_id, 'megatron_') or starts_with(e.signal_id, 'slurm_task_') or e.signal_id = 'slurm_exit_code')
),

-- under torchrun a task is an agent, and holds as many ranks as a host has accelerators
agents as (
    select
        a.run_id,
        a.attempt,
        -- without a host nothing is a multiple of their number
        case when z.world_gpus % nullif(len(p.nodes), 0) = 0 then z.world_gpus // nullif(len(p.nodes), 0) end as ranks,
    from (
        select distinct m.run_id, m.attempt
        from staging.placed as t
        inner join ledger.timeline as m using (run_id, launch_no)
        where t.kind = 'signal' and starts_with(t.name, 'elastic_')
    ) as a
    left join ledger.progress as p using (run_id, attempt)
    left join ledger.sizes as z using (run_id, attempt)
),

-- what the launcher says of tasks: `tasks 8-11,13`
parts as (
    select
        run_id,
        attempt,
        node,
        unnest(string_split(regexp_extract(text, ': tasks? ([\d,-]+):', 1), ',')) as part,
    from printed
    where starts_with(signal_id, 'slurm_')
),

named as (
    select run_id, attempt, rank, node as host
    from printed
    where starts_with(signal_id, 'megatron_') and rank is not null
    union all
    select
        t.run_id,
        t.attempt,
        unnest(range(t.first_task * t.ranks, (least(t.last_task, t.first_task + 4096) + 1) * t.ranks)) as rank,
        t.node as host,
    from (
        select
            p.run_id,
            p.attempt,
            p.node,
            split_part(p.part, '-', 1)::integer as first_task,
            split_part(p.part, '-', -1)::integer as last_task,
            case when a.run_id is null then 1 else a.ranks end as ranks,
        from parts as p
        left join agents as a using (run_id, attempt)
        where regexp_full_match(p.part, '\d{1,6}(-\d{1,6})?')
    ) as t
    where t.ranks is not null
)

select run_id, attempt, rank::integer as rank, min(host) as host
from named
group by run_id, attempt, rank
having count(distinct host) = 1
