-- one row per end of an attempt, completion included, with its cause, its evidence and what it cost
-- count kinds unplanned and preemption as interruptions; do not add downtime to lost work of another incident
-- lost_steps: steps that a restore overwrote; null where nobody saw whether there were any
with

-- lines that bear another time than they print
corrected as (
    select distinct source_id, line from staging.stream where clock_offset_s is not null
),

costs as (
    select
        incident_id,
        sum(gpu_us) filter (where category = 'lost_work') as lost_gpu_us,
        sum(gpu_us) filter (where category <> 'lost_work') as downtime_gpu_us,
        sum(gpu_us) as total_gpu_us,
        max(mark) as mark,
    from ledger.intervals
    where incident_id is not null and part <> 'spare' and layer <> 'productive'
    group by incident_id
),

-- steps that a restore overwrote, by the end that made it necessary
lost as (
    select
        c.incident_id,
        sum(s.steps - s.surviving_steps)::bigint as lost_steps,
    from ledger.step_times as s
    inner join ledger.lost_spans as c using (run_id, attempt, step_first)
    group by c.incident_id
),

followers as (
    select
        p.run_id,
        p.attempt,
        -- a restart inside the allocation is given none, and none was given before this one's end
        case
            when p.holding is null or lead(p.holding) over w is distinct from p.holding then lead(p.allocated_us) over w
        end as following_us,
        -- of an attempt that nobody saw only its release is known
        case
            when following_us >= coalesce(p.fault_us, case when p.observed then p.progress_us else p.release_us end, following_us) then following_us
        end as next_allocated_us,
        -- of an attempt that nobody saw only its allocation is known
        lead(case when p.observed then p.up_us end) over w as next_process_us,
        lead(r.end_us) over w as next_restored_us,
        lead(p.first_step_us) over w as next_first_step_us,
    from ledger.ends as p
    left join ledger.restores as r using (run_id, attempt)
    window w as (partition by p.run_id order by p.attempt)
),

-- the moment at which a later attempt was back at the last step reached before
reached as (
    select
        run_id,
        attempt,
        max(last_step) over (partition by run_id order by attempt rows unbounded preceding) as reached_step,
    from ledger.progress
),

-- the first attempt that came so far
reaching as (
    select
        r.run_id,
        r.attempt,
        r.reached_step,
        min(p.attempt) as by_attempt,
    from reached as r
    inner join ledger.progress as p
        on p.run_id = r.run_id and p.attempt > r.attempt and p.last_step >= r.reached_step
    group by all
),

caught_up as (
    select
        r.run_id,
        r.attempt,
        min(s.end_us) as caught_up_us,
    from reaching as r
    inner join ledger.closed_spans as s
        on s.run_id = r.run_id and s.attempt = r.by_attempt and s.step_last >= r.reached_step
    group by all
),

-- text of the line that proves the cause
texts as (
    select source_id, line, min(text) as text
    from events.signals
    group by all
),

