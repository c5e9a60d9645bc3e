-- one row per interruption in the period and phase of its recovery, in the order in which they follow one another
-- catch_up is time of steps made again, and no downtime: leave it out of a sum of the others
-- phase: name of the phase: a row of seeds.recovery_phases
-- rank: place of the phase in the order
-- title: what the phase lasted until
-- owner: team that owns most time of such phases: that of the layer in goodput.toml, else that of the seed
-- inside_allocation: whether the next attempt started inside the same allocation: nothing was released or waited for
-- from_ts: end of the last phase before it that is known
-- until_ts: its end; never before from_ts, whatever clocks say
-- seconds: from from_ts to until_ts; null where its end is not known, and then the next known phase holds its time
-- gpu_s: seconds × accelerators of the attempt that was interrupted
-- is_downtime: whether the phase is time without progress
with

period as (
    select min(window_start) as period_start, max(window_end) as period_end
    from ledger.windows
),

holders as (
    select
        run_id,
        attempt,
        lead(holding) over w = holding as goes_on,
        observed,
    from ledger.timeline
    window w as (partition by run_id order by attempt)
),

interruptions as (
    select
        i.*,
        coalesce(a.gpus, r.gpus) as gpus,
        coalesce(h.goes_on, false) as inside_allocation,
        coalesce(h.observed, true) as observed,
        -- without a trainer log nobody knows when it stood still, unless a line dates the fault: only the end of its
        -- allocation is on record
        coalesce(epoch_us(i.fault_ts), epoch_us(i.last_progress_ts), epoch_us(i.released_ts)) as stopped_us,
    from ledger.incidents as i
    inner join ledger.runs as r using (run_id)
    left join ledger.attempts as a using (incident_id)
    left join holders as h on h.run_id = i.run_id and h.attempt = i.attempt
    cross join period as p
    where i.kind not in ('completed', 'ongoing')
        and i.at_ts >= p.period_start
        and i.at_ts < p.period_end
),

ends as (
    select
        i.incident_id,
        i.run_id,
        i.attempt,
        i.kind,
        i.gpus,
        i.inside_allocation,
        i.stopped_us,
        s.phase,
        s.rank,
        s.title,
        coalesce(t.team, s.owner) as owner,
        s.phase <> 'catch_up' as is_downtime,
        -- without a dated fault nobody knows how long it went unnoticed
        epoch_us(case s.phase
            when 'detection' then case when i.fault_ts is not null then i.detected_ts end
            when 'release' then case when not i.inside_allocation and (i.observed or i.fault_ts is not null) then i.released_ts end
            when 'allocation' then case when not i.inside_allocation then i.allocated_ts end
            when 'start' then i.processes_up_ts
            when 'restore' then i.restored_ts
            when 'first_step' then i.first_step_ts
            -- a later attempt than the next one may have caught up
            when 'catch_up' then case when i.first_step_ts is not null then i.caught_up_ts end
        end) as end_us,
        epoch_us(i.detected_ts) as detected_us,
    from interruptions as i
    cross join seeds.recovery_phases as s
    left join config.owners as t on t.key = s.layer
),

-- a phase begins where the last known one before it ended; clocks of two hosts may differ
bounds as (
    select
        *,
        greatest(stopped_us, max(end_us) over (w rows between unbounded preceding and 1 preceding), case when rank > 1 then detected_us end)
            as from_us,
        greatest(stopped_us, max(end_us) over (w rows unbounded preceding)) as until_us,
    from ends
    window w as (partition by incident_id order by rank)
),

final as (
    select
        incident_id,
        run_id,
        attempt,
        kind,
        gpus,
        inside_allocation,
        phase,
        rank,
        title,
        owner,
        is_downtime,
        make_timestamptz(from_us) as from_ts,
        case when end_us is not null then make_timestamptz(greatest(from_us, until_us)) end as until_ts,
        case when end_us is not null then greatest(until_us - from_us, 0) end / 1e6 as seconds,
        case when end_us is not null then greatest(until_us - from_us, 0)::hugeint * gpus end / 1e6 as gpu_s,
    from bounds
)

select * from final
order by incident_id, rank
