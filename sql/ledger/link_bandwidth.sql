-- one row per file and kind of measurement of collectives: the bus bandwidth that they reached, against the peak of the link
-- do not add: a bandwidth is no amount; several files may measure the same links
-- measurement: nccl_bus_bandwidth (a benchmark) or comm_bus_bandwidth (operations of a training, timed one by one)
-- bus_bytes_per_s: highest bus bandwidth of all sizes and rows: small messages measure latency
-- hosts: hosts that took part; null where no line names one
-- device: model of the accelerator
-- link: nvlink (one host) or network (several)
-- link_bytes_per_s: peak of that link for one direction: half of NVLink's figure, or the network of all devices of a host
-- link_share: bus bandwidth / peak
with

measured as (
    select
        s.run_id,
        s.source_id,
        s.path,
        e.metric as measurement,
        max(e.value) as bus_bytes_per_s,
    from events.telemetry as e
    inner join staging.sources as s using (source_id)
    where e.metric in ('nccl_bus_bandwidth', 'comm_bus_bandwidth') and e.value > 0
    group by all
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
        nvlink_gb_s,
        network_gb_s,
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

told as (
    select
        m.*,
        o.hosts,
        coalesce(a.device, p.device) as device,
        case when o.hosts = 1 then 'nvlink' when o.hosts > 1 then 'network' end as link,
        o.ranks / o.hosts as devices_per_host,
    from measured as m
    left join models as o using (source_id)
    left join matched as a using (source_id)
    left join ledger.device_peaks as p on p.run_id = m.run_id
)

select
    t.run_id,
    t.path,
    t.measurement,
    t.bus_bytes_per_s,
    t.hosts,
    t.device,
    t.link,
    case t.link
        when 'nvlink' then d.nvlink_gb_s * 1e9 / 2
        when 'network' then d.network_gb_s * 1e9 * t.devices_per_host
    end as link_bytes_per_s,
    t.bus_bytes_per_s / link_bytes_per_s as link_share,
from told as t
left join seeds.devices as d on d.device = t.device
