-- one row per boot of which a kernel log tells: when it was, and the place of the line that says so
-- do not count as reboots: a log that begins later tells of none
-- boot_us: when it was, microseconds since the epoch
with

clocks as (
    select
        s.log_no,
        s.lines_before + f.line as ord,
        f.source_id,
        f.line,
        epoch_us(f.ts) as since_boot_us,
        try_cast(f.value as bigint) as clock_s,
    from events.facts as f
    inner join staging.sources as s using (source_id)
    where f.key = 'clock_at_boot' and f.ts_quality = 'uptime'
)

-- the hardware clock knows whole seconds, and the kernel takes the middle of the one that it read
select
    log_no,
    ord,
    source_id,
    line,
    clock_s * 1000000 + 500000 - since_boot_us as boot_us,
from clocks
where clock_s is not null
