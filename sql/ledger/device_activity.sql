-- one row per run and window in which devices were sampled between first and last steps: how busy they were
-- do not sum: means over devices, hours and samples
-- devices: devices with samples
-- sm_active: share of time in which multiprocessors work; 0 to 1
-- tensor_active: share of time in which tensor cores work; 0 to 1
-- dram_active: share of time in which device memory moves data; 0 to 1
-- nvlink_bytes_per_s: bytes in and out over NVLink, per device and second
-- nvlink_share: of the bandwidth of its links, both ways together; null where the device is not known
-- pcie_bytes_per_s: bytes in and out over PCIe, per device and second
-- power_w: power of a device; in watts
-- sm_clock_mhz: clock of a device; in MHz
with

devices as (
    select run_id, window_start, host, gpu, metric, sum(value * samples) / sum(samples) as value
    from ledger.device_hours
    group by all
),

means as (
    select
        run_id,
        window_start,
        count(distinct (host, gpu)) as devices,
        avg(value) filter (where metric = 'sm_active') as sm_active,
        avg(value) filter (where metric = 'tensor_active') as tensor_active,
        avg(value) filter (where metric = 'dram_active') as dram_active,
        avg(value) filter (where metric = 'nvlink_tx') + avg(value) filter (where metric = 'nvlink_rx') as nvlink_bytes_per_s,
        avg(value) filter (where metric = 'pcie_tx') + avg(value) filter (where metric = 'pcie_rx') as pcie_bytes_per_s,
        avg(value) filter (where metric = 'power') as power_w,
        avg(value) filter (where metric = 'sm_clock') as sm_clock_mhz,
    from devices
    group by all
)

select
    m.run_id,
    m.window_start,
    m.devices,
    m.sm_active,
    m.tensor_active,
    m.dram_active,
    m.nvlink_bytes_per_s,
    m.nvlink_bytes_per_s / nullif(p.nvlink_gb_s * 1e9, 0) as nvlink_share,
    m.pcie_bytes_per_s,
    m.power_w,
    m.sm_clock_mhz,
from means as m
left join ledger.device_peaks as p using (run_id)
