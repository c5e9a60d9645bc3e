-- one row per run and steps that traces of a profiler show: what a step of them was spent on, by the rank that computes longest
-- do not sum: the other ranks wait for it
-- last_step: last step of the traces
-- ranks: ranks with a trace
-- step_s: time of one step on a device, from its first activity to its last; in seconds
-- compute_s: computing; in seconds
-- exposed_comm_s: communication under which nothing is computed; in seconds
-- bubble_s: of it, what filling and draining of a pipeline explain; in seconds; null where no pipeline is known
-- memory_copy_s: copies under which nothing else runs; in seconds
-- other_s: the device had nothing to do; in seconds
-- comm_busy_s: communication, hidden or not; in seconds
-- comm_min_s: exposed communication of the rank with the least; in seconds; null where one rank is there
-- comm_max_s: exposed communication of the rank with the most; in seconds; null where one rank is there
-- compute_min_s: computing of the rank with the least; in seconds; null where one rank is there
-- compute_max_s: computing of the rank with the most; in seconds; null where one rank is there
-- link_bytes_per_s: bytes of communication / time of it, where traces tell bytes
-- source_id: first trace
with

devices as (
    select
        s.run_id,
        p.source_id,
        p.rank,
        p.gpu,
        p.first_step,
        p.last_step,
        -- a trace that names no step is taken as one
        coalesce(p.last_step - p.first_step + 1, 1) as steps,
        any_value(p.span_s) as span_s,
        sum(p.exposed_s) filter (where p.component = 'compute') as compute_s,
        coalesce(sum(p.exposed_s) filter (where p.component = 'communication'), 0) as comm_s,
        coalesce(sum(p.exposed_s) filter (where p.component = 'communication' and p.kind = 'send_recv'), 0) as send_recv_s,
        coalesce(sum(p.exposed_s) filter (where p.component = 'copy'), 0) as copy_s,
        -- kinds of communication may run at once
        least(coalesce(sum(p.busy_s) filter (where p.component = 'communication'), 0), any_value(p.span_s)) as comm_busy_s,
        sum(p.bytes) filter (where p.component = 'communication') as comm_bytes,
        coalesce(sum(p.busy_s) filter (where p.component = 'communication' and p.bytes is not null), 0) as told_busy_s,
        min(p.line) as line,
    from events.profiles as p
    inner join staging.sources as s using (source_id)
    where s.run_id is not null and p.span_s > 0
    group by all
),

split as (
    select
        d.*,
        case
            when q.stages is null then null
            else least(d.send_recv_s, coalesce(q.bubble_ratio * coalesce(d.compute_s, 0), d.send_recv_s))
        end as bubble_s,
    from devices as d
    left join ledger.pipelines as q using (run_id)
),

per_step as (
    select
        run_id,
        rank,
        first_step,
        last_step,
        steps,
        (source_id, line) as first_line,
        comm_bytes,
        told_busy_s,
        round(span_s / steps, 9) as step_s,
        round(coalesce(compute_s, 0) / steps, 9) as compute_s,
        round(comm_s / steps, 9) as comm_s,
        round((comm_s - coalesce(bubble_s, 0)) / steps, 9) as exposed_comm_s,
        round(bubble_s / steps, 9) as bubble_s,
        round(copy_s / steps, 9) as memory_copy_s,
        round((span_s - coalesce(compute_s, 0) - comm_s - copy_s) / steps, 9) + 0 as other_s,
        round(comm_busy_s / steps, 9) as comm_busy_s,
    from split
),

-- who computes longest waits least: what others wait for it is no time of the network
final as (
    select
        run_id,
        first_step,
        last_step,
        count(*) as ranks,
        any_value(steps) as steps,
        arg_max(
            {
                step_s: step_s,
                compute_s: compute_s,
                exposed_comm_s: exposed_comm_s,
                bubble_s: bubble_s,
                memory_copy_s: memory_copy_s,
                other_s: other_s,
                comm_busy_s: comm_busy_s
            },
            (compute_s, -rank)
        ) as slowest,
        case when count(*) > 1 then min(comm_s) end as comm_min_s,
        case when count(*) > 1 then max(comm_s) end as comm_max_s,
        case when count(*) > 1 then min(compute_s) end as compute_min_s,
        case when count(*) > 1 then max(compute_s) end as compute_max_s,
        sum(comm_bytes) / nullif(sum(told_busy_s), 0) as link_bytes_per_s,
        min(first_line) as first_line,
    from per_step
    group by run_id, first_step, last_step
)

select
    run_id,
    first_step,
    last_step,
    ranks,
    steps,
    slowest.step_s as step_s,
    slowest.compute_s as compute_s,
    slowest.exposed_comm_s as exposed_comm_s,
    slowest.bubble_s as bubble_s,
    slowest.memory_copy_s as memory_copy_s,
    slowest.other_s as other_s,
    slowest.comm_busy_s as comm_busy_s,
    comm_min_s,
    comm_max_s,
    compute_min_s,
    compute_max_s,
    link_bytes_per_s,
    first_line[1] as source_id,
    first_line[2] as line,
from final
