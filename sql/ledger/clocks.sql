-- one row per file of which the clock was compared with others
-- do not sum: a file in which several hosts speak has several clocks, and the one that is furthest off stands here
-- offset_s: by how much it runs ahead of the clock of the trainer's step lines
-- moves: whether stamps were corrected by it: it is more than a second off
with

host_lines as (
    select distinct source_id, host from events.steps where host is not null
),

clocks as (
    select
        s.source_id,
        arg_max(o.offset_s, abs(o.offset_s)) as offset_s,
        bool_or(o.moves) as moves,
        max(o.pairs) as pairs,
    from staging.sources as s
    left join host_lines as h using (source_id)
    inner join staging.clock_offsets as o
        on o.clock = coalesce(split_part(coalesce(h.host, s.host), '.', 1), 'log ' || s.log)
    where coalesce(s.role, '') <> 'scheduler'
    group by s.source_id
)

select * from clocks
