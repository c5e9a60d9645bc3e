-- one row per run and window: the product behind its model goodput, the parts of its steps, and what they say
-- never add or average shares over runs or windows: productive_gpu_s weighs them
-- g_model: steadiness · input_efficiency · network_efficiency · compute_efficiency, of the factors that are known
-- steadiness: reference time of its surviving steps / productive time
-- input_efficiency: share of the reference step that does not wait for data
-- network_efficiency: of what remains of the step, the share that is not exposed communication
-- compute_efficiency: model FLOPs / (peak × what remains of the reference time); with what a missing factor before it holds
-- data_wait_share: share of the step that waits for data
-- exposed_comm_share: share of the step in communication under which nothing is computed
-- bubble_share: share of the step in which a pipeline has nothing to do
-- memory_copy_share: share of the step in copies under which nothing else runs
-- compute_share: share of the step that computes
-- other_share: share of the step that is none of the others
-- comm_to_compute: time of communication, hidden or not, / time of computing
-- hidden_comm_share: share of communication under which something is computed
-- tokens_per_s_per_gpu: tokens of surviving steps / productive time of all accelerators
-- step_s: productive time of one step; in seconds
-- reference_step_s: what one step takes where nothing disturbs it, for the configurations of this window; in seconds
-- verdict: network_bound, memory_bound, compute_bound, input_bound, bubble_bound, balanced or not_known
-- verdict_reason: the figures behind it, or why there is none
-- evidence_source: what tells the parts of a step: timers, wall_clock, spans, profile or comms
-- evidence_attempt: attempt of the line that shows them
-- evidence_line: file and line that shows them
-- best_change: part of the step whose end would win most
-- best_change_gpu_s: what that would win in this window; in GPU-seconds
-- steadiness_reason: why steadiness is not known
-- input_reason: why the input efficiency is not known
-- network_reason: why the network efficiency is not known
-- compute_reason: why the compute efficiency is not known
with

-- what tells communication comes first: traces of a step like the others, timers, events of one device, spans of the host
ranked as (
    select
        p.*,
        case
            when p.evidence = 'comms' then 20
            when p.exposed_comm_share is null then 10
            when p.evidence = 'profile' and abs(p.told_step_s / w.reference_step_s - 1) <= 0.25 then 0
            else 1
        end
        + list_position(['timers', 'wall_clock', 'profile', 'spans', 'comms'], p.evidence) / 10.0 as place,
    from ledger.window_parts as p
    left join ledger.window_paces as w using (run_id, window_start, window_end)
),

-- who measures operations waits for each of them, so that nothing is computed meanwhile; beside other evidence they tell
-- how long communication takes
evidence as (
    select * replace (
        case when evidence = 'comms' then comm_busy_share else exposed_comm_share end as exposed_comm_share,
        case when evidence = 'comms' then other_share - comm_busy_share else other_share end as other_share
    )
    from ranked
    qualify row_number() over (partition by run_id, window_start order by place, evidence) = 1
),

operations as (
    select run_id, window_start, comm_busy_share
    from ranked
    where evidence = 'comms'
),

base as (
    select
        f.run_id,
        f.window_start,
        f.window_end,
        f.productive_gpu_s,
        f.g_model,
        f.g_model_reason,
        w.reference_gpu_s,
        w.net_gpu_s,
        w.reference_step_s,
        w.told_tokens,
        w.window_steps,
        w.level_reason,
        r.gpus,
        e.evidence,
        e.basis,
        e.told_steps,
        e.compute_share,
        e.exposed_comm_share,
        e.data_wait_share,
        e.bubble_share,
        e.memory_copy_share,
        e.other_share,
        coalesce(e.comm_busy_share, o.comm_busy_share) as comm_busy_share,
        e.compute_gap_share,
        e.evidence_attempt,
        e.evidence_line,
        a.tensor_active,
        a.dram_active,
        1 - coalesce(e.data_wait_share, 0) as fed_share,
        fed_share - coalesce(e.exposed_comm_share, 0) as working_share,
    from marts.figures as f
    inner join ledger.runs as r using (run_id)
    left join ledger.window_paces as w
        on w.run_id = f.run_id and w.window_start = f.window_start and w.window_end = f.window_end
    left join evidence as e on e.run_id = f.run_id and e.window_start = f.window_start
    left join operations as o on o.run_id = f.run_id and o.window_start = f.window_start
    left join ledger.device_activity as a on a.run_id = f.run_id and a.window_start = f.window_start
    where f.scope = 'run_window'
),

