-- one row per file, measurement, kind of collective and class of message sizes: the bus bandwidth that they reached, against the peak of the link
-- do not add: a bandwidth is no amount; several files may measure the same links
-- measurement: benchmark, or of a training summary (its last one) or operation (timed one by one)
-- operation: kind of collective as printed; null where no line names it
-- size_class: below 1 MiB, 1 to 64 MiB, or 64 MiB and more: small messages measure latency
-- bus_bytes_per_s: highest over sizes of the class; of operations timed one by one the highest median of one size
-- straggler_share: share of their time that the fastest rank did not need; null where no table of stragglers tells
-- hosts: hosts that took part; null where nothing names them
-- device: model of the accelerator
-- link: nvlink (one host) or network (several); null where a group of ranks is not the whole run, since nothing says which hosts it spans
-- link_bytes_per_s: peak of that link for one direction: half of NVLink's figure, or the network of all devices of a host
-- link_share: bus bandwidth / peak
-- line: line that shows it
with

classed as (
    select
        source_id,
        line,
        table_line,
        origin as measurement,
        run_id,
        path,
        operation,
        bytes,
        case
            when bytes < 1048576 then 'below 1 MiB'
            when bytes < 67108864 then '1 to 64 MiB'
            when bytes is not null then '64 MiB and more'
        end as size_class,
        total_s,
        straggler_s,
        bus_bytes_per_s,
    from ledger.collectives
    where bus_bytes_per_s > 0
),

-- a later summary of a file holds the one before it, or is as good
latest as (
    select *
    from classed
    qualify measurement <> 'summary' or table_line = max(table_line) over (partition by source_id, measurement)
),

sizes as (
    select
        t.source_id,
        t.run_id,
        t.path,
        t.measurement,
        t.operation,
        t.size_class,
        t.bytes,
        case when t.measurement = 'benchmark' then max(t.bus_bytes_per_s) else median(t.bus_bytes_per_s) end as bus_bytes_per_s,
        arg_max(t.line, (t.bus_bytes_per_s, -t.line)) as line,
        sum((t.straggler_s * 1e9)::hugeint) as straggler_ns,
        sum((t.total_s * 1e9)::hugeint) filter (where t.straggler_s is not null) as straggled_ns,
    from latest as t
    group by t.source_id, t.run_id, t.path, t.measurement, t.operation, t.size_class, t.bytes
),

measured as (
    select
        z.source_id,
        z.run_id,
        z.path,
        z.measurement,
        z.operation,
        z.size_class,
        max(z.bus_bytes_per_s) as bus_bytes_per_s,
        arg_max(z.line, (z.bus_bytes_per_s, -z.line)) as line,
        sum(z.straggler_ns) / nullif(sum(z.straggled_ns), 0) as straggler_share,
    from sizes as z
    group by z.source_id, z.run_id, z.path, z.measurement, z.operation, z.size_class
),

models as (
    select
        source_id,
        lower(regexp_replace(mode(value order by value), '[^A-Za-z0-9]+', ' ', 'g')) as model,
        nullif(count(distinct host), 0) as hosts,
        count(*) as ranks,
    from events.facts
    where key = 'gpu_model'
    group by source_id
),

aliases as (
    select
        device,
        lower(regexp_replace(trim(unnest(string_split(concat_ws(';', device, aliases), ';'))), '[^A-Za-z0-9]+', ' ', 'g')) as alias,
    from seeds.devices
),

-- the longest alias that occurs in the name is the most exact
matched as (
    select m.source_id, arg_max(a.device, (length(a.alias), a.device)) as device
    from models as m
    inner join aliases as a on a.alias <> '' and contains(m.model, a.alias)
    group by m.source_id
),

-- hosts of a training: those of all of its attempts, where they are as many each time
spreads as (
    select run_id, min(len(nodes)) as hosts
    from ledger.progress
    where nodes is not null
    group by run_id
    having min(len(nodes)) = max(len(nodes)) and min(len(nodes)) > 0
),

counts as (
    select run_id, max(try_cast(value as bigint)) as hosts
    from staging.facts
    where key = 'nodes' and place = 1
    group by run_id
),

-- runs in which some collectives are of a part of the ranks
divided as (
    select distinct run_id
    from staging.facts
    where key in ('tensor_parallel', 'pipeline_parallel', 'context_parallel', 'expert_parallel') and try_cast(value as double) > 1
),

told as (
    select
        m.*,
        coalesce(a.device, p.device) as device,
        case when m.measurement = 'benchmark' then o.ranks / o.hosts else r.gpus / coalesce(h.hosts, c.hosts) end as devices_per_host,
        m.measurement <> 'benchmark'
        and (coalesce(m.operation in ('send', 'recv', 'isend', 'irecv'), true) or v.run_id is not null) as of_a_part,
        case when m.measurement = 'benchmark' then o.hosts else coalesce(h.hosts, c.hosts) end as hosts_told,
        case when hosts_told = 1 then 'nvlink' when hosts_told > 1 and not of_a_part then 'network' end as link,
    from measured as m
    left join models as o using (source_id)
    left join matched as a using (source_id)
    left join spreads as h on h.run_id = m.run_id
    left join counts as c on c.run_id = m.run_id
    left join ledger.runs as r on r.run_id = m.run_id
    left join ledger.device_peaks as p on p.run_id = m.run_id
    left join divided as v on v.run_id = m.run_id
)

select
    t.run_id,
    t.path,
    t.measurement,
    t.operation,
    t.size_class,
    t.bus_bytes_per_s,
    t.straggler_share,
    t.hosts_told as hosts,
    t.device,
    t.link,
    case t.link
        when 'nvlink' then d.nvlink_gb_s * 1e9 / 2
        when 'network' then d.network_gb_s * 1e9 * t.devices_per_host
    end as link_bytes_per_s,
    t.bus_bytes_per_s / link_bytes_per_s as link_share,
    t.line,
from told as t
left join seeds.devices as d on d.device = t.device
