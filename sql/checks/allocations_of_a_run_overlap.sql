-- one row per allocation of accounting that begins before the same job's allocation before it has ended
-- law: a job holds one allocation at a time; a row that is listed twice would count its accelerators twice
with

ordered as (
    select
        run_id,
        job_id,
        start_us,
        end_us,
        max(end_us) over (
            partition by run_id, job_id order by start_us, end_us rows between unbounded preceding and 1 preceding
        ) as earlier_end_us,
    from ledger.holdings
    where from_accounting and job_id is not null
)

select
    run_id,
    'a job holds two allocations at once' as what,
    concat('job ', job_id, ': ', make_timestamptz(start_us), ' before ', make_timestamptz(earlier_end_us)) as example,
from ordered
where start_us < earlier_end_us
