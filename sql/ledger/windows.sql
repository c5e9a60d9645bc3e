-- one row per window of the report, half open, cut at the bounds of the period asked for
-- do not add figures of windows other than as sums of accelerator time
-- grid_us: where it would begin, were it not cut
with

lives as (
    select min(start_us) as start_us, max(end_us) as end_us from ledger.lives
),

period as (
    select
        r.window_us,
        coalesce(epoch_us(r.from_ts), l.start_us) as from_us,
        coalesce(epoch_us(r.to_ts), l.end_us) as to_us,
        r.from_ts is not null as has_from,
        r.to_ts is not null as has_to,
    from config.report as r
    cross join lives as l
),

-- windows lie on a grid that begins at midnight UTC of the first day
grid as (
    select
        p.*,
        epoch_us(date_trunc('day', make_timestamptz(p.from_us))) as origin_us,
    from period as p
    where p.from_us < p.to_us
),

numbers as (
    select
        g.*,
        unnest(range(
            ((g.from_us - g.origin_us) // g.window_us)::bigint,
            ((g.to_us - g.origin_us + g.window_us - 1) // g.window_us)::bigint
        )) as n,
    from grid as g
)

select
    make_timestamptz((case when has_from then greatest(origin_us + n * window_us, from_us) else origin_us + n * window_us end)::bigint) as window_start,
    make_timestamptz((case when has_to then least(origin_us + (n + 1) * window_us, to_us) else origin_us + (n + 1) * window_us end)::bigint) as window_end,
    (origin_us + n * window_us)::bigint as grid_us,
from numbers
