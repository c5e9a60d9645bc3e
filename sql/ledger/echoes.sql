-- one row per attempt that ended with a line as evidence: how often that line was printed, and what followed from it
-- do not add copies over attempts: one crash prints the same line on every rank
-- gpus_at_once: GPUs of the host of that line of which its log tells the same within 5 s; null where a program tells it
-- copies: lines of the same signal, those that were counted only included
-- cascade: causes of the other lines, in the order of their first ones: what the first cause brought about
with

lines as (
    select
        e.*,
        f.signal_cause as first_cause,
        e.signal_id = f.signal_id and e.cause = f.signal_cause as is_copy,
        f.signal_us,
        not e.own and e.host is not distinct from f.signal_host and e.ts_us between f.signal_us - 5000000 and f.signal_us + 5000000 as is_at_once,
        -- what stands above it in its own log, without a date, did not follow from it
        coalesce(e.ts_us is null and e.source_id = f.evidence_source_id and e.line < f.evidence_line, false) as stands_above,
    from ledger.ends as f
    inner join ledger.evidence as e using (run_id, attempt)
    where f.by_line and f.kind <> 'completed'
),

copied as (
    select
        run_id,
        attempt,
        sum(coalesce(repeats, 1))::bigint as copies,
        count(distinct told_by_rank) as copy_ranks,
        count(distinct host) as copy_hosts,
        count(distinct (host, gpu)) filter (where gpu is not null) as copy_gpus,
        nullif(count(distinct gpu) filter (where is_at_once), 0) as gpus_at_once,
        (max(ts_us) - min(ts_us)) / 1e6 as copy_spread_s,
    from lines
    where is_copy
    group by all
),

followed as (
    select
        run_id,
        attempt,
        cause,
        min((coalesce(near_us, 9000000000000000), causal_rank, log_no, ord)) as place,
    from lines
    where cause <> first_cause and signal_id <> 'traceback_header' and not stands_above and (signal_us is null or coalesce(near_us, signal_us) >= signal_us - 2000000)
    group by all
),

cascades as (
    select run_id, attempt, string_agg(cause, ', ' order by place, cause) as cascade
    from followed
    group by run_id, attempt
)

select
    c.run_id,
    c.attempt,
    c.copies,
    c.copy_ranks,
    c.copy_hosts,
    c.copy_gpus,
    c.gpus_at_once,
    c.copy_spread_s,
    d.cascade,
from copied as c
left join cascades as d using (run_id, attempt)
