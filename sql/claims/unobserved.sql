-- one row per held span of which no trainer log exists: of the whole allocation, or up to the first line that tells of an end
-- do not sum: see ledger.intervals
with

unseen as (
    select
        t.run_id,
        t.attempt,
        h.start_us,
        h.end_us,
        h.source_id,
        h.line,
    from ledger.timeline as t
    inner join ledger.holdings as h using (run_id, holding)
    where not t.observed
    union all
    -- an error stream that tells of the end alone, or the output of a trainer whose lines nobody knows, or have no time
    select
        e.run_id,
        e.attempt,
        e.progress_us as start_us,
        -- whose trainer spoke without a time was up by the first that is told
        case when e.unseen then e.stop_us else e.up_us end as end_us,
        h.source_id,
        h.line,
    from ledger.ends as e
    inner join ledger.holdings as h using (run_id, holding)
    where (e.unseen or e.start_untold) and e.observed and end_us > e.progress_us
)

select
    run_id,
    attempt,
    start_us,
    end_us,
    'unobserved' as category,
    -- nobody saw what the time was spent on: the end of the job did not bring it about
    null::varchar as incident_id,
    '' as mark,
    source_id,
    line,
from unseen
