-- one row per run and type of badput of ml-goodput-measurement, and one for what it calls productive: a view for comparison
-- do not add types to a whole: the types overlap by design; marts.losses is the partition
-- badput_type: the name that tool gives it; OTHER is what is left of the total, never below zero
-- seconds: time of that type, at the nominal size of the run; in seconds
-- gpu_s: the same × nominal accelerators; in GPU-seconds
-- is_badput: false for what is productive, and for loads of data beside the steps
with

steps as (
    select
        run_id,
        attempt,
        step_first,
        step_last,
        steps,
        start_us,
        end_us,
    from ledger.spans
),

-- an attempt is a segment; it is kept up to the step that the next one repeats
segments as (
    select
        run_id,
        attempt,
        min(step_first) as first_step,
        min(start_us) as first_start_us,
        greatest(max(start_us) filter (where end_us is null), max(end_us)) as last_start_us,
    from steps
    group by all
),

bounded as (
    select
        *,
        lead(first_step) over w as restart_step,
        lead(first_start_us) over w as restart_us,
    from segments
    window w as (partition by run_id order by attempt)
),

-- side activities count where they lie wholly inside one step
customs as (
    select
        p.run_id,
        s.attempt,
        s.step_first,
        s.step_last,
        p.detail,
        p.end_us - p.start_us as custom_us,
    from ledger.phase_spans as p
    inner join steps as s on s.run_id = p.run_id and p.start_us >= s.start_us and p.end_us <= s.end_us
    where p.phase = 'custom' and p.detail not in ('slice_down', 'scale_up', 'elastic_reinit')
),

-- a restart at step 0 makes the whole segment vanish
standing as (
    select *
    from bounded
    where restart_step is distinct from 0
),

custom_kept as (
    select
        c.run_id,
        c.attempt,
        c.detail,
        c.custom_us,
        c.step_first = b.first_step as is_first,
    from customs as c
    inner join standing as b using (run_id, attempt)
    where b.restart_step is null or c.step_last < b.restart_step
),

custom_sums as (
    select
        run_id,
        attempt,
        sum(custom_us) filter (where is_first) as first_us,
        sum(custom_us) filter (where not is_first) as others_us,
        sum(custom_us) as custom_us,
    from custom_kept
    group by all
),

judged as (
    select
        s.run_id,
        s.attempt,
        s.steps,
        s.end_us - s.start_us as length_us,
        s.step_first = b.first_step as is_first,
        b.restart_step is null or s.step_last < b.restart_step as kept,
    from steps as s
    inner join standing as b using (run_id, attempt)
    where s.end_us is not null
),

attempt_sums as (
    select
        run_id,
        attempt,
        sum(length_us) filter (where kept and is_first) as first_us,
        sum(length_us) filter (where kept and not is_first) as others_us,
        sum(steps) filter (where kept and is_first) as first_steps,
        sum(steps) filter (where kept and not is_first) as other_steps,
        coalesce(sum(length_us) filter (where kept), 0) as kept_us,
        coalesce(sum(length_us) filter (where not kept), 0) as wasted_us,
    from judged
    group by all
),

-- activities beside the steps are no time of theirs
net_sums as (
    select
        a.run_id,
        a.attempt,
        a.first_us - coalesce(c.first_us, 0) as first_us,
        a.others_us - coalesce(c.others_us, 0) as others_us,
        a.first_steps,
        a.other_steps,
        a.kept_us - coalesce(c.custom_us, 0) as kept_us,
        a.wasted_us,
    from attempt_sums as a
    left join custom_sums as c using (run_id, attempt)
),

-- what the first step of a segment takes beyond the mean of its other kept steps
start_ups as (
    select
        run_id,
        attempt,
        greatest(0, first_us - first_steps * others_us / other_steps) as start_up_us,
    from net_sums
),

walked as (
    select run_id, sum(kept_us) as kept_us, sum(wasted_us) as wasted_us
    from net_sums
    group by run_id
),

start_up_sums as (
    -- whole nanoseconds: their sum does not depend on the order of attempts
    select run_id, coalesce(sum((start_up_us * 1000)::hugeint), 0) / 1000 as start_up_us
    from start_ups
    group by run_id
),

