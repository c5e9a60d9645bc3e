-- one row per step span and source of timers: what a step of it was spent on
-- do not sum over sources of one span: each tells of the whole step
-- evidence: timers, wall_clock or spans
-- step_s: time of one step that the timers are held against: what the line prints, or what lies between lines; in seconds
-- told_s: time of one step that timers tell of, those inside others left out; in seconds
-- compute_s: computing, the update of the parameters included, of several ranks that of the one with the most; in seconds
-- exposed_comm_s: communication that timers tell of, of several ranks that of the one with the least; in seconds; null where they tell none, or stand at zero
-- data_wait_s: wait for data; in seconds; null where they tell none
-- bubble_s: wait of a stage for the others, no longer than filling and draining of the pipeline explain; in seconds
-- memory_copy_s: copies between the parameters and their master copy; in seconds; null where they tell none
-- other_s: what of the step no timer tells; in seconds
-- comm_min_s: communication of the rank with the least, each timer by itself; in seconds; null where one rank tells
-- comm_max_s: communication of the rank with the most, each timer by itself; in seconds; null where one rank tells
-- compute_min_s: computing of the rank with the least; in seconds; null where one rank tells
-- compute_max_s: computing of the rank with the most; in seconds; null where one rank tells
-- steady: whether the span holds nothing but steps, and is not the first of its attempt
-- fits: whether the timers fit into the step; else no part is told
with

intervals as (
    select run_id, try_cast(max(value) as bigint) as log_interval
    from staging.facts
    where key = 'log_interval' and place = 1
    group by run_id
),

-- which timers a block has: nearly all blocks of a run have the same ones
blocks as (
    select run_id, attempt, step_first, evidence, string_agg(component, ';' order by component) as present
    from ledger.step_timers
    group by run_id, attempt, step_first, evidence
),

kinds as (
    select present, unnest(string_split(present, ';')) as component
    from (select distinct present from blocks)
),

inside as (
    select component, any_value(parents) as parents, any_value(loose_parents) as loose_parents
    from ledger.step_timers
    group by component
),

-- of the timers that may hold one, the nearest that is there
nests as (
    select
        k.present,
        k.component,
        list_filter(string_split(coalesce(i.parents, ''), ';'), lambda p: list_contains(string_split(k.present, ';'), p))[1] as parent,
        list_filter(
            string_split(coalesce(i.loose_parents, ''), ';'), lambda p: list_contains(string_split(k.present, ';'), p)
        )[1] as loose_parent,
    from kinds as k
    inner join inside as i using (component)
),

spans as (
    select
        b.*,
        s.steps,
        s.step_time_s as printed_s,
        s.net_us / 1e6 / s.steps as net_s,
        not s.first_span and not s.holds_stall as steady,
        -- a block is divided by the interval even where fewer steps ran since the last one
        case when b.evidence = 'timers' and s.steps < i.log_interval then i.log_interval / s.steps else 1 end as scale,
    from blocks as b
    inner join ledger.steps as s using (run_id, attempt, step_first)
    left join intervals as i on i.run_id = b.run_id
),

nested as (
    select
        t.* exclude (seconds, min_s, max_s, parents, loose_parents),
        b.present,
        n.parent,
        n.loose_parent,
        t.seconds * b.scale as seconds,
        t.min_s * b.scale as min_s,
        t.max_s * b.scale as max_s,
    from ledger.step_timers as t
    inner join spans as b using (run_id, attempt, step_first, evidence)
    inner join nests as n on n.present = b.present and n.component = t.component
),

sums as (
    select
        run_id,
        attempt,
        step_first,
        evidence,
        sum(seconds) filter (where parent is null) as siblings_s,
        sum(seconds) filter (where parent is null and loose_parent is null) as nested_s,
    from nested
    group by run_id, attempt, step_first, evidence
),

-- the printed time may hold stalls, or be a mean with the step before: the shorter of the two that the timers fit into
held as (
    select
        b.*,
        -- whether a reduction lies within the passes or behind them depends on the version: where it fits behind, it is
        u.siblings_s <= 1.002 * greatest(coalesce(b.printed_s, b.net_s), b.net_s) as siblings_fit,
        case when siblings_fit then u.siblings_s else u.nested_s end as outer_s,
        coalesce(
            list_min(list_filter([b.printed_s, b.net_s], lambda s: s >= 0.998 * outer_s)),
            greatest(coalesce(b.printed_s, b.net_s), b.net_s)
        ) as step_s,
    from spans as b
    inner join sums as u using (run_id, attempt, step_first, evidence)
),

placed as (
    select
        n.* exclude (parent, loose_parent),
        coalesce(n.parent, case when not h.siblings_fit then n.loose_parent end) as inside,
    from nested as n
    inner join held as h using (run_id, attempt, step_first, evidence)
),

