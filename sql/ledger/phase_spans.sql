-- one row per phase of a run that one log says began and ended: initialisation, set-up, loads of data, side activities
-- do not add them to the ledger's time: some run beside the steps, and the ledger has decided that already
-- phase: what was done
-- detail: kind of side activity
with

edges as (
    select
        run_id,
        log_no,
        name as phase,
        detail,
        edge,
        epoch_us(ts) as ts_us,
        ord,
        source_id,
        line,
        count_if(edge = 'begin') over (partition by run_id, log_no, name, detail order by ord, line) as nth,
    from staging.placed
    where kind = 'phase' and edge in ('begin', 'end') and ts is not null and run_id is not null
),

paired as (
    select
        run_id,
        log_no,
        phase,
        detail,
        nth,
        min(ts_us) filter (where edge = 'begin') as start_us,
        min(ts_us) filter (where edge = 'end') as end_us,
        arg_min(source_id, ord) as source_id,
        arg_min(line, ord) as line,
    from edges
    where nth > 0
    group by all
)

select
    run_id,
    phase,
    detail,
    start_us,
    end_us,
    source_id,
    line,
from paired
where end_us >= start_us
