-- one row per span of time and group: failures per 1,000 node-days and time to failure, with exact limits of 95 %
-- rates and times do not add, and spans overlap: sum failures and exposure of marts.failure_counts over windows instead
-- span: window, period, 1_week, 4_weeks, 12_weeks (each up to the end of the period, where the records reach so far), records (all of them)
-- grouped_by: all, gpus, domain, gpus_domain (a domain among attempts of one size) or run; a domain has the exposure of
-- all, and a domain of a size that of the size
-- attempts: attempts that lived in the span and count in time to failure
-- failures: ends by failure of attempts that had made a step, or of which no trainer log exists
-- failed_starts: attempts that failed before any step; priced, not counted as failures
-- crash_loops: rows of three or more failed starts with one cause that began in the span
-- preemptions: ends by preemption
-- planned_ends: ends that somebody had planned
-- per_1000_node_days: failures in a thousand days of a host
-- per_1000_node_days_low: lower limit of per_1000_node_days
-- per_1000_node_days_high: upper limit of per_1000_node_days
-- time_to_failure_h: exposed time of attempts per failure; in hours; null where none failed
-- time_to_failure_low_h: lower limit of time_to_failure_h; known without any failure too; in hours
-- time_to_failure_high_h: upper limit of time_to_failure_h; null without any failure: there is none; in hours
-- time_to_failure_1000_gpus_h: thousands of GPU-hours per failure: what a job of 1,000 accelerators would live; in hours
-- time_to_failure_1000_gpus_low_h: lower limit of time_to_failure_1000_gpus_h; in hours
-- time_to_failure_1000_gpus_high_h: upper limit of time_to_failure_1000_gpus_h; in hours
-- undefined_reason: why a figure is null
with

rates as (
    select
        c.*,
        l.events_low,
        l.events_high,
        1000 / nullif(c.node_days, 0) as per_failure,
        nullif(c.run_hours, 0) as exposed_h,
        nullif(c.gpu_hours, 0) / 1000 as exposed_1000_gpus_h,
    from marts.failure_counts as c
    inner join marts.poisson_limits as l on l.events = c.failures
),

final as (
    select
        span,
        span_start,
        span_end,
        grouped_by,
        gpus_class,
        gpus_from,
        domain,
        run_id,
        attempts,
        failures,
        failed_starts,
        crash_loops,
        preemptions,
        planned_ends,
        run_hours,
        gpu_hours,
        node_days,
        nodes_assumed_share,
        failures * per_failure as per_1000_node_days,
        events_low * per_failure as per_1000_node_days_low,
        events_high * per_failure as per_1000_node_days_high,
        exposed_h / nullif(failures, 0) as time_to_failure_h,
        exposed_h / events_high as time_to_failure_low_h,
        exposed_h / nullif(events_low, 0) as time_to_failure_high_h,
        exposed_1000_gpus_h / nullif(failures, 0) as time_to_failure_1000_gpus_h,
        exposed_1000_gpus_h / events_high as time_to_failure_1000_gpus_low_h,
        exposed_1000_gpus_h / nullif(events_low, 0) as time_to_failure_1000_gpus_high_h,
        case
            when exposed_h is null then 'no attempt made a step in this span'
            when failures = 0 then 'no failure in this span'
        end as undefined_reason,
        case when nodes_assumed_share > 0 then '†' else '' end as mark,
    from rates
)

select * from final
order by span, span_start, grouped_by, gpus_from, domain, run_id
