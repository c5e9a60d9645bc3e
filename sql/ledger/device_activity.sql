-- one row per run and window in which devices were sampled between first and last steps, one per run, and one per run and host: how busy they were
-- do not sum: means over devices, hours and samples; rows of a run, its windows and its hosts tell of the same samples
-- window_start: null of a run or of a host
-- host: null of a run or of a window
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
-- reasons: bits of the reasons for which clocks were held down; null where none tells them
with

rows_of as (
    select null::varchar as of_host, *
    from ledger.device_means
    union all
    select host as of_host, *
    from ledger.device_means
    where window_start is null
),

means as (
    select
        run_id,
        window_start,
        of_host,
        count(distinct host) as hosts,
        count(distinct (host, gpu)) as devices,
        avg(value) filter (where metric = 'sm_active') as sm_active,
        avg(value) filter (where metric = 'tensor_active') as tensor_active,
        avg(value) filter (where metric = 'dram_active') as dram_active,
        avg(value) filter (where metric = 'nvlink_tx') + avg(value) filter (where metric = 'nvlink_rx') as nvlink_bytes_per_s,
        avg(value) filter (where metric = 'pcie_tx') + avg(value) filter (where metric = 'pcie_rx') as pcie_bytes_per_s,
        avg(value) filter (where metric = 'power') as power_w,
        avg(value) filter (where metric = 'sm_clock') as sm_clock_mhz,
        avg(value) filter (where metric = 'throttled') as throttled_share,
        bit_or(reasons) as reasons,
    from rows_of
    group by run_id, window_start, of_host
)

select
    m.run_id,
    m.window_start,
    m.of_host as host,
    m.hosts,
    m.devices,
    m.sm_active,
    m.tensor_active,
    m.dram_active,
    m.nvlink_bytes_per_s,
    m.nvlink_bytes_per_s / nullif(p.nvlink_gb_s * 1e9, 0) as nvlink_share,
    m.pcie_bytes_per_s,
    m.power_w,
    m.sm_clock_mhz,
    m.throttled_share,
    m.reasons,
from means as m
left join ledger.device_peaks as p using (run_id)