factors as (
    select
        *,
        reference_gpu_s / nullif(productive_gpu_s, 0) as steadiness,
        case when productive_gpu_s > 0 and data_wait_share is not null and fed_share > 0 then fed_share end as input_efficiency,
        case
            when productive_gpu_s > 0 and exposed_comm_share is not null and working_share > 0
                then working_share / fed_share
        end as network_efficiency,
    from base
),

-- what is not known before it lies in the last factor, so that the product holds
product as (
    select
        *,
        g_model / nullif(
            coalesce(steadiness, 1) * coalesce(input_efficiency, 1) * coalesce(network_efficiency, 1), 0
        ) as compute_efficiency,
    from factors
),

-- what would be won if one thing alone were mended, in accelerator time
changes as (
    select
        *,
        coalesce(reference_gpu_s, productive_gpu_s) as paced_gpu_s,
        list_sort(
            list_filter(
                [
                    {gpu_s: greatest(productive_gpu_s - reference_gpu_s, 0), name: 'steady_pace'},
                    {gpu_s: data_wait_share * paced_gpu_s, name: 'data_wait'},
                    {gpu_s: exposed_comm_share * paced_gpu_s, name: 'exposed_comm'},
                    {gpu_s: compute_gap_share * paced_gpu_s, name: 'slow_ranks'},
                    {gpu_s: bubble_share * paced_gpu_s, name: 'bubble'},
                    {gpu_s: memory_copy_share * paced_gpu_s, name: 'memory_copy'}
                ],
                -- less than one part in a hundred is none to speak of
                lambda c: c.gpu_s >= 0.01 * productive_gpu_s and c.gpu_s > 0
            ),
            'desc'
        )[1] as best,
    from product
),

-- the walls that the evidence tells, the highest first
walls as (
    select
        *,
        list_sort(
            list_filter(
                [
                    {share: exposed_comm_share, name: 'network_bound', words: 'exposed communication'},
                    {share: data_wait_share, name: 'input_bound', words: 'waiting for data'},
                    {share: bubble_share, name: 'bubble_bound', words: 'the pipeline bubble'},
                    {share: memory_copy_share, name: 'memory_bound', words: 'exposed copying'}
                ],
                lambda w: w.share is not null
            ),
            'desc'
        ) as walls,
        walls[1] as wall,
        walls[2] as second,
        dram_active >= 0.5 and dram_active > coalesce(tensor_active, 0) as memory_is_busy,
    from changes
),

judged as (
    select
        *,
        case
            when coalesce(productive_gpu_s, 0) = 0 then 'not_known'
            when wall.share >= 0.15 and second.share >= 0.15 and second.share > 0.9 * wall.share then 'balanced'
            when wall.share >= 0.15 then wall.name
            when exposed_comm_share is null or compute_share is null then 'not_known'
            when memory_is_busy then 'memory_bound'
            when compute_share >= 0.7 then 'compute_bound'
            -- what lies in no part may be a wall
            when other_share >= 0.15 then 'not_known'
            else 'balanced'
        end as verdict,
    from walls
),

