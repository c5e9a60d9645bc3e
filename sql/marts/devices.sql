-- one row per run, and one per host of it that stands out: how busy devices were between first and last steps, and what held them down
-- do not sum: means over devices, hours and samples; a host is in the row of its run as well
-- host: null for all hosts of the run together
-- hosts: hosts with samples
-- devices: devices with samples
-- sm_active: share of time in which multiprocessors work; 0 to 1
-- tensor_active: share of time in which tensor cores work; 0 to 1
-- dram_active: share of time in which device memory moves data; 0 to 1
-- nvlink_bytes_per_s: bytes in and out over NVLink, per device and second
-- nvlink_share: of the bandwidth of its links, both ways together; null where the device is not known
-- pcie_bytes_per_s: bytes in and out over PCIe, per device and second
-- power_w: power of a device; in watts
-- sm_clock_mhz: clock of a device; in MHz
-- throttled_share: share of samples in which a device says that a fault holds its clock down; null where none tells reasons
-- reasons: what held clocks down, in words; null where nothing did
-- gpu: of a host the device that stands out most; null of a run
-- finding: why the host stands out, in words; null of a run
with

compared as (
    select
        *,
        median(value) over (partition by run_id, metric) as middle,
        count(*) over (partition by run_id, metric) as alike,
    from ledger.device_means
    where window_start is null
),

-- what a device does a tenth less than the middle of its run, among four or more
low as (
    select
        run_id,
        host,
        gpu,
        case metric
            when 'sm_clock' then 1 when 'power' then 2 when 'tensor_active' then 3 when 'sm_active' then 4
        end as rank,
        1 - value / middle as short,
        case metric
            when 'sm_clock' then 'clock' when 'power' then 'power' when 'tensor_active' then 'tensor cores' when 'sm_active' then 'multiprocessors'
        end as what,
    from compared
    where metric in ('sm_clock', 'power', 'tensor_active', 'sm_active') and alike >= 4 and middle > 0 and value <= 0.9 * middle
),

findings as (
    select
        run_id,
        host,
        gpu,
        case evidence when 'sample' then 0 when 'line' then 0.5 when 'clock' then 0.9 else 5 end as rank,
        0.0 as short,
        case evidence
            when 'sample' then 'a fault held its clock down'
            when 'line' then 'told to be throttled'
            when 'dip' then format('clock {:.0f} % below its usual for minutes, no reason told', 100 * (1 - clock_ratio))
            else format('clock {:.0f} % below the others for an hour', 100 * (1 - clock_ratio))
        end as words,
    from ledger.throttled_devices
    union all
    select run_id, host, gpu, rank, short, format('{} {:.0f} % below the others', what, 100 * short) as words
    from low
),

outstanding as (
    select
        run_id,
        host,
        arg_min(gpu, (rank, -short, gpu)) filter (where gpu is not null) as gpu,
        arg_min(words, (rank, -short, coalesce(gpu, ''))) as finding,
    from findings
    where host is not null and host <> ''
    group by run_id, host
)

select
    m.run_id,
    m.host,
    m.hosts,
    m.devices,
    m.sm_active,
    m.tensor_active,
    m.dram_active,
    m.nvlink_bytes_per_s,
    m.nvlink_share,
    m.pcie_bytes_per_s,
    m.power_w,
    m.sm_clock_mhz,
    m.throttled_share,
    nullif(
        concat_ws(
            ', ',
            case when m.reasons & 96 <> 0 then 'heat' end,
            case when m.reasons & 128 <> 0 then 'power supply' end,
            case when m.reasons & 8 <> 0 and m.reasons & 192 = 0 then 'hardware' end,
            case when m.reasons & 4 <> 0 then 'power limit' end
        ),
        ''
    ) as reasons,
    o.gpu,
    o.finding,
from ledger.device_activity as m
left join outstanding as o on o.run_id = m.run_id and o.host = m.host
where m.window_start is null and (m.host is null or o.host is not null)
order by m.run_id, m.host nulls first
