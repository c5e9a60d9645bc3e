-- one row per file, measurement, kind of collective and class of message sizes: the bus bandwidth that they reached, against the peak of the link
-- do not add: a bandwidth is no amount; several files may measure the same links
-- measurement: benchmark, or of a training summary (its last one) or operation (timed one by one)
-- operation: kind of collective as printed; null where no line names it
-- size_class: below 1 MiB, 1 to 64 MiB, or 64 MiB and more
-- bus_bytes_per_s: highest over sizes of the class
-- straggler_share: share of their time that the fastest rank did not need; null where no table of stragglers tells
-- hosts: hosts that took part; null where nothing names them
-- link: nvlink (one host) or network (several); null where nothing tells which hosts took part
-- link_bytes_per_s: peak of that link for one direction
-- link_share: bus bandwidth / peak
-- evidence_line: file and line that shows it
select
    run_id,
    measurement,
    operation,
    size_class,
    bus_bytes_per_s,
    straggler_share,
    hosts,
    device,
    link,
    link_bytes_per_s,
    link_share,
    path || ':' || line as evidence_line,
from ledger.link_bandwidth
order by run_id nulls last, path, measurement, operation, size_class, line
