-- one row per run, configuration and level: a stretch of clean step spans at one pace
-- do not average over levels: reference_steps says which one counts
-- level: number of the level within the configuration, in order
-- place_first: number of its first clean span within the run
-- place_last: number of its last clean span
-- spans: clean spans of it
-- step_us: median time of one step; in microseconds
-- margin: by what share levels of this configuration have to differ to be told from jitter
with

-- a configuration is looked at in about 2,000 pieces at most, each with the median of its clean spans
pieces as (
    select
        run_id,
        gpus,
        batch,
        (place - 1) // ((places + 1999) // 2000) as piece,
        min(place) as place_first,
        ln(median(step_us)) as pace,
    from ledger.paced_spans
    where clean
    group by all
),

differences as (
    select *, abs(pace - lag(pace) over (partition by run_id, gpus, batch order by piece)) as difference
    from pieces
),

-- jitter from one piece to the next: a median of eight moves by less than half of it
margins as (
    select
        run_id,
        gpus,
        batch,
        greatest(0.04, 2.5 * 1.4826 / sqrt(2) * coalesce(median(difference), 0)) as margin,
    from differences
    group by all
),

compared as (
    select
        p.*,
        m.margin,
        abs(median(pace) over after - median(pace) over before) as median_jump,
        abs(avg(pace) over after - avg(pace) over before) as jump,
        least(count(*) over before, count(*) over after) >= 4 as enough,
    from differences as p
    inner join margins as m
        on m.run_id = p.run_id and m.gpus is not distinct from p.gpus and m.batch is not distinct from p.batch
    window
        before as (partition by p.run_id, p.gpus, p.batch order by piece rows between 8 preceding and 1 preceding),
        after as (partition by p.run_id, p.gpus, p.batch order by piece rows between current row and 7 following)
),

-- where pieces around it see the same jump, the change is where the pace itself jumps
jumps as (
    select *, case when enough and median_jump > margin then jump + 0.1 * coalesce(difference, 0) end as strength
    from compared
),

-- around a change many pieces see it: the strongest is the change
strongest as (
    select
        *,
        strength is not null
        and strength >= max(strength) over (
            partition by run_id, gpus, batch order by piece rows between 4 preceding and 4 following
        ) as peak,
    from jumps
),

first_peaks as (
    select
        *,
        peak and not coalesce(
            bool_or(peak) over (partition by run_id, gpus, batch order by piece rows between 4 preceding and 1 preceding), false
        ) as changes,
    from strongest
),

numbered as (
    select
        run_id,
        gpus,
        batch,
        place_first,
        margin,
        1 + count_if(changes) over (partition by run_id, gpus, batch order by piece) as level,
    from first_peaks
),

levels as (
    select
        run_id,
        gpus,
        batch,
        level,
        any_value(margin) as margin,
        min(place_first) as place_first,
    from numbered
    group by all
),

bounded as (
    select
        *,
        coalesce(
            lead(place_first) over (partition by run_id, gpus, batch order by level) - 1, 9223372036854775807
        ) as place_end,
    from levels
)

select
    b.run_id,
    b.gpus,
    b.batch,
    b.level,
    b.place_first,
    max(s.place) as place_last,
    count(*) as spans,
    median(s.step_us) as step_us,
    any_value(b.margin) as margin,
from bounded as b
inner join ledger.paced_spans as s
    on s.run_id = b.run_id
    and s.gpus is not distinct from b.gpus
    and s.batch is not distinct from b.batch
    and s.clean
    and s.place between b.place_first and b.place_end
group by all
