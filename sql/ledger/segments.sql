-- one row per piece of a run's life between two claim edges, with the claim that won it
-- do not sum as accelerator time: widths come with ledger.intervals
with

-- claims that touch and say the same are one, so that a million steps are a handful of edges
ordered as (
    select
        *,
        max(end_us) over (
            partition by run_id, precedence, category, attempt, incident_id, mark order by start_us, end_us
            rows between unbounded preceding and 1 preceding
        ) as earlier_end_us,
    from ledger.claims
),

-- where a new island begins, the one before it has ended
begins as (
    select
        run_id,
        precedence,
        category,
        attempt,
        incident_id,
        mark,
        start_us,
        lead(earlier_end_us) over (
            partition by run_id, precedence, category, attempt, incident_id, mark order by start_us, end_us
        ) as end_us,
    from ordered
    where earlier_end_us is null or start_us > earlier_end_us
),

last_ends as (
    select run_id, precedence, category, attempt, incident_id, mark, max(end_us) as end_us
    from ledger.claims
    group by all
),

islands as (
    select
        b.* exclude (end_us),
        coalesce(b.end_us, l.end_us) as end_us,
    from begins as b
    inner join last_ends as l
        on l.run_id = b.run_id and l.precedence = b.precedence and l.category = b.category
        and l.attempt is not distinct from b.attempt and l.incident_id is not distinct from b.incident_id
        and l.mark is not distinct from b.mark
),

-- each precedence is a bit: the highest bit that is set in a piece wins it
levels as (
    select
        precedence,
        any_value(category) as category,
        row_number() over (order by precedence) - 1 as bit,
    from islands
    group by precedence
),

level_ordered as (
    select
        i.run_id,
        i.precedence,
        i.start_us,
        i.end_us,
        max(i.end_us) over (
            partition by i.run_id, i.precedence order by i.start_us, i.end_us
            rows between unbounded preceding and 1 preceding
        ) as earlier_end_us,
    from islands as i
),

level_islanded as (
    select
        *,
        count_if(earlier_end_us is null or start_us > earlier_end_us) over (
            partition by run_id, precedence order by start_us, end_us rows unbounded preceding
        ) as island,
    from level_ordered
),

level_islands as (
    select
        run_id,
        precedence,
        min(start_us) as start_us,
        max(end_us) as end_us,
    from level_islanded
    group by run_id, precedence, island
),

changes as (
    select l.run_id, l.start_us as at_us, (1::bigint << v.bit) as delta
    from level_islands as l inner join levels as v using (precedence)
    union all
    select l.run_id, l.end_us as at_us, -(1::bigint << v.bit) as delta
    from level_islands as l inner join levels as v using (precedence)
    union all
    -- edges of islands inside a level, and of widths, cut without changing what is claimed
    select run_id, start_us as at_us, 0 as delta from islands
    union all
    select run_id, end_us as at_us, 0 as delta from islands
    union all
    select w.run_id, greatest(l.start_us, least(w.start_us, l.end_us)) as at_us, 0 as delta
    from ledger.widths as w inner join ledger.lives as l using (run_id)
    union all
    select w.run_id, greatest(l.start_us, least(w.end_us, l.end_us)) as at_us, 0 as delta
    from ledger.widths as w inner join ledger.lives as l using (run_id)
),

edges as (
    select run_id, at_us, sum(delta)::bigint as delta
    from changes
    group by all
),

pieces as (
    select
        run_id,
        at_us as start_us,
        lead(at_us) over w as end_us,
        (sum(delta) over (partition by run_id order by at_us rows unbounded preceding))::bigint as bits,
    from edges
    window w as (partition by run_id order by at_us)
),

-- the highest bit, and the highest below it
ranked as (
    select
        *,
        floor(log2(greatest(bits, 1)))::integer as top_bit,
        case
            when bits = (1::bigint << floor(log2(greatest(bits, 1)))::integer) then null
            else floor(log2(greatest(bits - (1::bigint << floor(log2(greatest(bits, 1)))::integer), 1)))::integer
        end as second_bit,
    from pieces
    where end_us is not null and bits > 0
),

levelled as (
    select
        r.*,
        v.precedence,
        v.category,
        w.category as second_category,
    from ranked as r
    inner join levels as v on v.bit = r.top_bit
    left join levels as w on w.bit = r.second_bit
),

-- of claims of one precedence the later attempt wins, then the later start
covering as (
    select
        l.run_id,
        l.start_us,
        arg_max(i, (coalesce(i.attempt, 0), i.start_us, coalesce(i.incident_id, ''), i.mark)) as island,
    from levelled as l
    inner join islands as i
        on i.run_id = l.run_id and i.precedence = l.precedence
        and i.start_us <= l.start_us and i.end_us >= l.end_us
    group by all
)

select
    l.run_id,
    c.island.attempt as attempt,
    l.start_us,
    l.end_us,
    l.category,
    l.precedence,
    case when l.category = 'lost_work' then l.second_category end as was,
    c.island.incident_id as incident_id,
    c.island.mark as mark,
from levelled as l
inner join covering as c using (run_id, start_us)
