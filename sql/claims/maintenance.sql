-- one row per stretch in which declared maintenance explains why nothing was held, or why what was held idled
-- do not sum: see ledger.intervals
-- precedence: strength where it is not that of the category, and null otherwise
with

explained as (
    from claims.waiting
    union all by name
    from claims.ending
    where category = 'idle_held'
)

select
    e.* exclude (start_us, end_us, category),
    greatest(e.start_us, epoch_us(m.start_ts)) as start_us,
    least(e.end_us, epoch_us(m.end_ts)) as end_us,
    c.category,
    -- above a planned stop and above what it explains
    greatest(o.precedence, c.precedence)::integer + 1 as precedence,
from explained as e
inner join config.maintenance as m
    on epoch_us(m.start_ts) < e.end_us and epoch_us(m.end_ts) > e.start_us
    -- what is written down afterwards was not planned
    and coalesce(m.declared_ts <= m.start_ts, true)
inner join seeds.categories as o on o.category = e.category
inner join seeds.categories as c on c.category = 'planned_stop'