told as (
    select
        i.incident_id,
        e.run_id,
        e.attempt,
        e.job_id,
        y.kind,
        make_timestamptz(coalesce(
            e.fault_us,
            case when e.kind not in ('completed', 'ongoing') then e.detected_us end,
            case when e.has_steps then e.progress_us when e.stepless and e.observed then e.up_us end,
            e.release_us
        )) as at_ts,
        -- of an attempt that made no step: when it was up
        case when e.has_steps then make_timestamptz(e.progress_us) when e.stepless and e.observed then make_timestamptz(e.up_us) end as last_progress_ts,
        make_timestamptz(e.fault_us) as fault_ts,
        case when e.kind not in ('completed', 'ongoing') then make_timestamptz(e.detected_us) end as detected_ts,
        e.fault_estimated,
        e.detected_estimated,
        case when e.kind <> 'ongoing' then make_timestamptz(e.release_us) end as released_ts,
        make_timestamptz(f.next_allocated_us) as allocated_ts,
        make_timestamptz(f.next_process_us) as processes_up_ts,
        make_timestamptz(f.next_restored_us) as restored_ts,
        make_timestamptz(f.next_first_step_us) as first_step_ts,
        make_timestamptz(u.caught_up_us) as caught_up_ts,
        -- of an attempt that nobody saw nobody knows what it lost
        case when l.lost_steps is not null or e.kind in ('completed', 'ongoing') or not coalesce(e.unseen, false) then coalesce(l.lost_steps, 0) end as lost_steps,
        coalesce(c.lost_gpu_us, 0) / 1e6 as lost_gpu_s,
        coalesce(c.downtime_gpu_us, 0) / 1e6 as downtime_gpu_s,
        coalesce(c.total_gpu_us, 0) / 1e6 as total_gpu_s,
        y.cause,
        y.cause_by_evidence,
        y.domain,
        y.charged_to,
        y.owner,
        case when e.by_line and e.kind <> 'completed' then e.signal_host end as host,
        -- what several ranks say, each of its own GPU, is of none of them
        -- nor is what several GPUs of a host do at once: they fail by what they share
        case
            when e.by_line and e.kind <> 'completed' and not (e.own and coalesce(v.copy_gpus, 1) > 1) and coalesce(v.gpus_at_once, 1) = 1
                then e.signal_gpu
        end as gpu,
        case when e.by_line and e.kind <> 'completed' then e.signal_device end as device,
        case when e.by_line and e.kind <> 'completed' then e.signal_rank end as rank,
        -- DCGM numbers GPUs as the driver does
        case
            when coalesce(v.gpus_at_once, 1) = 1
                then coalesce(g.gpu_index, case when e.by_line and starts_with(e.signal_id, 'dcgm_') then try_cast(e.signal_gpu as integer) end)
        end as gpu_index,
        case
            when not e.by_line or e.kind in ('completed', 'ongoing', 'planned', 'preemption') then null
            -- the line tells of another fault than the one that a person names
            when y.cause <> e.cause then null
            -- a program that asks for more memory than there is breaks no GPU
            when e.cause = 'gpu_out_of_memory' then case when e.signal_rank is not null and coalesce(v.copy_ranks, 1) = 1 then 'rank' end
            when e.signal_gpu is not null and not (e.own and coalesce(v.copy_ranks, 1) > 1) and coalesce(v.gpus_at_once, 1) = 1 then 'gpu'
            when y.domain = 'storage' then case when e.signal_device is not null then 'file system' end
            when y.domain = 'network_fabric' and e.signal_device is not null then 'link'
            when y.domain = 'nvlink_nvswitch' and e.signal_device is not null then 'switch'
            -- what many ranks say is of no part
            when e.own and v.copy_ranks > 1 and e.signal_host is null then null
            when y.domain in ('user_code', 'data', 'framework', 'numerics') and e.signal_rank is not null and coalesce(v.copy_ranks, 1) = 1 then 'rank'
            -- that a process lost another one, ended with a code or was killed says where, and not what failed there; and what a
            -- program did wrong is no fault of the host that it ran on
            when y.domain = 'unknown' then null
            when e.signal_host is not null and y.domain not in ('user_code', 'data', 'framework', 'numerics', 'external') then 'host'
            when e.signal_rank is not null then 'rank'
        end as faulty_part,
        v.copies,
        v.copy_ranks,
        v.copy_hosts,
        v.copy_spread_s,
        v.gpus_at_once,
        v.cascade,
        case when e.domain = 'unknown' then w.lagging end as lagging,
        case when e.domain = 'unknown' then w.lagging_ranks end as lagging_ranks,
        case when e.domain = 'unknown' then w.suspect_host end as suspect_host,
        q.sought,
        case when y.kind = 'preemption' then e.caused_by_job end as caused_by_job,
        case
            when e.cause = 'unknown' then 'unknown'
            -- a symptom is known, and what caused it is not
            when e.kind = 'unplanned' and e.domain = 'unknown' then 'unknown'
            -- that a node went, or that a call on a GPU failed, says where and not why: what its host says, or does not say, tells;
            -- accounting knows of a node no more than that it went
            when e.kind = 'unplanned' and not q.host_told and (e.cause = 'node_failure' or e.by_line and e.cause = 'gpu_other')
                then 'unknown'
            -- what was done with a job is not why
            when not e.by_line and e.cause = 'requeue' then 'unknown'
            when e.by_line and e.kind = 'unplanned' and e.ambiguous then 'inferred'
            when e.by_line then 'evidence'
            else 'inferred'
        end as confidence,
        case
            -- a stop alone says nothing of why: the entry does
            when e.maintenance_start_ts is not null then concat(
                'a person''s stop within the [[maintenance]] of the configuration from ',
                strftime(timezone('UTC', e.maintenance_start_ts), '%Y-%m-%d %H:%M:%S'),
                ' to ',
                strftime(timezone('UTC', e.maintenance_end_ts), '%Y-%m-%d %H:%M:%S UTC'),
                case
                    when e.maintenance_declared_ts > e.maintenance_start_ts then ', declared afterwards on '
                    when e.maintenance_declared_ts is not null then ', declared on '
                    else ', which does not say when it was declared'
                end,
                strftime(timezone('UTC', e.maintenance_declared_ts), '%Y-%m-%d'),
                case
                    when e.maintenance_declared_until_ts = e.maintenance_declared_ts
                        then strftime(timezone('UTC', e.maintenance_declared_ts), ' %H:%M:%S UTC')
                end,
                -- of a day nobody knows at which time
                case
                    when e.maintenance_start_ts >= e.maintenance_declared_ts and e.maintenance_start_ts < e.maintenance_declared_until_ts
                        then ', the day on which it began, and not whether before it did'
                end
            )
            when e.kind = 'completed' then concat(
                case when e.by_line then 'the program says so' else 'nothing went wrong before the end' end,
                case when l.lost_steps > 0 then '; a later attempt went on from an earlier step, so that what came after it was lost' end
            )
            when e.kind = 'ongoing' then 'no line tells of an end'
            when e.cause = 'unknown' then concat('no line within reach of the end tells of a fault', '; ' || q.sought)
            when e.by_line and e.weight = 'symptom' then concat(
                'a symptom; no line tells what caused it',
                case when w.lagging = 'named' then '; others received the error of rank ' || w.lagging_ranks end,
                '; ' || q.sought
            )
            when e.by_line and e.cause = 'collective_timeout' then concat(
                'somebody waited; no line tells for what',
                case w.lagging
                    when 'behind' then '; behind was rank ' || w.lagging_ranks
                    when 'silent' then '; nothing was heard of rank ' || w.lagging_ranks
                    when 'elsewhere' then '; elsewhere was rank ' || w.lagging_ranks
                    when 'named' then '; others received the error of rank ' || w.lagging_ranks
                end,
                '; ' || q.sought
            )
            when e.by_line and e.kind = 'unplanned' and e.cause = 'node_failure' and not q.host_told then concat(
                'a node went',
                case when e.state in ('NODE_FAIL', 'BOOT_FAIL') then ', as the scheduler''s state ' || e.state || ' says too' end,
                '; no line tells why',
                '; ' || q.sought
            )
            when e.by_line and e.kind = 'unplanned' and e.cause = 'gpu_other' and not q.host_told then concat('a call on a GPU failed; no line tells why', '; ' || q.sought)
            when not e.by_line and e.kind = 'unplanned' and e.cause = 'node_failure' and not q.host_told
                then concat('the scheduler''s state ', e.state, ' says that a node went, not why', '; ' || q.sought)
            when not e.by_line and e.cause = 'requeue' then concat('the scheduler''s state ', e.state, ' says what was done with the job, not why', '; ' || q.sought)
            when e.by_line and e.kind = 'unplanned' and e.in_doubt = 'first_fault' then 'another error was raised while this one was handled'
            when e.by_line and e.kind = 'unplanned' and e.in_doubt = 'raised_over' then 'raised while an error of files or storage was handled'
            when e.by_line and e.kind = 'unplanned' and e.ambiguous then 'a line that may have more than one cause'
            when e.by_line and e.kind in ('planned', 'preemption') and e.fault_estimated and e.fault_us < e.detected_us - 60000000
                then 'a line tells of the stop; the loop had stood still before, and no line tells why'
            when e.by_line and e.own then 'a line of the run itself'
            when e.by_line then 'a line of a node or scheduler that served the run'
            else concat('the scheduler''s state ', e.state, '; ' || q.sought)
        end as confidence_reason,
        case when e.kind = 'completed' then e.exit_source_id when e.by_line then e.evidence_source_id else h.source_id end as evidence_source_id,
        case when e.kind = 'completed' then e.exit_path when e.by_line then e.evidence_path else o.path end as evidence_path,
        case when e.kind = 'completed' then e.exit_line when e.by_line then e.evidence_line else h.line end as evidence_line,
        case when e.kind = 'completed' then null when e.by_line then coalesce(t.text, e.text) when e.state is not null then 'state ' || e.state end as evidence_text,
        e.runner_up_cause,
        concat(
            case when e.undated or coalesce(e.fault_estimated, false) then '†' end,
            case when not (e.undated or coalesce(e.fault_estimated, false)) and k.line is not null then '‡' end,
            -- what a person says is not inferred
            case when not e.by_line and e.kind not in ('completed', 'ongoing') and e.cause <> 'unknown' and not coalesce(y.has_verdict, false) then '¶' end
        ) as mark,
        e.stepless,
        e.stepless and y.kind in ('unplanned', 'unknown') as failed_start,
        cl.run_id is not null as crash_loop,
        e.unseen,
        y.has_verdict,
        y.verdict_reason,
        e.kind as kind_by_evidence,
        b.title as title_by_evidence,
    from ledger.ends as e
    left join corrected as k on k.source_id = e.evidence_source_id and k.line = e.evidence_line
    inner join ledger.incident_ids as i using (run_id, attempt)
    inner join ledger.payers as y using (incident_id)
    inner join ledger.timeline as m on m.run_id = e.run_id and m.attempt = e.attempt
    left join ledger.holdings as h on h.run_id = m.run_id and h.holding = m.holding
    left join staging.sources as o on o.source_id = h.source_id
    left join costs as c on c.incident_id = i.incident_id
    left join lost as l on l.incident_id = i.incident_id
    left join followers as f on f.run_id = e.run_id and f.attempt = e.attempt
    left join caught_up as u on u.run_id = e.run_id and u.attempt = e.attempt
    left join ledger.echoes as v on v.run_id = e.run_id and v.attempt = e.attempt
    left join ledger.lagging as w on w.run_id = e.run_id and w.attempt = e.attempt
    left join ledger.sought as q on q.run_id = e.run_id and q.attempt = e.attempt
    left join ledger.crash_loops as cl on cl.run_id = e.run_id and cl.attempt = e.attempt
    left join ledger.gpu_slots as g on g.host = split_part(e.signal_host, '.', 1) and g.pci = e.signal_gpu
    left join texts as t on t.source_id = e.evidence_source_id and t.line = e.evidence_line
    left join seeds.causes as b on b.code = e.cause
),

