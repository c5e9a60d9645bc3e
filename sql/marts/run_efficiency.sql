-- one row per run over the period: the product behind its model goodput, the parts of its steps, and what they say
-- never add or average factors or shares over runs: productive_gpu_s weighs them
-- a factor is known where it is in every window with productive time; what one holds that is not is in the next one
-- windows: windows with productive time
-- steadiness: reference time of its surviving steps / productive time
-- input_efficiency: share of the reference step that does not wait for data
-- network_efficiency: of what remains of the step, the share that is not exposed communication
-- compute_efficiency: model FLOPs / (peak × what remains of the reference time)
-- lost_gpu_s: productive time beyond the reference time of its steps; in GPU-seconds, null where that is not known
-- reference_mfu: model FLOPs / (peak × reference time): what the silicon did at the run's own best pace
-- mfu_median: half of the step lines show a higher MFU
-- step_median_s: half of the step lines show a longer step; in seconds
-- reference_step_s: what one step takes where nothing disturbs it; in seconds
-- tokens_per_s_per_gpu: tokens of surviving steps / productive time of all accelerators
-- data_wait_share: share of the step that waits for data
-- exposed_comm_share: share of the step in communication under which nothing is computed
-- bubble_share: share of the step in which a pipeline has nothing to do
-- memory_copy_share: share of the step in copies under which nothing else runs
-- compute_share: share of the step that computes
-- other_share: share of the step that is none of the others
-- verdict: of the windows with most productive time
-- verdict_windows: windows that say so
-- verdict_reason: of the one of them with most productive time
-- evidence_source: what tells the parts of a step, in that window
-- evidence_line: file and line that shows them, in that window
-- best_change: part of the step whose end would win most
-- best_change_gpu_s: what it would win in all windows that name it; in GPU-seconds
-- steadiness_reason: why steadiness is not known
-- input_reason: why the input efficiency is not known
-- network_reason: why the network efficiency is not known
-- compute_reason: why the compute efficiency is not known
with

windows as (
    select
        *,
        productive_gpu_s::double as c0,
        productive_gpu_s * coalesce(steadiness, 1) as c1,
        productive_gpu_s * coalesce(steadiness, 1) * coalesce(input_efficiency, 1) as c2,
        productive_gpu_s * coalesce(steadiness, 1) * coalesce(input_efficiency, 1) * coalesce(network_efficiency, 1) as c3,
        productive_gpu_s * g_model as c4,
    from marts.efficiency
    where productive_gpu_s > 0
),

-- what is left of productive time after each factor
sums as (
    select
        run_id,
        count(*) as windows,
        sum(c0) as c0,
        sum(c1) as c1,
        sum(c2) as c2,
        sum(c3) as c3,
        case when count(c4) = count(*) then sum(c4) end as c4,
        count(steadiness) = count(*) as knows_steadiness,
        count(input_efficiency) = count(*) as knows_input,
        count(network_efficiency) = count(*) as knows_network,
        sum(c1) filter (where data_wait_share is not null) as c1_data,
        sum(c1) filter (where exposed_comm_share is not null) as c1_comm,
        sum(c1) filter (where bubble_share is not null) as c1_bubble,
        sum(c1) filter (where memory_copy_share is not null) as c1_copy,
        sum(c1) filter (where compute_share is not null) as c1_compute,
        sum(c1) filter (where other_share is not null) as c1_other,
        sum(c1 * data_wait_share) as data_wait,
        sum(c1 * exposed_comm_share) as exposed_comm,
        sum(c1 * bubble_share) as bubble,
        sum(c1 * memory_copy_share) as memory_copy,
        sum(c1 * compute_share) as compute,
        sum(c1 * other_share) as other,
        sum(c0 * tokens_per_s_per_gpu) / sum(c0) filter (where tokens_per_s_per_gpu is not null) as tokens_per_s_per_gpu,
        sum(c1 * reference_step_s) / sum(c1) filter (where reference_step_s is not null) as reference_step_s,
        min(steadiness_reason) as steadiness_reason,
        min(input_reason) as input_reason,
        min(network_reason) as network_reason,
        min(compute_reason) as compute_reason,
    from windows
    group by run_id
),

verdicts as (
    select
        run_id,
        verdict,
        count(*) as verdict_windows,
        sum(c0) as gpu_s,
        arg_max(verdict_reason, (c0, window_start)) as verdict_reason,
        arg_max(evidence_source, (c0, window_start)) as evidence_source,
        arg_max(evidence_line, (c0, window_start)) as evidence_line,
    from windows
    group by run_id, verdict
    qualify row_number() over (partition by run_id order by sum(c0) desc, verdict) = 1
),

changes as (
    select run_id, best_change, sum(best_change_gpu_s) as best_change_gpu_s
    from windows
    where best_change is not null
    group by run_id, best_change
    qualify row_number() over (partition by run_id order by sum(best_change_gpu_s) desc, best_change) = 1
),

paces as (
    select run_id, median(mfu) as mfu_median, median(step_s) as step_median_s
    from marts.step_pace
    group by run_id
),

final as (
    select
        s.run_id,
        s.c0 as productive_gpu_s,
        s.windows,

        -- the product
        s.c4 / s.c0 as g_model,
        case when knows_steadiness then c1 / c0 end as steadiness,
        case when knows_input then c2 / case when knows_steadiness then c1 else c0 end end as input_efficiency,
        case
            when knows_network then c3 / case when knows_input then c2 when knows_steadiness then c1 else c0 end
        end as network_efficiency,
        c4 / case when knows_network then c3 when knows_input then c2 when knows_steadiness then c1 else c0 end as compute_efficiency,
        case when knows_steadiness then c4 / c1 end as reference_mfu,
        case when knows_steadiness then greatest(c0 - c1, 0) end as lost_gpu_s,

        -- shares of a step, in the windows that tell them
        data_wait / c1_data as data_wait_share,
        exposed_comm / c1_comm as exposed_comm_share,
        bubble / c1_bubble as bubble_share,
        memory_copy / c1_copy as memory_copy_share,
        compute / c1_compute as compute_share,
        other / c1_other as other_share,

        -- pace
        s.tokens_per_s_per_gpu,
        p.step_median_s,
        s.reference_step_s,
        p.mfu_median,

        -- the verdict
        coalesce(v.verdict, 'not_known') as verdict,
        v.verdict_windows,
        v.verdict_reason,
        v.evidence_source,
        v.evidence_line,
        c.best_change,
        c.best_change_gpu_s,

        -- why something is not known
        case when not knows_steadiness then s.steadiness_reason end as steadiness_reason,
        case when not knows_input then s.input_reason end as input_reason,
        case when not knows_network then s.network_reason end as network_reason,
        case when c4 is null then s.compute_reason end as compute_reason,
    from sums as s
    left join verdicts as v using (run_id)
    left join changes as c using (run_id)
    left join paces as p using (run_id)
)

select * from final
order by run_id
