-- one row per attempt: the name of its end, and of the end before it
-- do not count as failures: a completed attempt has an end too
with

named as (
    select
        t.run_id,
        t.attempt,
        concat(
            t.run_id, '/',
            coalesce(h.job_id, t.job_id, nullif(parse_filename(t.job_key, true), ''), 'log'), '.',
            coalesce(h.restart, 0), '/',
            t.place_in_holding
        ) as incident_id,
    from ledger.timeline as t
    left join ledger.holdings as h using (run_id, holding)
),

-- names stay unique when two files of one name tell of two launches
numbered as (
    select
        *,
        row_number() over (partition by incident_id order by attempt) as copy,
    from named
),

unique_names as (
    select
        run_id,
        attempt,
        case when copy = 1 then incident_id else concat(incident_id, '~', copy) end as incident_id,
    from numbered
)

select
    *,
    lag(incident_id) over (partition by run_id order by attempt) as previous_incident_id,
from unique_names
