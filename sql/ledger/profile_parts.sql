-- one row per run and steps that traces of a profiler show: what a step of them was spent on, over all ranks with a trace
-- do not sum: each row is the mean of its ranks
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

final as (
    select
        run_id,
        first_step,
        last_step,
        count(*) as ranks,
        any_value(steps) as steps,
        round(avg(span_s / steps), 9) as step_s,
        round(avg(coalesce(compute_s, 0) / steps), 9) as compute_s,
        round(avg((comm_s - coalesce(bubble_s, 0)) / steps), 9) as exposed_comm_s,
        round(avg(bubble_s / steps), 9) as bubble_s,
        round(avg(copy_s / steps), 9) as memory_copy_s,
        round(avg((span_s - coalesce(compute_s, 0) - comm_s - copy_s) / steps), 9) + 0 as other_s,
        round(avg(comm_busy_s / steps), 9) as comm_busy_s,
        case when count(*) > 1 then round(min(comm_s / steps), 9) end as comm_min_s,
        case when count(*) > 1 then round(max(comm_s / steps), 9) end as comm_max_s,
        case when count(*) > 1 then round(min(coalesce(compute_s, 0) / steps), 9) end as compute_min_s,
        case when count(*) > 1 then round(max(coalesce(compute_s, 0) / steps), 9) end as compute_max_s,
        sum(comm_bytes) / nullif(sum(told_busy_s), 0) as link_bytes_per_s,
        min((source_id, line)) as first_line,
    from split
    group by run_id, first_step, last_step
)

select
    * exclude (first_line),
    first_line[1] as source_id,
    first_line[2] as line,
from final