starts as (
    select run_id, process_us
    from ledger.timeline
    where process_us is not null
),

-- from the start of the last step before a restart to the last start of a process before its first step
recoveries as (
    select
        b.run_id,
        b.attempt,
        greatest(0, max(s.process_us) filter (where s.process_us <= b.restart_us) - b.last_start_us) as recovery_us,
    from bounded as b
    left join starts as s using (run_id)
    where b.restart_step is not null
    group by b.run_id, b.attempt, b.last_start_us
),

recovery_sums as (
    select run_id, coalesce(sum(recovery_us), 0) as recovery_us
    from recoveries
    group by run_id
),

-- the first load of the job, and around each restart the last one before it and the next: one load may be both, and
-- counts twice, as it does there
loads as (
    select run_id, start_us, end_us, row_number() over (partition by run_id order by start_us) as nth
    from ledger.phase_spans
    where phase = 'data_wait'
),

restarts as (
    select run_id, restart_us
    from bounded
    where restart_us is not null
),

synchronous as (
    select run_id, nth from loads where nth = 1
    union all
    select r.run_id, l.nth
    from restarts as r
    asof inner join loads as l on l.run_id = r.run_id and r.restart_us >= l.end_us
    union all
    select r.run_id, l.nth
    from restarts as r
    asof inner join loads as l on l.run_id = r.run_id and r.restart_us < l.end_us
),

counted as (
    select run_id, nth, count(*) as times
    from synchronous
    group by all
),

load_sums as (
    select
        l.run_id,
        coalesce(sum((l.end_us - l.start_us) * s.times), 0) as sync_us,
        coalesce(sum(l.end_us - l.start_us) filter (where s.times is null), 0) as async_us,
    from loads as l
    left join counted as s using (run_id, nth)
    group by l.run_id
),

reinits as (
    select run_id, start_us, end_us
    from ledger.phase_spans
    where phase = 'custom' and detail = 'elastic_reinit'
),

-- initialisation inside a re-initialisation is part of that
phases as (
    select
        p.run_id,
        p.phase,
        p.detail,
        p.end_us - p.start_us - case
            when p.phase in ('init', 'model_setup') then coalesce((
                select sum(greatest(0, least(r.end_us, p.end_us) - greatest(r.start_us, p.start_us)))
                from reinits as r
                where r.run_id = p.run_id
            ), 0)
            else 0
        end as phase_us,
    from ledger.phase_spans as p
),

phase_sums as (
    select
        run_id,
        coalesce(sum(phase_us) filter (where phase = 'init'), 0) as init_us,
        coalesce(sum(phase_us) filter (where phase in ('model_setup', 'setup', 'data_setup')), 0) as prep_us,
        coalesce(sum(phase_us) filter (where detail = 'slice_down'), 0) as slice_down_us,
        coalesce(sum(phase_us) filter (where detail = 'scale_up'), 0) as scale_up_us,
        coalesce(sum(phase_us) filter (where detail = 'elastic_reinit'), 0) as reinit_us,
    from phases
    group by run_id
),

checkpoint_sums as (
    select
        run_id,
        coalesce(sum(mean_s) filter (where op = 'save'), 0) as save_s,
        coalesce(sum(mean_s) filter (where op = 'load'), 0) as load_s,
    from ledger.checkpoint_records
    group by run_id
),

totals as (
    select
        t.run_id,
        min(t.process_us) as start_us,
        max(coalesce(t.loop_end_us, t.clean_exit_us)) as end_us,
    from ledger.timeline as t
    group by t.run_id
),

-- the tail after the last step counts as good where the job says that it ended
lasts as (
    select run_id, max(last_start_us) as last_start_us
    from bounded
    group by run_id
),

