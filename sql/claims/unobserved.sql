-- one row per held span of which no trainer log exists
-- do not sum: see ledger.intervals
select
    t.run_id,
    t.attempt,
    h.start_us,
    h.end_us,
    'unobserved' as category,
    15 as precedence,
    i.incident_id,
    '' as mark,
    h.source_id,
    h.line,
from ledger.timeline as t
inner join ledger.holdings as h using (run_id, holding)
inner join ledger.incident_ids as i using (run_id, attempt)
where not t.observed