final as (
    select
        run_id,
        window_start,
        window_end,
        productive_gpu_s,

        -- the product
        g_model,
        steadiness,
        input_efficiency,
        network_efficiency,
        compute_efficiency,

        -- shares of a step
        data_wait_share,
        exposed_comm_share,
        bubble_share,
        memory_copy_share,
        compute_share,
        other_share,
        comm_busy_share / nullif(compute_share, 0) as comm_to_compute,
        case
            when comm_busy_share > 0 and exposed_comm_share is not null
                then greatest(1 - (exposed_comm_share + coalesce(case when evidence = 'profile' then bubble_share end, 0)) / comm_busy_share, 0)
        end as hidden_comm_share,

        -- pace
        case when productive_gpu_s > 0 then told_tokens / productive_gpu_s end as tokens_per_s_per_gpu,
        case when window_steps > 0 then productive_gpu_s / gpus / window_steps end as step_s,
        reference_step_s,

        -- the verdict
        verdict,
        case
            when coalesce(productive_gpu_s, 0) = 0 then 'no productive time'
            when evidence is null then 'no timer, trace or span tells what a step is spent on'
            when verdict = 'not_known' and compute_share is null
                then format('the evidence tells {} and not what lies between communication and computing', coalesce(wall.words, 'nothing'))
            when verdict = 'not_known' and exposed_comm_share is not null and evidence = 'profile'
                then format('devices are idle for {:.1f} % of the step, and nothing tells what they wait for', 100 * other_share)
            when verdict = 'not_known' and exposed_comm_share is not null
                then format('no part that is told takes 15 % of the step, and {:.1f} % of it lies in none', 100 * other_share)
            when verdict = 'not_known'
                then 'timers of communication stand at zero or are not printed: it is hidden, or counted as computing'
            when verdict = 'memory_bound' and wall.share is distinct from memory_copy_share or verdict = 'memory_bound' and wall.share < 0.15
                then format('memory is busy {:.0f} % of the time, tensor cores {:.0f} %', 100 * dram_active, 100 * coalesce(tensor_active, 0))
            when verdict = 'compute_bound' then format('computing takes {:.1f} % of the step, and {} {:.1f} %', 100 * compute_share, wall.words, 100 * wall.share)
            when verdict = 'balanced' and wall.share >= 0.15
                then format('{} takes {:.1f} % of the step and {} {:.1f} %: neither stands out', wall.words, 100 * wall.share, second.words, 100 * second.share)
            when verdict = 'balanced' then format('no part but computing ({:.1f} %) takes 15 % of the step', 100 * compute_share)
            else format('{} takes {:.1f} % of the step', wall.words, 100 * wall.share)
        end as verdict_reason,
        evidence as evidence_source,
        evidence_attempt,
        evidence_line,
        best.name as best_change,
        best.gpu_s as best_change_gpu_s,

        -- why something is not known
        case
            when coalesce(productive_gpu_s, 0) = 0 then 'no productive time'
            when window_steps is null then 'no step line lies in the productive time'
            when steadiness is null then 'more than a tenth of the steps have no clean step line of their size and batch to be held against'
        end as steadiness_reason,
        case
            when coalesce(productive_gpu_s, 0) = 0 then 'no productive time'
            when evidence is null then 'nothing tells what a step is spent on'
            when data_wait_share is null then 'no timer of the wait for data'
            when input_efficiency is null then 'the step is all waiting for data'
        end as input_reason,
        case
            when coalesce(productive_gpu_s, 0) = 0 then 'no productive time'
            when evidence is null then 'nothing tells what a step is spent on'
            when exposed_comm_share is null and evidence = 'spans' then 'spans of the host do not tell communication from computing'
            when exposed_comm_share is null then 'timers of communication stand at zero or are not printed: it is hidden, or counted as computing'
            when network_efficiency is null then 'no computing is left beside waiting and communication'
        end as network_reason,
        case
            when coalesce(productive_gpu_s, 0) = 0 then 'no productive time'
            when g_model is null then coalesce(g_model_reason, 'model goodput is not known')
            when compute_efficiency is null then 'a factor before it is zero'
        end as compute_reason,
    from judged
)

select * from final
order by run_id, window_start