summed as (
    select
        r.run_id,
        r.gpus,
        (coalesce(t.end_us, epoch_us(r.life_end_ts)) - t.start_us) / 1e6 as total_s,
        coalesce(w.kept_us, 0) / 1e6 as kept_s,
        coalesce(greatest(0, t.end_us - l.last_start_us), 0) / 1e6 as tail_s,
        coalesce(w.wasted_us, 0) / 1e6 as wasted_s,
        coalesce(u.start_up_us, 0) / 1e6 as start_up_s,
        coalesce(v.recovery_us, 0) / 1e6 as recovery_s,
        coalesce(d.sync_us, 0) / 1e6 as sync_s,
        coalesce(d.async_us, 0) / 1e6 as async_s,
        coalesce(p.init_us, 0) / 1e6 as init_s,
        coalesce(p.prep_us, 0) / 1e6 as prep_s,
        coalesce(p.slice_down_us, 0) / 1e6 as slice_down_s,
        coalesce(p.scale_up_us, 0) / 1e6 as scale_up_s,
        coalesce(p.reinit_us, 0) / 1e6 as reinit_s,
        coalesce(c.save_s, 0) as save_s,
        coalesce(c.load_s, 0) as load_s,
        coalesce(k.custom_s, 0) as custom_s,
    from ledger.runs as r
    inner join totals as t using (run_id)
    left join walked as w using (run_id)
    left join start_up_sums as u using (run_id)
    left join recovery_sums as v using (run_id)
    left join load_sums as d using (run_id)
    left join phase_sums as p using (run_id)
    left join checkpoint_sums as c using (run_id)
    left join lasts as l using (run_id)
    left join (select run_id, sum(custom_us) / 1e6 as custom_s from custom_sums group by run_id) as k using (run_id)
    where t.start_us is not null
),

productive as (
    select *, kept_s + tail_s - start_up_s - save_s as productive_s
    from summed
),

typed as (
    select
        run_id,
        gpus,
        unnest([
            {'badput_type': 'PRODUCTIVE', 'seconds': productive_s, 'is_badput': false},
            {'badput_type': 'TPU_INITIALIZATION', 'seconds': init_s, 'is_badput': true},
            {'badput_type': 'TRAINING_PREP', 'seconds': prep_s, 'is_badput': true},
            {'badput_type': 'PROGRAM_STARTUP', 'seconds': start_up_s, 'is_badput': true},
            {'badput_type': 'DATA_LOADING_SYNC', 'seconds': sync_s, 'is_badput': true},
            {'badput_type': 'DATA_LOADING_ASYNC', 'seconds': async_s, 'is_badput': false},
            {'badput_type': 'UNPRODUCTIVE_CHECKPOINT_SAVE_TIME', 'seconds': save_s, 'is_badput': true},
            {'badput_type': 'UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME', 'seconds': load_s, 'is_badput': true},
            {'badput_type': 'WASTED_PROGRESS_FROM_DISRUPTION', 'seconds': wasted_s, 'is_badput': true},
            {'badput_type': 'INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION', 'seconds': recovery_s, 'is_badput': true},
            {'badput_type': 'ELASTIC_SLICE_DOWN', 'seconds': slice_down_s, 'is_badput': true},
            {'badput_type': 'ELASTIC_SCALE_UP', 'seconds': scale_up_s, 'is_badput': true},
            {'badput_type': 'ELASTIC_REINITIALIZATION', 'seconds': reinit_s, 'is_badput': true},
            {
                'badput_type': 'OTHER',
                'seconds': greatest(
                    0,
                    total_s - productive_s - init_s - prep_s - start_up_s - sync_s - save_s - load_s - wasted_s - recovery_s
                        - slice_down_s - scale_up_s - reinit_s - custom_s
                ),
                'is_badput': true
            }
        ]) as figure,
    from productive
    union all
    select
        c.run_id,
        r.gpus,
        {'badput_type': 'CUSTOM_BADPUT_EVENTS.' || upper(c.detail), 'seconds': c.custom_us / 1e6, 'is_badput': true} as figure,
    from (select run_id, detail, sum(custom_us) as custom_us from custom_kept group by all) as c
    inner join ledger.runs as r using (run_id)
),

final as (
    select
        run_id,
        figure.badput_type as badput_type,
        figure.seconds::double as seconds,
        figure.seconds::double * gpus as gpu_s,
        figure.is_badput as is_badput,
    from typed
)

select * from final
order by run_id, badput_type
