-- one row per run: its whole life, the weakest claim, so that nothing is left without a place
-- do not sum: every other claim lies on top of it
select
    run_id,
    null::integer as attempt,
    start_us,
    end_us,
    'unattributed' as category,
    null::varchar as incident_id,
    ''::varchar as mark,
    null::varchar as source_id,
    null::bigint as line,
from ledger.lives
