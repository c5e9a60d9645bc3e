-- one row per held span of which no trainer log exists
-- do not sum: see ledger.intervals
select
    t.run_id,
    t.attempt,
    h.start_us,
    h.end_us,
    'unobserved' as category,
    -- nobody saw what the time was spent on: the end of the job did not bring it about
    null::varchar as incident_id,
    '' as mark,
    h.source_id,
    h.line,
from ledger.timeline as t
inner join ledger.holdings as h using (run_id, holding)
where not t.observed
