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
select
    run_id,
    window_start,
    window_end,
    productive_gpu_s,

    -- the product
    g_model,
    null::double as steadiness,
    null::double as input_efficiency,
    null::double as network_efficiency,
    null::double as compute_efficiency,

    -- shares of a step
    null::double as data_wait_share,
    null::double as exposed_comm_share,
    null::double as bubble_share,
    null::double as memory_copy_share,
    null::double as compute_share,
    null::double as other_share,
    null::double as comm_to_compute,
    null::double as hidden_comm_share,

    -- pace
    null::double as tokens_per_s_per_gpu,
    null::double as step_s,
    null::double as reference_step_s,

    -- the verdict
    'not_known' as verdict,
    null::varchar as verdict_reason,
    null::varchar as evidence_source,
    null::bigint as evidence_attempt,
    null::varchar as evidence_line,
    null::varchar as best_change,
    null::double as best_change_gpu_s,

    -- why something is not known
    null::varchar as steadiness_reason,
    null::varchar as input_reason,
    null::varchar as network_reason,
    null::varchar as compute_reason,
from marts.figures
where scope = 'run_window'
