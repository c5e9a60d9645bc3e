-- one row per attempt: how far it came, and when the processes were last known to make progress
-- do not sum: times are microseconds since the epoch
-- nodes: hosts that it held; of an allocation that was resized, those of its sizes in the time of the attempt
-- reported_end_us: end of the allocation where the output of the job itself reports it
with

stepped as (
    select
        run_id,
        attempt,
        min(step_first) as first_step,
        max(step_last) as last_step,
        min(start_us) as loop_us,
        max(end_us) as last_progress_us,
        arg_min(end_us, step_first) as first_step_us,
    from ledger.closed_spans
    group by all
),

limits as (
    select
        t.run_id,
        t.attempt,
        t.launch_no,
        t.holding,
        t.observed,
        t.start_us,
        t.start_estimated,
        coalesce(t.start_untold, false) as start_untold,
        coalesce(t.trainer_unseen, false) as trainer_unseen,
        coalesce(t.errors_alone, false) as errors_alone,
        -- of several attempts in an allocation the later ones begin where they start
        case when t.place_in_holding > 1 then t.start_us else h.start_us end as begin_us,
        t.next_holding is not distinct from t.holding and t.next_start_us is not null as goes_on,
        coalesce(t.process_us, t.start_us) as process_us,
        t.next_start_us,
        t.last_evidence_us,
        h.from_accounting,
        h.start_us as allocated_us,
        -- an attempt ends with its allocation, or where the next one starts inside it
        case
            when goes_on then t.next_start_us
            when h.from_accounting then h.end_us
            else greatest(coalesce(t.last_evidence_us, h.end_us), coalesce(h.end_us, t.last_evidence_us))
        end as release_us,
        -- what the output of the job says of its end itself
        case when h.from_accounting and not goes_on and h.source_id in (select source_id from staging.sources where is_trainer) then h.end_us end
            as reported_end_us,
        h.nodes,
        h.job_id,
        -- the scheduler knows how its allocation ended: of an attempt after which the next one started inside, it says nothing
        case when not goes_on then h.state end as state,
        case when not goes_on then h.state_by end as state_by,
        h.open and not goes_on as open,
    from ledger.timeline as t
    left join ledger.holdings as h using (run_id, holding)
),

-- what was taken out of an allocation before an attempt started is no host of it
resized as (
    select run_id, holding, start_us, end_us, nodes
    from ledger.grants
    qualify count(*) over (partition by run_id, holding) > 1
),

resized_nodes as (
    select l.run_id, l.attempt, list_sort(list_distinct(flatten(list(r.nodes)))) as nodes
    from limits as l
    inner join resized as r
        on r.run_id = l.run_id and r.holding = l.holding and r.start_us < l.release_us and r.end_us > l.begin_us
    group by l.run_id, l.attempt
    having bool_and(r.nodes is not null)
)

select
    l.* exclude (goes_on) replace (coalesce(n.nodes, l.nodes) as nodes),
    s.first_step,
    s.last_step,
    s.loop_us,
    s.first_step_us,
    -- what happened before the first line of an output without a trainer, or without a time of one, nobody saw
    coalesce(
        s.last_progress_us,
        case when l.trainer_unseen or l.start_untold then l.begin_us end,
        l.process_us,
        l.allocated_us
    ) as progress_us,
    s.last_step is not null as has_steps,
from limits as l
left join stepped as s using (run_id, attempt)
left join resized_nodes as n using (run_id, attempt)
