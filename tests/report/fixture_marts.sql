-- The marts that a review reads, as sums over the intervals of a story.
create table given.windows as
with bounds as (
    select min(start_ts) as first_ts, max(end_ts) as last_ts, (select window_us from config.report) as width_us
    from given.intervals
)
select
    make_timestamptz(n * width_us) as window_start,
    make_timestamptz((n + 1) * width_us) as window_end,
from bounds, unnest(generate_series(epoch_us(first_ts) // width_us, (epoch_us(last_ts) - 1) // width_us)) as u (n);

create table given.cut as
select
    i.* exclude (start_ts, end_ts),
    greatest(start_ts, window_start) as start_ts,
    least(end_ts, window_end) as end_ts,
    window_start,
    window_end,
    (epoch_us(least(end_ts, window_end)) - epoch_us(greatest(start_ts, window_start))) * gpus / 1e6 as gpu_s,
from given.intervals as i
inner join given.windows as w on i.start_ts < w.window_end and i.end_ts > w.window_start;

create macro given.figures(rows_of) as table
with sums as (
    select
        run_id,
        window_start,
        window_end,
        max(gpus) as gpus,
        sum(gpu_s) as capacity_gpu_s,
        coalesce(sum(gpu_s) filter (where held), 0) as held_gpu_s,
        coalesce(sum(gpu_s) filter (where layer = 'productive'), 0) as productive_gpu_s,
        coalesce(sum(gpu_s) filter (where layer = 'infrastructure'), 0) as infrastructure_gpu_s,
        coalesce(sum(gpu_s) filter (where layer = 'framework'), 0) as framework_gpu_s,
        coalesce(sum(gpu_s) filter (where layer = 'planned'), 0) as planned_gpu_s,
        coalesce(sum(gpu_s) filter (where layer = 'unknown'), 0) as unknown_gpu_s,
        coalesce(sum(gpu_s) filter (where category = 'checkpoint_stall'), 0) as sst_gpu_s,
        coalesce(sum(gpu_s) filter (where category = 'lost_work'), 0) as lst_gpu_s,
        -- a mean over the runs that know it, weighted by productive time; null when one does not
        case
            when count(*) filter (where layer = 'productive' and mfu is null) = 0
            then sum(gpu_s * mfu) filter (where layer = 'productive')
                / nullif(sum(gpu_s) filter (where layer = 'productive'), 0)
        end as g_model,
    from query_table(rows_of)
    group by run_id, window_start, window_end
)
select
    *,
    0.0 as spare_gpu_s,
    0.0 as provisional_gpu_s,
    0.0 as first_queue_wait_gpu_s,
    productive_gpu_s / nullif(capacity_gpu_s, 0) as productive_share,
    productive_gpu_s / nullif(capacity_gpu_s - planned_gpu_s, 0) as training_time_goodput,
    1 - unknown_gpu_s / nullif(capacity_gpu_s - planned_gpu_s, 0) as g_known,
    1 - infrastructure_gpu_s / nullif(capacity_gpu_s - planned_gpu_s - unknown_gpu_s, 0) as g_infra,
    productive_gpu_s / nullif(productive_gpu_s + framework_gpu_s, 0) as g_framework,
    g_model * 1.03 as mfu_steady,
    g_model * productive_gpu_s / nullif(capacity_gpu_s - planned_gpu_s, 0) as composite,
    null::varchar as undefined_reason,
    case when g_model is null then 'no step line prints FLOP/s or MFU for every run' end as g_model_reason,
from sums;

create table given.with_mfu as
select c.*, r.mfu from given.cut as c inner join given.runs as r using (run_id);

create table given.by_window as
select * replace ('(all)' as run_id) from given.with_mfu;

create table given.by_period as
with bounds as (select min(window_start) as s, max(window_end) as e from given.windows)
select m.* replace (s as window_start, e as window_end) from given.with_mfu as m, bounds
union all
select m.* replace ('(all)' as run_id, s as window_start, e as window_end) from given.with_mfu as m, bounds;

create table marts.daily as select * from given.figures('given.by_window');
create table marts.period as
select window_start as period_start, window_end as period_end, * exclude (window_start, window_end)
from given.figures('given.by_period');

create table marts.losses as
select run_id, window_start, window_end, layer, category, title, sum(gpu_s) as gpu_s
from given.cut
where layer <> 'productive'
group by all;

create table marts.causes as
with named as (
    select
        coalesce(i.cause, 'category:' || c.category) as cause,
        any_value(coalesce(k.title, c.title)) as title,
        any_value(k.domain) as domain,
        any_value(coalesce(k.layer, c.layer)) as layer,
        any_value(coalesce(k.owner, c.layer)) as owner,
        any_value(coalesce(k.layer, c.layer)) as charged_to,
        case
            when any_value(i.cause) is not null
            then count(distinct i.incident_id) filter (where i.kind not in ('completed', 'ongoing'))
        end as events,
        coalesce(sum(gpu_s) filter (where category = 'lost_work'), 0) as lost_work_gpu_s,
        coalesce(sum(gpu_s) filter (where category <> 'lost_work' and i.cause is not null), 0) as downtime_gpu_s,
        sum(gpu_s) as gpu_s,
        coalesce(sum(gpu_s) filter (where c.layer = 'planned'), 0) as planned_gpu_s,
        any_value(nullif(k.first_action, '')) as first_action,
        max(coalesce(i.mark, '')) as mark,
    from given.cut as c
    left join given.incidents as i using (incident_id)
    left join given.causes as k on k.code = i.cause
    where c.layer <> 'productive'
    group by 1
)
select * from named;

create table marts.incidents as
with costs as (
    select
        incident_id,
        coalesce(sum(gpu_s) filter (where category = 'lost_work'), 0) as lost_gpu_s,
        coalesce(sum(gpu_s) filter (where category <> 'lost_work'), 0) as downtime_gpu_s,
        sum(gpu_s) as total_gpu_s,
        coalesce(sum(gpu_s) filter (where layer <> 'planned'), 0) as period_gpu_s,
        any_value(gpus) as gpus,
    from given.cut
    where incident_id is not null
    group by incident_id
)
select
    i.*, i.fault_ts as at_ts, false as unseen, c.lost_gpu_s, c.downtime_gpu_s, c.total_gpu_s, coalesce(c.period_gpu_s, 0) as period_gpu_s, c.gpus,
    c.lost_gpu_s / c.gpus as lost_work_s, c.downtime_gpu_s / c.gpus as downtime_s,
    k.title, k.domain, k.layer as charged_to, k.owner, k.first_action,
    case when i.evidence is null then 'no line tells why' end as confidence_reason,
    null::varchar as runner_up_cause, i.lost_steps = 0 as failed_start, i.lost_steps = 0 as stepless,
from given.incidents as i
left join costs as c using (incident_id)
left join given.causes as k on k.code = i.cause;

create table marts.lanes as
select
    run_id,
    case
        when category = 'lost_work' then 'lost'
        when category in ('productive', 'checkpoint_stall', 'evaluation') then 'productive'
        when layer in ('planned', 'unknown') then layer
        else 'downtime'
    end as lane,
    start_ts,
    end_ts,
from given.cut;

create table marts.runs as
select
    r.run_id, r.gpus, r.gpu_model, 'megatron' as formats, a.attempts, 1::bigint as first_step,
    a.last_step, p.held_gpu_s, p.capacity_gpu_s, p.training_time_goodput, p.g_infra, p.g_framework, p.g_model,
    t.title as top_loss, t.gpu_s as top_loss_gpu_s, r.flags,
from given.runs as r
inner join marts.period as p using (run_id)
inner join (
    select run_id, max(attempt)::bigint as attempts,
        (sum(epoch(end_ts) - epoch(start_ts)) filter (where layer = 'productive') / 6)::bigint as last_step
    from given.intervals group by run_id
) as a using (run_id)
left join (
    select run_id, arg_max(title, gpu_s) as title, max(gpu_s) as gpu_s
    from (select run_id, title, sum(gpu_s) as gpu_s from marts.losses group by all) group by run_id
) as t using (run_id);

create table marts.hours as
with cut as (
    select *, unnest(generate_series(epoch_us(start_ts) // 3600000000, (epoch_us(end_ts) - 1) // 3600000000)) as n
    from given.intervals
),
pieces as (
    select n, layer, category, gpus / 1e6
        * (least(epoch_us(end_ts), (n + 1) * 3600000000) - greatest(epoch_us(start_ts), n * 3600000000)) as gpu_s,
    from cut
)
select
    make_timestamptz(n * 3600000000)::date as day,
    (n % 24)::bigint as hour,
    sum(gpu_s) as w_gpu_s,
    coalesce(sum(gpu_s) filter (where layer = 'planned'), 0) as planned_gpu_s,
    coalesce(sum(gpu_s) filter (where layer not in ('planned', 'productive')), 0) as loss_gpu_s,
    any_value(category) filter (where layer not in ('planned', 'productive')) as top_category,
from pieces
group by n;

create table marts.reconciliation as
select
    run_id, c.*, 0.01 as tolerance,
from given.runs, (values
    ('held_vs_accounting', 'Accelerator time held', 'intervals', 3600.0 * 812, 'accounting', 3600.0 * 812, 0.0,
        'GPU-s', 'agrees', ''),
    ('steps_vs_counter', 'Surviving steps', 'step spans', 41210.0, 'counter', 41208.0, 2.0,
        'steps', 'differs', 'step lines are missing, or a step survives twice'),
    ('saves_vs_loads', 'Checkpoints that were loaded', 'loads', null, 'saves', null, null,
        'loads', 'not comparable', 'no load is on record')
) as c (comparison, title, left_name, left_value, right_name, right_value, difference, unit, status, note);

create table given.files as
select
    md5(run_id || attempt)[:12] as source_id,
    run_id || '/job-' || (880000 + attempt) || '.out' as path,
    run_id,
    min(start_ts) + interval 1 minute as first_ts,
    max(end_ts) filter (where held) as last_ts,
    1800 + 97 * attempt as lines,
from given.intervals
group by run_id, attempt;

create table marts.data_quality as
select
    source_id, path, 'megatron' as format, 'trainer' as role, run_id, lines,
    lines - 14 as parsed_lines, 12 as unknown_lines, 2 as bad_lines, (lines - 14) / lines as parsed_share,
    first_ts, last_ts, 'UTC (assumed)' as zone, case when lines % 3 = 0 then 1.8 end as clock_offset_s,
    0 as undated_events, (lines % 2)::bigint as gaps,
    '9 × wandb: syncing <*>; 3 × <script>alert(<*>)</script>' as top_templates,
    null::varchar as duplicate_of, null::varchar as error,
from given.files
union all
select
    'acct', 'sacct.txt', 'slurm_sacct', 'scheduler', null, 61, 61, 0, 0, 1.0, min(first_ts), max(last_ts),
    'Europe/Berlin', null, 0, 0, null, null, null,
from given.files
union all
select
    'torn', 'nodes/gx099.dmesg.txt.zst', null, 'unknown', null, 0, 0, 0, 0, null, null, null, null, null, 0, 0, null,
    null, 'the archive ends in the middle of a frame';

create table marts.coverage as
select source_id, path, run_id, first_ts as start_ts, last_ts as end_ts, 'lines' as state
from given.files
where lines % 2 = 0
union all
select source_id, path, run_id, first_ts, first_ts + (last_ts - first_ts) / 2, 'lines' from given.files where lines % 2 = 1
union all
select source_id, path, run_id, first_ts + (last_ts - first_ts) / 2, first_ts + (last_ts - first_ts) / 3 * 2, 'silent'
from given.files where lines % 2 = 1
union all
select source_id, path, run_id, first_ts + (last_ts - first_ts) / 3 * 2, last_ts, 'lines'
from given.files where lines % 2 = 1
union all
select 'acct', 'sacct.txt', null, min(first_ts), max(last_ts), 'lines' from given.files;

create table marts.unknown as
select
    run_id,
    case
        when unknown_gpu_s > 0 then 'inside an attempt, and no line says what happened'
        else 'none: everything is attributed'
    end as reason,
    unknown_gpu_s as gpu_s,
    unknown_gpu_s / (capacity_gpu_s - planned_gpu_s) as share,
from marts.period
where run_id <> '(all)';

create table marts.model_inputs as
select
    run_id,
    case when mfu is not null then 4.33e11 end as flops_per_token,
    case when mfu is not null then 'line_ratio' end as source,
    case when mfu is not null then 'causal_halved' end as convention,
    case when mfu is not null then 'median over lines of TFLOP/s ÷ tokens/s' end as proof,
    case when mfu is not null then 'shape' end as other_source,
    case when mfu is not null then 4.6e11 end as other_flops_per_token,
    case when mfu is not null then 0.0624 end as disagreement,
    case when mfu is null then 'no line tells' end as reason,
    gpu_model,
    case when mfu is not null then 'H100-SXM' end as device,
    'bf16' as precision,
    case when mfu is not null then 989.4e12 end as peak_flops_per_gpu,
    case when mfu is not null then 'device table' end as peak_source,
    mfu as printed_mfu,
from given.runs;

create table marts.model_faults as
select run_id, 'flops_disagree' as fault, 'FLOPs per token differ by 6 %' as sentence
from marts.model_inputs
where disagreement > 0.05;

create table marts.sensitivity as
select
    run_id,
    training_time_goodput as as_is,
    training_time_goodput as unknown_all_lost,
    (productive_gpu_s + unknown_gpu_s) / (capacity_gpu_s - planned_gpu_s) as unknown_all_productive,
    (productive_gpu_s + lst_gpu_s / 4) / (capacity_gpu_s - planned_gpu_s) as lost_to_last_announced,
    training_time_goodput - 0.01 as clocks_not_corrected,
from marts.period;

-- what people decided: nobody did
create table marts.verdicts as
select
    incident_id, run_id, at_ts, mark, cause, title, cause as cause_by_evidence, title as title_by_evidence,
    'agrees' as verdict_fit, confidence, evidence, null::varchar as reason, null::date as date, null::varchar as role
from marts.incidents
limit 0;
