-- one row per run that lived in the period: what its interval between saves costs by the model, and the interval that would cost least
-- do not add or average shares over runs; gain_gpu_s_per_week adds up
-- overhead is accelerator time lost per unit of progress: stall / interval + (interval / 2 + background) / time to failure; docs/model.md says where it comes from
-- failures: interruptions that nobody planned, of attempts that had made a step
-- exposed_s: time in the loop, in which a failure loses work; in seconds
-- mttf_s: exposed time per failure; null without one; in seconds
-- stall_s: mean stall of a save; in seconds
-- background_s: median time that a save takes beside the steps: until then a failure falls back to the save before; in seconds
-- interval_s: interval used; in seconds
-- interval_steps: interval used
-- overhead_used: modelled overhead of the interval used; share of progress
-- overhead_measured: stalls and lost work of these failures over progress, as the ledger has them; share of progress
-- young_s: interval of least overhead to first order, Young 1974; in seconds
-- daly_s: the same with the time of the save itself taken off, Daly 2006; in seconds
-- overhead_least: modelled overhead at young_s; share of progress
-- flat_from_s: shortest interval whose overhead is within 5 % of the least; in seconds
-- flat_to_s: longest such interval; in seconds
-- is_flat: whether the interval used lies between them, so that a change gains next to nothing
-- suggested_s: the interval used where it is flat, else young_s in whole steps; in seconds
-- suggested_steps: the same in steps
-- gain_gpu_s_per_week: what the suggested interval would save in a week like this period; in GPU-seconds
-- reason: why there is no minimum
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

times as (
    select
        run_id,
        sum(epoch_us(end_ts) - epoch_us(start_ts)) as life_us,
        coalesce(sum(epoch_us(end_ts) - epoch_us(start_ts)) filter (
            where category in (
                'productive', 'warmup', 'checkpoint_stall', 'evaluation', 'data_stall', 'data_fast_forward', 'loop_gap',
                'lost_work'
            )
        ), 0) as exposed_us,
        coalesce(sum(gpu_us) filter (where category = 'productive'), 0) as productive_gpu_us,
    from ledger.window_intervals
    where part = 'active'
    group by run_id
),

-- a planned end can save before it comes, and a start that reached no step had nothing to lose; of an attempt that nobody
-- saw, neither its time in the loop nor its loss is known
failures as (
    select
        i.run_id,
        count(*) as failures,
        sum((i.lost_gpu_s * 1000000)::hugeint) as lost_gpu_us,
    from marts.incidents as i
    cross join period as p
    where i.kind in ('unplanned', 'preemption') and not i.stepless and not coalesce(i.unseen, false)
        and i.at_ts >= p.period_start
        and i.at_ts < p.period_end
    group by i.run_id
),

given as (
    select
        c.run_id,
        coalesce(f.failures, 0) as failures,
        t.exposed_us / 1e6 as exposed_s,
        t.exposed_us / 1e6 / f.failures as mttf_s,
        c.stall_mean_s as stall_s,
        coalesce(c.background_median_s, 0) as background_s,
        c.interval_s,
        c.interval_steps,
        c.stalled_gpu_s,
        coalesce(f.lost_gpu_us, 0) / 1e6 as failures_lost_gpu_s,
        t.productive_gpu_us / 1e6 as productive_gpu_s,
        t.life_us / 1e6 as life_s,
        c.reason,
    from marts.checkpoints as c
    inner join times as t using (run_id)
    left join failures as f using (run_id)
),

reasoned as (
    select
        * exclude (reason),
        case
            when reason is not null then reason
            when failures = 0 then 'no failure in the period: its rate is not known'
            when stall_s <= 0 then 'saves did not stop the loop: no interval is too short'
        end as reason,
    from given
),

least as (
    select
        *,
        case when reason is null then sqrt(2 * stall_s * mttf_s) end as young_s,
        case when reason is null then case when stall_s < mttf_s / 2 then sqrt(2 * stall_s * mttf_s) - stall_s else mttf_s end end as daly_s,
        stall_s / interval_s + (interval_s / 2 + background_s) / mttf_s as overhead_used,
        case when reason is null then sqrt(2 * stall_s / mttf_s) + background_s / mttf_s end as overhead_least,
    from reasoned
),

-- overhead is (x + 1 / x) / 2 times its changing part at x times the best interval; within 5 % of the least where
-- (x + 1 / x) / 2 is at most this
bounded as (
    select
        *,
        1.05 + 0.05 * (background_s / mttf_s) / sqrt(2 * stall_s / mttf_s) as reach,
    from least
),

flat as (
    select
        *,
        young_s * (reach - sqrt(reach * reach - 1)) as flat_from_s,
        young_s * (reach + sqrt(reach * reach - 1)) as flat_to_s,
    from bounded
),

chosen as (
    select
        *,
        interval_s between flat_from_s and flat_to_s as is_flat,
        case
            when interval_s between flat_from_s and flat_to_s then interval_steps
            -- a save cannot begin before the one before it is through
            when young_s is not null then greatest(
                1,
                round(young_s / (interval_s / interval_steps)),
                ceil(least(background_s, interval_s) / (interval_s / interval_steps))
            )
        end as suggested_steps,
    from flat
),

suggested as (
    select
        *,
        case
            when is_flat then interval_s
            else suggested_steps * (interval_s / interval_steps)
        end as suggested_s,
    from chosen
),

final as (
    select
        run_id,
        failures,
        exposed_s,
        mttf_s,
        stall_s,
        background_s,
        interval_s,
        interval_steps,
        overhead_used,
        case
            when productive_gpu_s > 0 then (stalled_gpu_s + failures_lost_gpu_s) / productive_gpu_s
        end as overhead_measured,
        young_s,
        daly_s,
        overhead_least,
        flat_from_s,
        flat_to_s,
        is_flat,
        suggested_s,
        suggested_steps,
        case
            when is_flat then 0
            else (overhead_used - (stall_s / suggested_s + (suggested_s / 2 + background_s) / mttf_s))
                * productive_gpu_s / life_s * 604800
        end as gain_gpu_s_per_week,
        reason,
    from suggested
)

select * from final
order by run_id