children as (
    select run_id, attempt, step_first, evidence, inside as component, sum(seconds) as children_s
    from placed
    where inside is not null
    group by all
),

-- what the ranks tell may be less for a timer than for those inside it
exclusive as (
    select
        h.*,
        greatest(h.seconds - coalesce(c.children_s, 0), 0) as own_s,
        case when h.min_s is not null then greatest(h.min_s - coalesce(c.children_s, 0), 0) end as own_min_s,
        case when h.max_s is not null then greatest(h.max_s - coalesce(c.children_s, 0), 0) end as own_max_s,
    from placed as h
    left join children as c using (run_id, attempt, step_first, evidence, component)
),

parts as (
    select
        run_id,
        attempt,
        step_first,
        evidence,
        sum(own_s) as told_s,
        -- of several ranks only the ends are known, of each timer by itself: they may add up to more than a step
        count(min_s) = count(*) as of_ranks,
        sum(own_s) filter (where part = 'compute') as passes_s,
        sum(own_s) filter (where part in ('compute', 'update')) as compute_s,
        sum(own_s) filter (where part in ('comm', 'pipeline_end')) as comm_s,
        sum(own_s) filter (where part = 'pipeline_end') as drain_s,
        sum(own_s) filter (where part = 'pipeline') as pipeline_s,
        sum(own_s) filter (where part = 'data_wait') as data_wait_s,
        sum(own_s) filter (where part = 'copy') as memory_copy_s,
        sum(own_min_s) filter (where part in ('comm', 'pipeline_end')) as comm_min_s,
        sum(own_max_s) filter (where part in ('comm', 'pipeline_end')) as comm_max_s,
        sum(own_min_s) filter (where part in ('compute', 'update')) as compute_min_s,
        sum(own_max_s) filter (where part in ('compute', 'update')) as compute_max_s,
        bool_or(part = 'host') as of_host,
        min((source_id, line)) as first_line,
    from exclusive
    group by all
    having sum(own_s) > 0
),

-- what stages wait for each other is bubble as far as filling and draining explain it, and communication beyond
bubbles as (
    select
        p.*,
        h.steps,
        h.steady,
        h.step_s,
        coalesce(p.pipeline_s, 0) + coalesce(p.drain_s, 0) as waits_s,
        case
            when p.pipeline_s is null and q.bubble_ratio is null then null
            when q.bubble_ratio is not null then least(waits_s, q.bubble_ratio * coalesce(p.passes_s, 0))
            else p.pipeline_s
        end as bubble_s,
        p.told_s <= 1.02 * h.step_s or p.of_ranks as fits,
        case when p.told_s > h.step_s then h.step_s / p.told_s else 1 end as shrink,
    from parts as p
    inner join held as h using (run_id, attempt, step_first, evidence)
    left join ledger.pipelines as q using (run_id)
),

split as (
    select
        * exclude (compute_s, comm_s, data_wait_s, memory_copy_s, bubble_s),
        case when fits and not of_host then round(shrink * compute_s, 9) end as compute_s,
        -- timers of communication that stand at zero tell that it is hidden or not measured
        case
            when fits and coalesce(comm_s, 0) + coalesce(pipeline_s, 0) > 0
                then round(shrink * (coalesce(comm_s, 0) + coalesce(pipeline_s, 0) - coalesce(bubble_s, 0)), 9)
        end as exposed_comm_s,
        case when fits then round(shrink * data_wait_s, 9) end as data_wait_s,
        case when fits then round(shrink * memory_copy_s, 9) end as memory_copy_s,
        case when fits and waits_s > 0 then round(shrink * bubble_s, 9) end as bubble_s,
    from bubbles
)

select
    run_id,
    attempt,
    step_first,
    evidence,
    steps,
    steady,
    round(step_s, 9) as step_s,
    round(told_s, 9) as told_s,
    fits,
    compute_s,
    exposed_comm_s,
    data_wait_s,
    bubble_s,
    memory_copy_s,
    round(
        step_s
        - coalesce(compute_s, 0) - coalesce(exposed_comm_s, 0) - coalesce(data_wait_s, 0) - coalesce(bubble_s, 0)
        - coalesce(memory_copy_s, 0),
        9
    ) + 0 as other_s,
    case when fits then round(comm_min_s, 9) end as comm_min_s,
    case when fits then round(comm_max_s, 9) end as comm_max_s,
    case when fits then round(compute_min_s, 9) end as compute_min_s,
    case when fits then round(compute_max_s, 9) end as compute_max_s,
    first_line[1] as source_id,
    first_line[2] as line,
from split
