-- one row per span in which the sizes of attempts do not add up to all of them
-- law: attempts, failures, failed starts, preemptions and planned ends of marts.failure_counts by size and by run are those of all; one cause to an end
with

sums as (
    select
        span,
        span_start,
        grouped_by,
        sum(attempts) as attempts,
        sum(failures) as failures,
        sum(failures + failed_starts + preemptions + planned_ends) as ends,
    from marts.failure_counts
    group by all
),

pairs as (
    select
        a.span,
        a.span_start,
        a.attempts,
        a.failures,
        a.ends,
        coalesce(s.attempts, 0) as attempts_by_size,
        coalesce(s.ends, 0) as ends_by_size,
        coalesce(r.attempts, 0) as attempts_by_run,
        coalesce(r.ends, 0) as ends_by_run,
        coalesce(z.failures, 0) as failures_by_size_and_domain,
        coalesce(d.failures, 0) as failures_by_domain,
    from sums as a
    left join sums as s on s.span = a.span and s.span_start = a.span_start and s.grouped_by = 'gpus'
    left join sums as d on d.span = a.span and d.span_start = a.span_start and d.grouped_by = 'domain'
    left join sums as r on r.span = a.span and r.span_start = a.span_start and r.grouped_by = 'run'
    left join sums as z on z.span = a.span and z.span_start = a.span_start and z.grouped_by = 'gpus_domain'
    where a.grouped_by = 'all'
)

select
    null::varchar as run_id,
    'attempts by size or run, or failures by cause, do not add up' as what,
    concat(
        span, ' from ', span_start, ': ', attempts_by_size, ' of ', attempts, ' attempts, ', ends_by_size, ' of ', ends,
        ' ends, ', failures_by_domain, ' of ', failures, ' failures; by run ', attempts_by_run, ' attempts and ', ends_by_run,
        ' ends; by size and cause ', failures_by_size_and_domain, ' failures'
    ) as example,
from pairs
where attempts <> attempts_by_size or ends <> ends_by_size or failures <> failures_by_domain
    or attempts <> attempts_by_run or ends <> ends_by_run or failures <> failures_by_size_and_domain
