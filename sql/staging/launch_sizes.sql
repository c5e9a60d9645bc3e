-- one row per launch in a log that tells how many accelerators its processes used, or whose output tells it beside the log
-- do not sum: logs of one job tell the same
with

facts as (
    select
        s.log_no,
        line_order(s.lines_before + f.line, f.segment) as ord,
        f.format,
        f.pattern,
        f.rank,
        f.key,
        f.value,
        coalesce(f.format in (select format from events.formats where world_size_late), false) as world_size_late,
        (f.format, f.key) in (select (format, unnest(degrees)) from events.formats) as is_degree,
    from events.facts as f
    inner join staging.sources as s using (source_id)
),

-- a world size is told before the first line of its launch that has a time; where steps follow, they are of the launch that goes on.
-- what is told again is of starts that failed before they printed a time: of those above a launch the last one is its own
placed as (
    select
        f.log_no,
        n.launch is not null and (l.launch is null or s.ord is null or s.ord > n.first_ord) as is_above,
        case when is_above then n.launch else l.launch end as of_launch,
        try_cast(f.value as bigint) as gpus,
        f.ord,
        row_number() over (
            partition by f.log_no, of_launch, is_above, f.format, f.pattern, f.rank
            order by case when is_above then -f.ord else f.ord end
        ) as telling,
        bool_or(is_above) over (partition by f.log_no, of_launch, f.format, f.pattern, f.rank)
            and (telling > 1 or not is_above) as is_of_another,
    from facts as f
    asof left join staging.launches as n on f.log_no = n.log_no and f.ord <= n.first_ord
    asof left join staging.launches as l on f.log_no = l.log_no and f.ord >= l.first_ord
    asof left join staging.step_lines as s on f.log_no = s.log_no and f.ord < s.ord
    where f.key = 'world_size' and try_cast(f.value as bigint) between 1 and 1000000000
        and not f.world_size_late
),

told as (
    select log_no, coalesce(of_launch, 1) as launch, arg_max(gpus, ord) as gpus
    from placed
    where not is_of_another
    group by all
),

-- in the gap behind a launch of their log
others as (
    select
        *,
        row_number() over (partition by log_no, behind_launch order by ord) as place,
        count(*) over (partition by log_no, behind_launch) as tellings,
    from (
        select
            log_no,
            coalesce(of_launch - is_above::integer, 0) as behind_launch,
            arg_max(gpus, ord) as gpus,
            max(ord) as ord,
        from placed
        where of_launch is null or is_of_another
        group by log_no, of_launch, is_above, telling
    )
),

-- their errors, which have times, may lie in the log that is called alike but for its ending
logs as (
    select distinct log_no, run_id, regexp_replace(log, '\.[^./]*$', '') as stem
    from staging.sources
    where run_id is not null
),

launches as (
    select
        *,
        bool_or((log_no, launch) in (select (log_no, launch) from told)) over (partition by run_id, launch_no) as is_sized,
    from staging.attempts
),

sizeless as (
    select
        o.log_no as output_no,
        coalesce(b.launch, 0) as behind_launch,
        a.log_no,
        a.launch,
        row_number() over (partition by o.log_no, coalesce(b.launch, 0) order by a.launch_no) as place,
        count(*) over (partition by o.log_no, coalesce(b.launch, 0)) as launches,
    from logs as o
    inner join logs as e on e.run_id = o.run_id and e.stem = o.stem and e.log_no <> o.log_no
    inner join launches as a on a.log_no = e.log_no and not a.is_sized
    asof left join launches as b on b.log_no = o.log_no and b.launch_no <= a.launch_no
    where o.log_no in (select log_no from others)
),

-- where they are as many as the launches there that tell no size, each has its own
beside as (
    select z.log_no, z.launch, max(t.gpus) as gpus
    from sizeless as z
    inner join others as t
        on t.log_no = z.output_no and t.behind_launch = z.behind_launch and t.place = z.place and t.tellings = z.launches
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
from (
    from told
    union all
    from beside
) as t
full outer join products as p on p.log_no = t.log_no and p.launch = t.launch
full outer join meshes as m
    on m.log_no = coalesce(t.log_no, p.log_no) and m.launch = coalesce(t.launch, p.launch)
-- a number that no cluster has is damage
where coalesce(t.gpus, p.gpus, m.gpus) between 1 and 1000000000
