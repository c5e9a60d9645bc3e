-- one row per claim on a run's time: what some evidence says that a stretch was spent on
-- do not sum: claims overlap and contradict each other; ledger.intervals has the decision
with

-- nothing is claimed outside the life of a run; a claim is as strong as its category unless it says otherwise
cut as (
    select
        u.* exclude (start_us, end_us, precedence),
        coalesce(u.precedence, c.precedence)::integer as precedence,
        greatest(u.start_us, l.start_us) as start_us,
        least(u.end_us, l.end_us) as end_us,
    from claims.united as u
    inner join ledger.lives as l using (run_id)
    left join seeds.categories as c using (category)
)

select
    run_id,
    attempt,
    make_timestamptz(start_us) as start_ts,
    make_timestamptz(end_us) as end_ts,
    category,
    precedence,
    incident_id,
    mark,
    source_id,
    line,
    start_us,
    end_us,
from cut
where end_us > start_us