-- whether it ended well is told by every log; beyond that only a line that leaves no doubt can contradict a person
compared as (
    select
        *,
        case
            when not has_verdict then null
            when cause = cause_by_evidence then 'agrees'
            when kind_by_evidence not in ('unknown', 'ongoing') and (kind = 'completed') <> (kind_by_evidence = 'completed')
                then 'contradicts'
            -- who stopped a loop that stood still for more than a minute says nothing of why it did
            when kind_by_evidence in ('planned', 'preemption') and fault_estimated and epoch_us(fault_ts) < epoch_us(detected_ts) - 60000000 then 'adds'
            when confidence = 'evidence' then 'contradicts'
            else 'adds'
        end as verdict_fit,
    from told
)

select
    * exclude (kind_by_evidence, title_by_evidence)
    replace (
        case
            when has_verdict then concat(
                'a person''s verdict',
                ': ' || verdict_reason,
                '; the logs ',
                case verdict_fit
                    when 'agrees' then 'alone say the same'
                    else concat(
                        case verdict_fit when 'contradicts' then 'contradict it and' else 'alone' end,
                        ' say ', coalesce(title_by_evidence, cause_by_evidence), ' (', cause_by_evidence, ')'
                    )
                end
            )
            else confidence_reason
        end as confidence_reason
    ),
from compared
