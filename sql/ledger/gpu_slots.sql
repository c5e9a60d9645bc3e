-- one row per host and PCI address of a GPU whose index a source tells
-- do not count as GPUs of a cluster: only hosts of which such a source was read
with

-- NCCL: the index of the driver and the number of the bus, `3 busId 9b000`
communicators as (
    select
        split_part(coalesce(f.host, s.host), '.', 1) as host,
        ('0x' || split_part(f.value, ' busId ', 2))::bigint as bus_id,
        split_part(f.value, ' ', 1)::integer as gpu_index,
    from events.facts as f
    inner join staging.sources as s using (source_id)
    where f.key = 'nccl_device' and regexp_full_match(f.value, '\d+ busId [0-9a-fA-F]{1,12}')
),

-- the driver lists its devices in the order of their indices
listed as (
    select
        split_part(coalesce(f.host, s.host), '.', 1) as host,
        lower(regexp_extract(f.value, '([0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})\.', 1)) as pci,
        dense_rank() over (partition by f.source_id order by lower(f.value)) - 1 as gpu_index,
    from events.facts as f
    inner join staging.sources as s using (source_id)
    where f.key = 'gpu_pci'
),

-- a monitor that names both
sampled as (
    select distinct
        split_part(coalesce(t.host, s.host), '.', 1) as host,
        t.pci,
        t.gpu::integer as gpu_index,
    from events.telemetry as t
    inner join staging.sources as s using (source_id)
    where t.pci is not null and regexp_full_match(t.gpu, '\d{1,4}')
),

united as (
    select
        host,
        printf('%04x:%02x:%02x', bus_id >> 20, (bus_id >> 12) & 255, (bus_id >> 4) & 255) as pci,
        gpu_index,
    from communicators
    union all
    select host, pci, gpu_index::integer
    from listed
    union all
    select host, pci, gpu_index
    from sampled
)

select host, pci, min(gpu_index) as gpu_index
from united
where host is not null
group by host, pci
having count(distinct gpu_index) = 1
