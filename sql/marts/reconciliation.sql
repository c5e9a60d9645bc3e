-- one row per run and comparison of two independent sources for the same fact, over the run's whole life
-- do not sum: units differ from row to row
-- comparison: held_vs_accounting, steps_vs_counter, logged_step_time_vs_productive, attempts_vs_restarts, saves_vs_loads
-- tolerance: largest difference, as a share of the right value, that still agrees
-- status: agrees, differs or not comparable
-- note: why the two cannot be compared, or what the difference may mean
with

held as (
    select run_id, sum(gpu_us) / 1e6 as gpu_s
    from ledger.intervals
    where held
    group by run_id
),

accounted as (
    select
        run_id,
        count_if(not coalesce(resized, false)) as allocations,
        sum((elapsed_s * 1e6)::hugeint * gpus) / 1e6 as gpu_s,
        count_if(end_ts is null) as still_open,
        count_if(gpus is null) as without_gpus,
        count_if(elapsed_s is null) as without_elapsed,
    from staging.allocations
    where start_ts is not null
    group by run_id
),

bounded as (
    select run_id from config.runs where start_ts is not null or end_ts is not null
),

attempts as (
    select run_id, count(*) as attempts, count(distinct (job_id, restart_no)) as allocations
    from ledger.attempts
    group by run_id
),

-- the first line of an attempt prints a mean that holds the warm-up, and so may the second
numbered as (
    select
        *,
        place <= 2 as early,
    from ledger.steps
),

spans as (
    select
        run_id,
        sum(surviving_steps)::bigint as surviving_steps,
        coalesce(sum((surviving_steps * step_time_s * 1e6)::hugeint) filter (where not early), 0) / 1e6 as printed_s,
        coalesce(sum(surviving_steps) filter (where early and step_time_s is not null), 0) as early_steps,
        coalesce(sum((net_us * surviving_steps / steps)::hugeint) filter (where step_time_s is null), 0) / 1e6
            as unprinted_s,
        count(step_time_s) filter (where surviving_steps > 0) as printed_spans,
    from numbered
    group by run_id
),

productive as (
    select run_id, sum(epoch_us(end_ts) - epoch_us(start_ts)) / 1e6 as seconds
    from ledger.intervals
    where part = 'active' and category = 'productive'
    group by run_id
),

loads as (
    select
        r.run_id,
        count(*) as loads,
        count_if(s.step is not null) as saved,
    from ledger.restores as r
    left join (select distinct run_id, step from ledger.saves where durable) as s using (run_id, step)
    where r.step > 0
    group by r.run_id
),

compared as (
    select
        r.run_id,
        1 as place,
        'held_vs_accounting' as comparison,
        'Accelerator time held' as title,
        'intervals of the ledger' as left_name,
        h.gpu_s as left_value,
        'elapsed × accelerators of accounting' as right_name,
        a.gpu_s as right_value,
        'GPU-s' as unit,
        0.0 as tolerance,
        case
            when a.run_id is null then 'no accounting of this run was given'
            when a.still_open > 0 then 'an allocation was still running at the export'
            when a.without_gpus > 0 or a.without_elapsed > 0 then 'accounting does not tell accelerators or elapsed time'
            when b.run_id is not null then 'the configuration bounds the life of the run'
        end as obstacle,
        'allocations that overlap, were suspended, or belong to another run' as meaning,
    from ledger.runs as r
    left join held as h using (run_id)
    left join accounted as a using (run_id)
    left join bounded as b using (run_id)
    union all
    select
        r.run_id,
        2 as place,
        'steps_vs_counter' as comparison,
        'Surviving steps' as title,
        'sum over step spans' as left_name,
        s.surviving_steps as left_value,
        'last surviving step less the first, plus one' as right_name,
        r.last_surviving_step - r.first_step + 1 as right_value,
        'steps' as unit,
        0.0 as tolerance,
        case when s.run_id is null or r.last_surviving_step is null then 'the run has no steps' end as obstacle,
        'step lines are missing, or a step survives twice' as meaning,
    from ledger.runs as r
    left join spans as s using (run_id)
    union all
    select
        r.run_id,
        3 as place,
        'logged_step_time_vs_productive' as comparison,
        'Productive time' as title,
        'intervals of the ledger' as left_name,
        p.seconds - s.unprinted_s as left_value,
        'printed step times; the first two lines of attempts at the clean step time' as right_name,
        s.printed_s + s.early_steps * r.clean_step_s as right_value,
        's' as unit,
        0.01 as tolerance,
        case
            when s.run_id is null or p.run_id is null then 'the run has no productive time'
            when coalesce(s.printed_spans, 0) = 0 then 'no step line prints its step time'
        end as obstacle,
        'stamps of whole seconds, or a step time that leaves out or includes stalls' as meaning,
    from ledger.runs as r
    left join spans as s using (run_id)
    left join productive as p using (run_id)
    union all
    select
        r.run_id,
        4 as place,
        'attempts_vs_restarts' as comparison,
        'Launches' as title,
        'allocations with an attempt' as left_name,
        t.allocations as left_value,
        'allocations in accounting' as right_name,
        a.allocations as right_value,
        'allocations' as unit,
        0.0 as tolerance,
        case
            when a.run_id is null then 'no accounting of this run was given'
            when t.run_id is null then 'the run has no attempt'
            when not r.observed then 'no trainer log of this run was given'
        end as obstacle,
        'allocations without any trainer log, or logs of jobs that accounting does not list' as meaning,
    from ledger.runs as r
    left join attempts as t using (run_id)
    left join accounted as a using (run_id)
    union all
    select
        r.run_id,
        5 as place,
        'saves_vs_loads' as comparison,
        'Checkpoints that were loaded' as title,
        'loads' as left_name,
        l.loads as left_value,
        'loads of a step with a durable save on record' as right_name,
        l.saved as right_value,
        'loads' as unit,
        0.0 as tolerance,
        case when l.run_id is null then 'no load is on record' end as obstacle,
        'loaded from another run, or the log of the save is missing' as meaning,
    from ledger.runs as r
    left join loads as l using (run_id)
),

judged as (
    select
        *,
        left_value - right_value as difference,
        case
            when obstacle is not null or left_value is null or right_value is null then 'not comparable'
            -- a sum of seconds is a floating-point number: its last digits are no difference
            when abs(left_value - right_value) <= greatest(tolerance, 1e-9) * abs(right_value) then 'agrees'
            else 'differs'
        end as status,
    from compared
),

final as (
    select
        run_id,
        comparison,
        title,
        left_name,
        left_value::double as left_value,
        right_name,
        right_value::double as right_value,
        case when status <> 'not comparable' then difference::double end as difference,
        unit,
        tolerance::double as tolerance,
        status,
        case status
            when 'not comparable' then coalesce(obstacle, 'one side is not known')
            when 'differs' then meaning
            else ''
        end as note,
        place,
    from judged
)

select * exclude (place) from final
order by run_id, place
