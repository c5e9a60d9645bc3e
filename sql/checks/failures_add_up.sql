-- one row per span in which the sizes of attempts do not add up to all of them
-- law: attempts, failures, failed starts, preemptions and planned ends of marts.failure_counts by size are those of all; one cause to an end
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
        coalesce(d.failures, 0) as failures_by_domain,
    from sums as a
    left join sums as s on s.span = a.span and s.span_start = a.span_start and s.grouped_by = 'gpus'
    left join sums as d on d.span = a.span and d.span_start = a.span_start and d.grouped_by = 'domain'
    where a.grouped_by = 'all'
)

select
    null::varchar as run_id,
    'attempts by size, or failures by cause, do not add up' as what,
    concat(
        span, ' from ', span_start, ': ', attempts_by_size, ' of ', attempts, ' attempts, ', ends_by_size, ' of ', ends,
        ' ends, ', failures_by_domain, ' of ', failures, ' failures'
    ) as example,
from pairs
where attempts <> attempts_by_size or ends <> ends_by_size or failures <> failures_by_domain
