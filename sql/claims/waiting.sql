-- one row per stretch between two held spans of a run, by what the scheduler was asked for at the time
-- do not sum: see ledger.intervals
with

reached as (
    select
        * exclude (life_start_us),
        coalesce(
            max(end_us) over (partition by run_id order by holding rows between unbounded preceding and 1 preceding),
            -- the first wait lies before the life of the run, unless the policy counts it
            case when holding = 1 and from_accounting then l.life_start_us end
        ) as previous_end_us,
        lag(job_id) over (partition by run_id order by holding) as previous_job_id,
    from ledger.holdings
    left join (select run_id, start_us as life_start_us from ledger.lives) as l using (run_id)
),

-- the last attempt before the gap ended it
previous as (
    select
        r.run_id,
        r.holding,
        max(p.attempt) as attempt,
    from reached as r
    -- of an attempt of which one line tells the begin is the end
    inner join ledger.progress as p
        on p.run_id = r.run_id and p.release_us <= r.start_us and coalesce(p.holding < r.holding, true)
    group by all
),

gaps as (
    select
        r.run_id,
        r.holding,
        r.previous_end_us as start_us,
        r.start_us as end_us,
        r.from_accounting,
        least(greatest(coalesce(r.submit_us, r.start_us), r.previous_end_us), r.start_us) as submit_us,
        least(greatest(coalesce(r.eligible_us, r.submit_us, r.start_us), r.previous_end_us, coalesce(r.submit_us, r.previous_end_us)), r.start_us) as eligible_us,
        r.job_id is not distinct from r.previous_job_id and r.job_id is not null as same_job,
        e.attempt,
        e.kind,
        i.incident_id,
        r.source_id,
        r.line,
    from reached as r
    left join previous as p using (run_id, holding)
    left join ledger.ends as e on e.run_id = p.run_id and e.attempt = p.attempt
    left join ledger.incident_ids as i on i.run_id = p.run_id and i.attempt = p.attempt
    where r.start_us > r.previous_end_us
),

pieces as (
    select
        *,
        start_us as piece_start_us,
        submit_us as piece_end_us,
        case when kind in ('planned', 'completed') then 'planned_stop' else 'unscheduled_gap' end as category,
        case when from_accounting then '' else '¶' end as mark,
    from gaps
    union all by name
    select
        *,
        submit_us as piece_start_us,
        eligible_us as piece_end_us,
        case when same_job then 'requeue_delay' else 'queue_wait' end as category,
        '' as mark,
    from gaps
    union all by name
    select
        *,
        eligible_us as piece_start_us,
        end_us as piece_end_us,
        'queue_wait' as category,
        '' as mark,
    from gaps
)

select
    p.run_id,
    p.attempt,
    p.piece_start_us as start_us,
    p.piece_end_us as end_us,
    p.category,
    p.incident_id,
    p.mark,
    p.source_id,
    p.line,
from pieces as p
where p.piece_end_us > p.piece_start_us
