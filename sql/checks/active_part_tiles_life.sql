-- one row per place where the active part of a run does not tile its life: a gap, an overlap, or a wrong end
-- law: the active intervals of a run follow each other without gap or overlap from the start to the end of its life
with

ordered as (
    select
        run_id,
        start_ts,
        end_ts,
        lag(end_ts) over (partition by run_id order by start_ts, end_ts) as previous_end_ts,
        lead(start_ts) over (partition by run_id order by start_ts, end_ts) as next_start_ts,
    from ledger.intervals
    where part = 'active'
),

broken as (
    select
        o.run_id,
        case
            when o.previous_end_ts is null then 'the first interval does not begin with the life'
            when o.start_ts > o.previous_end_ts then 'a gap between intervals'
            else 'intervals overlap'
        end as what,
        concat(coalesce(o.previous_end_ts, r.life_start_ts), ' … ', o.start_ts) as example,
    from ordered as o
    inner join ledger.runs as r using (run_id)
    where o.start_ts is distinct from coalesce(o.previous_end_ts, r.life_start_ts)
    union all
    select
        o.run_id,
        'the last interval does not end with the life' as what,
        concat(o.end_ts, ' … ', r.life_end_ts) as example,
    from ordered as o
    inner join ledger.runs as r using (run_id)
    where o.next_start_ts is null and o.end_ts is distinct from r.life_end_ts
    union all
    select
        r.run_id,
        'no interval at all' as what,
        concat(r.life_start_ts, ' … ', r.life_end_ts) as example,
    from ledger.runs as r
    anti join ordered as o using (run_id)
    -- a run of which no line carries a time has no life to tile
    where r.life_start_ts is not null
)

select * from broken
