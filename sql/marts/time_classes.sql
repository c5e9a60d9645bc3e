-- one row per run, window and class: the ledger's time in the classes by which published definitions tell time apart
-- do not add clock_gpu_us and gpu_us: the first weighs a second by the nominal size of the run, the second by what was there
-- class: queue_first and provisioning_first come before the first process, startup_first before the first loop, kept_unsaved after the last durable save
-- gpu_us: accelerators that were there × time; in GPU-µs
-- clock_gpu_us: nominal accelerators × time, so that a narrower allocation changes nothing; in GPU-µs
with

first_loops as (
    select run_id, min(loop_start_ts) as loop_ts
    from ledger.attempts
    group by run_id
),

-- what was done after the begin of the last durable save that counts is under no save; a program that completed has
-- waited for its last one, also where its log does not say so
safe as (
    select
        s.run_id,
        max(coalesce(s.begin_ts, s.blocked_ts, s.durable_ts)) as safe_ts,
    from ledger.saves as s
    inner join ledger.attempts as a using (run_id, attempt)
    where (s.durable or (a.end_kind = 'completed' and s.durable_how <> 'failed')) and s.step <= a.survives_to
    group by s.run_id
),

marked as (
    select
        w.*,
        r.gpus as nominal_gpus,
        w.start_ts < f.loop_ts or f.loop_ts is null as is_first,
        s.safe_ts,
    from ledger.window_intervals as w
    inner join ledger.runs as r using (run_id)
    left join first_loops as f using (run_id)
    left join safe as s using (run_id)
),

-- an interval that the last save cuts is two
cut as (
    select
        *,
        epoch_us(end_ts) - epoch_us(start_ts) as length_us,
        case
            when category in ('productive', 'data_stall')
                then greatest(0, epoch_us(least(end_ts, greatest(start_ts, coalesce(safe_ts, start_ts)))) - epoch_us(start_ts))
            else epoch_us(end_ts) - epoch_us(start_ts)
        end as saved_us,
    from marked
),

pieces as (
    select *, true as saved, saved_us as piece_us from cut where saved_us > 0
    union all
    select *, false as saved, length_us - saved_us as piece_us from cut where length_us > saved_us
),

classed as (
    select
        run_id,
        window_start,
        window_end,
        case
            when part = 'missing' then 'missing'
            when part = 'spare' then 'spare'
            when category = 'productive' then case when saved then 'kept' else 'kept_unsaved' end
            when category = 'data_stall' then case when saved then 'input_stall' else 'kept_unsaved' end
            when category = 'loop_gap' then 'loop_gap'
            when category = 'checkpoint_stall' then 'save_stall'
            when category = 'evaluation' then 'evaluation'
            when category = 'lost_work' then 'lost'
            when category = 'hang' then 'hang'
            when category = 'idle_held' then 'idle_held'
            when category = 'shutdown' then 'tail'
            when category = 'planned_stop' then 'maintenance'
            when category = 'warmup' then case when is_first or attempt = 1 then 'warmup_first' else 'warmup_again' end
            when category in ('init', 'setup', 'compile', 'restore', 'data_fast_forward') and is_first then 'startup_first'
            when category = 'restore' then 'restore'
            when category in ('init', 'setup', 'compile', 'data_fast_forward') then 'startup_again'
            when category = 'provisioning' and is_first and incident_id is null then 'provisioning_first'
            when category in ('queue_wait', 'requeue_delay') and is_first and incident_id is null then 'queue_first'
            when layer = 'unknown' then 'unknown'
            else 'down'
        end as class,
        piece_us::hugeint * gpus as gpu_us,
        case when part = 'active' then piece_us::hugeint * nominal_gpus else 0 end as clock_gpu_us,
    from pieces
    union all
    select
        run_id,
        window_start,
        window_end,
        'queue_first' as class,
        first_queue_wait_gpu_us as gpu_us,
        first_queue_wait_gpu_us as clock_gpu_us,
    from marts.layer_sums
    where first_queue_wait_gpu_us > 0
),

final as (
    select
        run_id,
        window_start,
        window_end,
        class,
        sum(gpu_us) as gpu_us,
        sum(clock_gpu_us) as clock_gpu_us,
    from classed
    group by all
)

select * from final
order by run_id, window_start, class
