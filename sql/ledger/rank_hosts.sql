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
        run_id,
        attempt,
        unnest(range(
            split_part(part, '-', 1)::integer,
            least(split_part(part, '-', -1)::integer, split_part(part, '-', 1)::integer + 4096) + 1
        )) as rank,
        node as host,
    from parts
    where regexp_full_match(part, '\d{1,6}(-\d{1,6})?')
)

select run_id, attempt, rank::integer as rank, min(host) as host
from named
group by run_id, attempt, rank
having count(distinct host) = 1
