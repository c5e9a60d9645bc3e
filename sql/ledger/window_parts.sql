-- one row per run, window and source of evidence: shares of a step, over its steps at the reference pace
-- never add or average shares: sources of one window tell of the same steps
-- evidence: timers, wall_clock, spans, profile or comms
-- basis: which steps tell: those of the window at the reference pace, clean ones of the window, else those of the whole run
-- told_steps: steps that tell
-- told_step_s: time of one of these steps; in seconds
-- compute_share: share of computing; null where the source cannot tell it
-- exposed_comm_share: share of communication under which nothing is computed; null where the source cannot tell it
-- data_wait_share: share of waiting for data; null where the source cannot tell it
-- bubble_share: share in which stages of a pipeline have nothing to do; null where the source cannot tell it
-- memory_copy_share: share of copies under which nothing else runs; null where the source cannot tell it
-- other_share: what remains
-- comm_busy_share: time of communication, hidden or not, / step; null where the source cannot tell it
-- compute_gap_share: computing of the rank with the most less that with the least, / step; null where one rank tells
-- evidence_attempt: attempt of the first line that tells
-- evidence_line: that line, as file and number
with

parts as (
    select
        e.*,
        p.start_ts,
        -- a printed time may be a mean with the step before, which was not at that pace
        e.steady and greatest(p.step_us, e.step_s * 1e6) <= r.reference_step_s * 1e6 * (1 + r.margin) as near,
    from ledger.step_parts as e
    left join ledger.paced_spans as p
        on p.run_id = e.run_id and p.attempt = e.attempt and p.step_first = e.first_step and e.evidence <> 'profile'
    left join ledger.reference_steps as r
        on r.run_id = p.run_id and r.gpus is not distinct from p.gpus and r.batch is not distinct from p.batch
    where e.step_s > 0
),

windows as (
    select distinct run_id, window_start, window_end
    from ledger.window_paces
),

-- a trace of a few steps, and lines of other windows, speak for a window that has none of its own
placed as (
    select
        w.window_start,
        w.window_end,
        p.*,
        coalesce(p.start_ts >= w.window_start and p.start_ts < w.window_end, p.evidence = 'profile') as inside,
        case
            when inside and (p.near or p.evidence = 'profile') then 1
            when inside and p.steady then 2
            when p.near then 3
            when p.steady then 4
            else 5
        end as tier,
    from windows as w
    inner join parts as p using (run_id)
),

chosen as (
    select *
    from placed
    qualify tier = min(tier) over (partition by run_id, window_start, evidence)
),

-- sums of whole nanoseconds do not depend on the order of the rows
sums as (
    select
        run_id,
        window_start,
        window_end,
        evidence,
        any_value(tier) as tier,
        sum(steps) as told_steps,
        sum((steps * step_s * 1e9)::hugeint) as all_s,
        count(*) as rows_told,
        struct_pack(n := count(compute_s), s := sum((steps * compute_s * 1e9)::hugeint)) as compute,
        struct_pack(n := count(exposed_comm_s), s := sum((steps * exposed_comm_s * 1e9)::hugeint)) as exposed_comm,
        struct_pack(n := count(data_wait_s), s := sum((steps * data_wait_s * 1e9)::hugeint)) as data_wait,
        struct_pack(n := count(bubble_s), s := sum((steps * bubble_s * 1e9)::hugeint)) as bubble,
        struct_pack(n := count(memory_copy_s), s := sum((steps * memory_copy_s * 1e9)::hugeint)) as memory_copy,
        struct_pack(n := count(comm_busy_s), s := sum((steps * comm_busy_s * 1e9)::hugeint)) as comm_busy,
        struct_pack(n := count(compute_max_s), s := sum((steps * (compute_max_s - compute_min_s) * 1e9)::hugeint)) as compute_gap,
        min((attempt, source_id, line)) as first_line,
    from chosen
    group by run_id, window_start, window_end, evidence
),

-- a part that one step in ten does not tell is still told
shares as (
    select
        *,
        case when compute.n >= 0.9 * rows_told then compute.s / all_s end as compute_share,
        case when exposed_comm.n >= 0.9 * rows_told then exposed_comm.s / all_s end as exposed_comm_share,
        case when data_wait.n >= 0.9 * rows_told then data_wait.s / all_s end as data_wait_share,
        case when bubble.n >= 0.9 * rows_told then bubble.s / all_s end as bubble_share,
        case when memory_copy.n >= 0.9 * rows_told then memory_copy.s / all_s end as memory_copy_share,
        case when comm_busy.n >= 0.9 * rows_told then comm_busy.s / all_s end as comm_busy_share,
        case when compute_gap.n >= 0.9 * rows_told then compute_gap.s / all_s end as compute_gap_share,
    from sums
)

select
    h.run_id,
    h.window_start,
    h.window_end,
    h.evidence,
    ['its steps at the reference pace', 'its clean steps', 'the run at the reference pace', 'clean steps of the run', 'all steps of the run'][h.tier] as basis,
    h.told_steps,
    h.all_s / 1e9 / h.told_steps as told_step_s,
    h.compute_share,
    h.exposed_comm_share,
    h.data_wait_share,
    h.bubble_share,
    h.memory_copy_share,
    round(
        1 - coalesce(h.compute_share, 0) - coalesce(h.exposed_comm_share, 0) - coalesce(h.data_wait_share, 0)
        - coalesce(h.bubble_share, 0) - coalesce(h.memory_copy_share, 0),
        12
    ) + 0 as other_share,
    h.comm_busy_share,
    h.compute_gap_share,
    h.first_line[1] as evidence_attempt,
    s.path || ':' || h.first_line[3] as evidence_line,
from shares as h
left join staging.sources as s on s.source_id = h.first_line[2]
