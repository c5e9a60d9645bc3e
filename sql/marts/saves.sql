-- one row per save that the period saw: how long the loop stood still for it, what lay between it and the save before, and what became of it
-- do not add interval_s of several tiers or attempts as the age of a checkpoint; a stall that nobody timed is null, not zero
-- stall_s: time that the loop stood still; in seconds
-- interval_steps: steps since the save before in the same attempt; since the start of the loop for the first one
-- interval_s: time in the loop since the end of the stall of the save before; since the start of the loop for the first one; in seconds
-- after_save: whether a save of the same attempt came before, so that warm-up is not in the interval
-- outcome: durable, failed, never committed (others of this run were), or not known
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

-- a stall without stamps of its own was worked out from its neighbours
stalls as (
    select
        run_id,
        attempt,
        step,
        max(end_us - start_us) as stall_us,
    from ledger.stalls
    where category = 'checkpoint_stall' and step is not null
    group by all
),

told as (
    select
        s.run_id,
        s.attempt,
        s.step,
        coalesce(s.begin_ts, s.blocked_ts, s.durable_ts) as begin_ts,
        make_timestamptz(s.stall_end_us) as stall_end_ts,
        coalesce(s.stall_end_us - s.stall_start_us, t.stall_us) / 1e6 as stall_s,
        s.background_s,
        s.durable,
        s.durable_how,
        s.tier,
        s.ord,
        s.source_id,
        s.line,
        a.first_step,
        a.loop_start_ts,
        a.end_kind,
    from ledger.saves as s
    left join stalls as t using (run_id, attempt, step)
    left join ledger.attempts as a using (run_id, attempt)
),

spaced as (
    select
        *,
        lag(step) over w as previous_step,
        lag(coalesce(stall_end_ts, begin_ts)) over w as previous_ts,
        row_number() over w as place,
        count(*) over (partition by run_id, attempt) as saves_of_attempt,
        -- where completion was only concluded, from a later save or load, the last save of an attempt tells nothing
        count_if(durable and durable_how = 'logged') over (partition by run_id) > 0 as tells_completion,
    from told
    window w as (partition by run_id, attempt order by begin_ts nulls last, ord)
),

final as (
    select
        s.run_id,
        s.attempt,
        s.step,
        s.begin_ts,
        s.stall_s,
        s.background_s,
        place > 1 as after_save,
        case when place > 1 then step - previous_step else step - (first_step - 1) end as interval_steps,
        (epoch_us(begin_ts) - epoch_us(case when place > 1 then previous_ts else loop_start_ts end)) / 1e6 as interval_s,
        case
            when durable then 'durable'
            when durable_how = 'failed' then 'failed'
            -- a log that goes on may yet tell how its last save ended
            when end_kind = 'ongoing' and place = saves_of_attempt then 'not known'
            when tells_completion and durable_how = 'no completion logged' then 'never committed'
            else 'not known'
        end as outcome,
        s.tier,
        s.source_id,
        s.line,
    from spaced as s
    cross join period as p
    where s.begin_ts is null or (s.begin_ts >= p.period_start and s.begin_ts < p.period_end)
)

select * from final
order by run_id, attempt, begin_ts, step
