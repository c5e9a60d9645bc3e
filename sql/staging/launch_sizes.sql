-- one row per launch in a log that tells how many accelerators its processes used
-- do not sum: logs of one job tell the same
with

facts as (
    select
        s.log_no,
        line_order(s.lines_before + f.line, f.segment) as ord,
        f.key,
        f.value,
        coalesce(f.format in (select format from events.formats where world_size_late), false) as world_size_late,
        (f.format, f.key) in (select (format, unnest(degrees)) from events.formats) as is_degree,
    from events.facts as f
    inner join staging.sources as s using (source_id)
),

-- a world size is told before the first line of its launch that has a time; where steps follow, they are of the launch that goes on
told as (
    select
        f.log_no,
        coalesce(case when l.launch is null or s.ord is null or s.ord > n.first_ord then n.launch end, l.launch, 1) as launch,
        arg_max(try_cast(f.value as bigint), f.ord) as gpus,
    from facts as f
    asof left join staging.launches as n on f.log_no = n.log_no and f.ord <= n.first_ord
    asof left join staging.launches as l on f.log_no = l.log_no and f.ord >= l.first_ord
    asof left join staging.step_lines as s on f.log_no = s.log_no and f.ord < s.ord
    where f.key = 'world_size' and try_cast(f.value as bigint) between 1 and 1000000000
        and not f.world_size_late
    group by all
),

-- degrees and meshes after it, and by some programs the world size itself
after_mark as (
    select
        f.log_no,
        coalesce(l.launch, 1) as launch,
        f.key,
        f.value,
        f.world_size_late,
        f.is_degree,
    from facts as f
    asof left join staging.launches as l on f.log_no = l.log_no and f.ord >= l.first_ord
),

-- a program that prints the degrees of its parallelism instead of their product
degrees as (
    select
        log_no,
        launch,
        key,
        max(try_cast(value as bigint)) as degree,
    from after_mark
    where is_degree
    group by all
),

products as (
    select log_no, launch, try_cast(product(degree) as bigint) as gpus
    from degrees
    where degree > 0
    group by all
),

meshes as (
    select
        log_no,
        launch,
        max(try_cast(list_product(list_transform(regexp_extract_all(value, '\d+'), lambda x: x::double)) as bigint)) as gpus,
    from after_mark
    where key = 'device_mesh'
        or (key = 'world_size' and world_size_late)
    group by all
)

select
    coalesce(t.log_no, p.log_no, m.log_no) as log_no,
    coalesce(t.launch, p.launch, m.launch) as launch,
    coalesce(t.gpus, p.gpus, m.gpus) as gpus,
from told as t
full outer join products as p on p.log_no = t.log_no and p.launch = t.launch
full outer join meshes as m
    on m.log_no = coalesce(t.log_no, p.log_no) and m.launch = coalesce(t.launch, p.launch)
-- a number that no cluster has is damage
where coalesce(t.gpus, p.gpus, m.gpus) between 1 and 1000000000
