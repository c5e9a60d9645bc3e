-- one row per boot of which a kernel log tells: when it was, and the line that says so
-- do not count as reboots: a log that begins later tells of none
-- boot_us: when it was, microseconds since the epoch
with

clocks as (
    select
        source_id,
        line,
        epoch_us(ts) as since_boot_us,
        try_cast(value as bigint) as clock_s,
    from events.facts
    where key = 'clock_at_boot' and ts_quality = 'uptime'
)

-- the hardware clock knows whole seconds, and the kernel takes the middle of the one that it read
select
    source_id,
    line,
    clock_s * 1000000 + 500000 - since_boot_us as boot_us,
from clocks
where clock_s is not null
