-- one row per stall of a loop, with a second, stronger claim where the step that it followed survived
-- do not sum: see ledger.intervals
-- precedence: strength where it is not that of the category, and null otherwise
with

stalls as (
    select
        s.*,
        -- side activity inside the loop stands above the steps that it holds up
        case when s.category = 'loop_gap' then 97 end as plain_precedence,
        case s.category
            when 'evaluation' then 121
            when 'checkpoint_stall' then 122
            when 'data_stall' then 123
            else 124
        end as kept_precedence,
        -- the loop waits for its next step: a wait after the last step that survived led to nothing, unless nothing is lost
        case
            when s.category in ('checkpoint_stall', 'evaluation') or (v.is_last and v.survives_to = v.last_step)
                then s.after_step <= v.survives_to
            else s.after_step < v.survives_to
        end as survives,
    from ledger.stalls as s
    left join (
        select *, attempt = max(attempt) over (partition by run_id) as is_last
        from ledger.survival
    ) as v using (run_id, attempt)
),

-- a save that never came back stood still until the loop stopped
torn as (
    select
        s.run_id,
        s.attempt,
        s.stall_start_us as start_us,
        e.stop_us as end_us,
        s.source_id,
        s.line,
    from ledger.saves as s
    inner join ledger.ends as e using (run_id, attempt)
    where s.stall_start_us is not null and s.stall_end_us is null and e.stop_us > s.stall_start_us
        and s.stall_start_us >= e.progress_us
)

select
    run_id,
    attempt,
    start_us,
    end_us,
    category,
    -- a save or evaluation of a surviving step is kept even where the steps around it are lost
    case when survives then kept_precedence else plain_precedence end as precedence,
    null::varchar as incident_id,
    case when estimated then '†' else '' end as mark,
    source_id,
    line,
from stalls
where end_us > start_us
union all
select
    run_id,
    attempt,
    start_us,
    end_us,
    'checkpoint_stall' as category,
    null::integer as precedence,
    null::varchar as incident_id,
    '' as mark,
    source_id,
    line,
from torn
