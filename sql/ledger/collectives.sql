-- one row per collective operation that a line times by itself, and per kind and size of message of a table of them
-- do not add over tables of one process: each counts from its start, or from where it was cleared
-- line: its line; of sizes that are printed alike the first
-- table_line: line of the head of its table; null where it has none
-- ord: place of the line in its log
-- origin: operation (one of a training), summary (of a training) or benchmark
-- operation: kind of collective as printed; null where no line names it, and of what one rank sends to another
-- bytes: size of the message
-- calls: operations that it stands for
-- total_s: time of all of them on the rank that prints; in seconds
-- straggler_s: of that time what the fastest rank did not need; in seconds; null where no table of stragglers tells
-- bus_bytes_per_s: bus bandwidth; of several calls the mean without the outer tenths, of a benchmark the best way of the row
with

lines as (
    select
        e.*,
        s.run_id,
        s.path,
        s.log_no,
        line_order(s.lines_before + e.line, e.segment) as ord,
        case
            when e.size like '%B'
                then
                    try_cast(regexp_extract(e.size, '^[0-9.]+') as double)
                    * 1024.0 ** (greatest(position(left(ltrim(e.size, '0123456789. '), 1) in 'BKMGTP'), 1) - 1)
            else try_cast(e.size as double)
        end as bytes,
        -- a line that no row is made of lies before a row: the name of an operation between two ranks
        e.record = 'row' and e.line - lag(e.line) over (partition by e.source_id order by e.line, e.segment) = 2 as unnamed,
    from events.collectives as e
    inner join staging.sources as s using (source_id)
),

-- what a row is says the nearest head above it
headed as (
    select
        *,
        last_value(case when record in ('summary', 'stragglers', 'benchmark') then record end ignore nulls) over above as head,
        last_value(case when record in ('summary', 'benchmark') then line end ignore nulls) over above as table_line,
        nullif(
            last_value(
                case when record in ('kind', 'benchmark') then operation when record in ('summary', 'stragglers') or unnamed then '' end ignore nulls
            ) over above,
            ''
        ) as kind,
    from lines
    window above as (partition by source_id order by line, segment)
),

single as (
    select
        source_id,
        line,
        null::bigint as table_line,
        'operation' as origin,
        operation,
        bytes,
        1 as calls,
        mean_s as total_s,
        null::double as straggler_s,
        bus_bytes_per_s,
        run_id,
        path,
        log_no,
        ord,
    from headed
    where record = 'operation'
),

measured as (
    select
        source_id,
        line,
        case when head = 'benchmark' then table_line end as table_line,
        'benchmark' as origin,
        case when head = 'benchmark' then kind end as operation,
        bytes,
        1 as calls,
        arg_max(mean_s, (bus_bytes_per_s, -segment)) as total_s,
        null::double as straggler_s,
        max(bus_bytes_per_s) as bus_bytes_per_s,
        run_id,
        path,
        log_no,
        min(ord) as ord,
    from headed
    where record = 'measurement'
    group by all
),

stragglers as (
    select source_id, table_line, kind, bytes, sum(fourth) / 1e3 as straggler_s
    from headed
    where record = 'row' and head = 'stragglers'
    group by all
),

summed as (
    select
        h.source_id,
        min(h.line) as line,
        h.table_line,
        'summary' as origin,
        h.kind as operation,
        h.bytes,
        sum(h.calls) as calls,
        sum(h.total_s) as total_s,
        any_value(g.straggler_s) as straggler_s,
        sum(h.calls * h.sixth order by h.line) / nullif(sum(h.calls), 0) * 1.25e8 as bus_bytes_per_s,
        h.run_id,
        h.path,
        h.log_no,
        min(h.ord) as ord,
    from headed as h
    left join stragglers as g
        on g.source_id = h.source_id and g.table_line = h.table_line and g.kind is not distinct from h.kind and g.bytes = h.bytes
    -- those around the print are none of the training
    where h.record = 'row' and h.head = 'summary' and coalesce(h.kind, '') <> 'log_summary_barrier'
    group by all
)

select
    source_id,
    line,
    table_line,
    run_id,
    path,
    log_no,
    ord,
    origin,
    operation,
    round(bytes)::bigint as bytes,
    calls::bigint as calls,
    round(total_s, 9) as total_s,
    round(straggler_s, 9) as straggler_s,
    bus_bytes_per_s,
from (
    from single
    union all by name
    from measured
    union all by name
    from summed
)
