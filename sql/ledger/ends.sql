-- one row per attempt: how it ended, when the fault was, when it was detected, and the evidence
-- do not sum: times are microseconds since the epoch
-- stop_us, detected_us: null where no log tells when: of an attempt that nobody saw the allocation alone is known
-- up_us: when processes were up; at the latest, where start_estimated
-- fault_estimated: no line dates the fault, and fault_us is when it had happened at the latest
-- maintenance_start_ts, maintenance_end_ts, maintenance_declared_ts, maintenance_declared_until_ts: the entry of the configuration that a person's stop fell into
-- stepless: what was printed is known to tell of steps, and tells of none; an error stream alone would not tell of them
-- unseen: nobody saw whether steps were made
with

-- what the programs themselves say of their end
exits as (
    select
        m.run_id,
        m.attempt,
        max(epoch_us(p.ts)) filter (where p.name = 'exit') as exit_us,
        -- several lines tell of one end: the first of them is the nearest to it; some know whole seconds only
        min(epoch_us(p.ts)) filter (where p.name = 'exit' and epoch_us(p.ts) >= t.progress_us - 1000000) as first_exit_us,
        -- a step that is cancelled because a task failed ends when the last task has gone: no date of the fault of a loop
        min(epoch_us(p.ts)) filter (
            where p.name = 'exit' and epoch_us(p.ts) >= t.progress_us - 1000000
                and (coalesce(p.detail, '') <> 'task_failure' or not t.has_steps)
        ) as dating_exit_us,
        bool_or(d.says_done) as says_done,
        bool_or(p.name = 'exit' and regexp_matches(coalesce(p.detail, ''), '(?i)^data_exhausted')) as data_exhausted,
        bool_or(p.name = 'exit' and p.detail = 'task_failure') as task_failed,
        max(epoch_us(p.ts)) filter (where p.name = 'loop' and p.edge = 'end') as loop_end_us,
        max(epoch_us(p.ts)) filter (where p.name = 'job' and p.edge = 'end') as job_end_us,
        -- that a launcher stops the others dates an end, and is no word of it; that it is done outweighs what is told of it later
        arg_max(p.source_id, (d.says_done, p.ord, p.source_id)) filter (where p.name in ('exit', 'loop') and p.edge <> 'begin' and coalesce(p.detail, '') <> 'closing_others') as source_id,
        arg_max(p.line, (d.says_done, p.ord, p.source_id)) filter (where p.name in ('exit', 'loop') and p.edge <> 'begin' and coalesce(p.detail, '') <> 'closing_others') as line,
        arg_max(p.path, (d.says_done, p.ord, p.source_id)) filter (where p.name in ('exit', 'loop') and p.edge <> 'begin' and coalesce(p.detail, '') <> 'closing_others') as path,
        arg_max_null(epoch_us(p.ts), (d.says_done, p.ord, p.source_id)) filter (where p.name in ('exit', 'loop') and p.edge <> 'begin' and coalesce(p.detail, '') <> 'closing_others') as line_us,
    from staging.placed as p
    inner join ledger.timeline as m using (run_id, launch_no)
    left join ledger.progress as t on t.run_id = m.run_id and t.attempt = m.attempt
    cross join lateral (
        select
            p.name = 'exit' and regexp_matches(coalesce(p.detail, ''), '(?i)^(completed|done|data_exhausted|success)')
            or p.name = 'loop' and coalesce(p.edge = 'end', false) and not regexp_matches(coalesce(p.detail, ''), '(?i)abort|fail|error')
                as says_done
    ) as d
    where p.kind = 'phase' and p.name in ('exit', 'loop', 'job')
    group by all
),

targets as (
    select s.run_id, s.attempt, max(e.step_target) as step_target
    from ledger.closed_spans as s
    inner join events.steps as e on e.rowid = s.event_row
    where e.step_target is not null
    group by all
),

-- a watchdog that says how long it waited dates the stall; one without a time was printed beside a line that has one
watchdogs as (
    select
        run_id,
        attempt,
        min(coalesce(ts_us, near_us)) as seen_us,
        min(coalesce(ts_us, near_us) - waited_us) as stalled_us,
    from ledger.evidence
    where own and waited_us > 0 and coalesce(ts_us, near_us) is not null
    group by all
),

-- what a kernel saw more than a minute after the run itself had told of its end did not end it: clocks differ by less
latecomers as (
    select e.run_id, e.attempt, e.source_id, e.line
    from ledger.evidence as e
    left join watchdogs as w using (run_id, attempt)
    left join exits as x using (run_id, attempt)
    where e.told_by_kernel
        and (e.waited_us is null or e.waited_us = 0)
        and e.ts_us > least(w.seen_us, x.first_exit_us) + 60000000
        -- an exit is a consequence of what it was told with
        and exists (
            select 1 from ledger.evidence as o
            where o.run_id = e.run_id and o.attempt = e.attempt and o.own and o.weight = 'cause' and o.planned = ''
                and o.placed_after_progress
                and coalesce(o.ts_us, o.near_us) < e.ts_us - 60000000
        )
    group by all
),

-- a step needs all GPUs: one of which a kernel told more than a minute before the last step worked on, or was none of the run's
worked_on as (
    select distinct e.run_id, e.attempt, e.source_id, e.line
    from ledger.evidence as e
    inner join ledger.progress as t using (run_id, attempt)
    left join (select run_id, attempt, max(start_us) filter (where was_open) as open_us from ledger.closed_spans group by all) as o
        using (run_id, attempt)
    where e.told_by_kernel and e.gpu is not null and t.has_steps
        and e.ts_us < least(t.progress_us, coalesce(o.open_us, t.progress_us)) - 60000000
),

detections as (
    select
        e.run_id,
        e.attempt,
        min(e.ts_us) filter (where e.own and e.planned <> '') as planned_us,
        bool_or(e.weight = 'cause' and e.planned = '') as has_cause,
        bool_or(e.weight = 'cause' and e.planned = '' and e.overrules_exit_code) as overrules_exit_code,
        bool_or(e.weight = 'cause' and e.planned = '' and e.overrules_exit_code and e.placed_after_progress) as overrules_target,
    from ledger.evidence as e
    anti join latecomers using (run_id, attempt, source_id, line)
    anti join worked_on using (run_id, attempt, source_id, line)
    group by all
),

-- the first word of a planned end, and the first of each log: a stop is told in the job's output and by the scheduler
planned_lines as (
    select
        e.run_id,
        e.attempt,
        e.log_no,
        min(e.ts_us) as ts_us,
        arg_min(e, (e.ts_us is null, e.ts_us, e.causal_rank, e.log_no, e.ord)) as planned_row,
    from ledger.evidence as e
    where e.planned <> '' and e.weight = 'cause'
    group by all
),

planned_firsts as (
    select
        run_id,
        attempt,
        arg_min(
            planned_row,
            (planned_row.ts_us is null, planned_row.ts_us, planned_row.causal_rank, planned_row.log_no, planned_row.ord)
        ) as planned_row,
    from planned_lines
    group by all
),

-- what went wrong before it: by the times of both, else by their order where they stand in one log, else by the times of the
-- dated lines between which they stand
failed_firsts as (
    select distinct p.run_id, p.attempt
    from planned_firsts as p
    inner join ledger.evidence as f
        on f.run_id = p.run_id and f.attempt = p.attempt and f.planned = '' and f.weight = 'cause'
    anti join worked_on as g
        on g.run_id = f.run_id and g.attempt = f.attempt and g.source_id = f.source_id and g.line = f.line
    left join planned_lines as l
        on l.run_id = p.run_id and l.attempt = p.attempt and l.log_no = f.log_no
        -- what another log tells earlier decides
        and (l.ts_us is null and p.planned_row.ts_us is null or l.ts_us <= p.planned_row.ts_us + 5000000)
    where case
            when f.ts_us is not null and p.planned_row.ts_us is not null then f.ts_us < p.planned_row.ts_us - 5000000
            -- an exception without a time may be one that the program got over
            when f.ts_us is null and not (f.placed_after_progress and coalesce(f.overrules_exit_code, false)) then false
            when l.planned_row is not null then
                f.ord < l.planned_row.ord
                -- within seconds of the end, it is its doing
                and not coalesce(f.follows_dated and f.near_us >= l.planned_row.ts_us - 5000000, false)
                and not coalesce(f.ts_us >= l.planned_row.next_us - 5000000, false)
            else
                coalesce(f.ts_us, f.next_us, case when not f.follows_dated then f.near_us end)
                    < coalesce(p.planned_row.ts_us, case when p.planned_row.follows_dated then p.planned_row.near_us end) - 5000000
        end
        -- a word of the plan without a time may be older than the first that has one
        and not (
            (f.ts_us is null or p.planned_row.ts_us is null)
            and exists (
                select 1 from ledger.evidence as q
                where q.run_id = p.run_id and q.attempt = p.attempt
                    and q.planned <> '' and q.weight = 'cause' and q.ts_us is null
                    and case
                        when q.log_no = f.log_no then q.ord < f.ord
                        else coalesce(q.near_us < coalesce(f.ts_us, f.near_us), true)
                    end
            )
        )
),

-- a planned end counts when nothing went wrong before it
planned_rows as (
    from planned_firsts
    anti join failed_firsts using (run_id, attempt)
),

-- a GPU that falls off the bus takes the bus with it, or the bus the GPU: one fault, told twice
fallen as (
    select distinct run_id, attempt, host, ts_us
    from ledger.evidence
    where cause = 'gpu_fell_off_bus' and weight = 'cause' and ts_us is not null
),

told_twice as (
    select e.run_id, e.attempt, e.source_id, e.line, e.ts_us, min(f.ts_us) as fallen_us
    from ledger.evidence as e
    inner join fallen as f
        on f.run_id = e.run_id
        and f.attempt = e.attempt
        and f.host is not distinct from e.host
        and e.ts_us between f.ts_us - 60000000 and f.ts_us + 60000000
    where e.cause = 'pcie_error'
    group by all
),

first_tellings as (
    select run_id, attempt, fallen_us, min(ts_us) as ts_us
    from told_twice
    group by all
),

-- what processes say of each other once the program has said that it is done
farewells as (
    select distinct e.run_id, e.attempt, e.source_id, e.line
    from ledger.evidence as e
    inner join exits as x using (run_id, attempt)
    inner join seeds.signals as c using (signal_id)
    where x.says_done and c.benign_when = 'after_end' and e.own and coalesce(e.ts_us, e.near_us) >= x.line_us
),

-- a watchdog only says that somebody waited; a line without any clock may be noise of the start
graded as (
    select
        e.* replace (case when w.run_id is not null then e.causal_rank + 1 else e.causal_rank end as causal_rank),
        w.run_id is not null as is_told_twice,
        p.run_id is not null and e.planned <> '' as is_planned_end,
        c.run_id is not null as is_late,
        g.run_id is not null as worked_on,
        -- an error of the program that is none of a GPU
        bool_or(
            e.own and e.weight = 'cause' and e.planned = '' and (e.placed_after_progress or coalesce(e.overrules_exit_code, false))
            and coalesce(k.domain not in ('gpu', 'gpu_memory', 'nvlink_nvswitch', 'pcie_host', 'unknown'), false)
        ) over (partition by e.run_id, e.attempt) as is_told_otherwise,
        -- hosts warn in good times too: below an error nothing ended
        e.weight = 'symptom' and not e.own and not e.told_by_scheduler and e.severity not in ('error', 'critical') as is_warning,
        e.weight = 'cause' and (e.planned = '' or p.run_id is not null) as is_cause,
        case
            when e.cause = 'collective_timeout' or e.causal_rank >= 6 then 2
            when e.placed_after_progress then 0
            else 1
        end as grade,
    from ledger.evidence as e
    left join planned_rows as p using (run_id, attempt)
    left join (select distinct run_id, attempt, source_id, line from told_twice) as w using (run_id, attempt, source_id, line)
    left join latecomers as c using (run_id, attempt, source_id, line)
    left join worked_on as g using (run_id, attempt, source_id, line)
    left join seeds.causes as k on k.code = e.cause
    anti join farewells using (run_id, attempt, source_id, line)
),

-- physical evidence before symptoms, then the earliest
ranked as (
    select
        *,
        row_number() over (
            partition by run_id, attempt
            order by
                is_planned_end desc,
                is_cause desc,
                is_late or worked_on and is_told_otherwise,
                -- what the program says of its own end, before what a host says beside it
                case when not is_cause then not own end,
                is_warning,
                grade,
                case when grade < 2 or not is_cause then causal_rank end,
                -- of two errors of one chain that rank alike the last one ended the process
                coalesce(in_doubt = 'first_fault', false),
                case when placed_after_progress then coalesce(near_us, 9000000000000000) end,
                -- of lines without a clock the last one of a log is nearest to the end
                case when not placed_after_progress then -ord end,
                log_no,
                ord,
                line
        ) as place,
    from graded
),

firsts as (
    select * from ranked where place = 1
),

-- storage that several hosts wait for failed on none of them
sharers as (
    select run_id, attempt, signal_id
    from ledger.evidence
    where cause = 'storage_unavailable'
    group by all
    having count(distinct host) > 1
),

runners_up as (
    select
        r.run_id,
        r.attempt,
        arg_min(r.cause, r.place) as runner_up_cause,
    from ranked as r
    inner join firsts as f using (run_id, attempt)
    where r.cause <> f.cause
        and not (r.is_told_twice and f.cause = 'gpu_fell_off_bus')
        -- a traceback is the head of some exception, and none of its own
        and r.signal_id <> 'traceback_header'
    group by all
),

-- what other lines of the same cause say of the part that the first of them leaves open
parts as (
    select
        f.run_id,
        f.attempt,
        case when count(distinct e.host) = 1 and (count(e.host) = count(*) or count(distinct e.told_by_rank) <= 1) then min(e.host) end as host,
        count(distinct e.told_by_rank) > 1 as several_ranks,
        arg_min(e.gpu, (e.ts_us is null, e.ts_us, e.log_no, e.ord)) filter (where e.gpu is not null and e.host is not distinct from f.host) as gpu,
        arg_min(e.rank, (e.near_us is null, e.near_us, e.log_no, e.ord)) filter (where e.rank is not null) as rank,
        -- who printed the line first, where many did
        arg_min(e.rank, (e.near_us is null, e.near_us, e.log_no, e.ord)) filter (where e.rank is not null and e.signal_id = f.signal_id) as first_rank,
        arg_min(e.device, (e.ts_us is null, e.ts_us, e.log_no, e.ord)) filter (where e.device is not null) as device,
        max(e.caused_by_job) as caused_by_job,
        -- a line that leaves no doubt, beside one that does
        bool_or(e.causal_rank <= 2 and e.weight = 'cause' and e.signal_id not in ('xid_13_gr_exception', 'xid_31_mmu_fault', 'cuda_illegal_access')) as is_sure,
    from firsts as f
    inner join ledger.evidence as e
        on e.run_id = f.run_id and e.attempt = f.attempt and e.cause = f.cause and e.weight = f.weight
    left join worked_on as g on g.run_id = e.run_id and g.attempt = e.attempt and g.source_id = e.source_id and g.line = e.line
    where g.run_id is null or f.worked_on
    group by all
),

-- a save or an evaluation after the last step is progress too
tails as (
    select run_id, attempt, max(end_us) as tail_us
    from ledger.stalls
    where category in ('checkpoint_stall', 'evaluation')
    group by all
),

later as (
    select run_id, max(attempt) as last_attempt
    from ledger.timeline
    group by run_id
),

judged as (
    select
        t.* exclude (reported_end_us),
        x.exit_us,
        x.first_exit_us,
        x.dating_exit_us,
        x.loop_end_us,
        coalesce(x.job_end_us, t.reported_end_us) as job_end_us,
        coalesce(x.data_exhausted, false) as data_exhausted,
        coalesce(x.says_done, false) as says_done,
        coalesce(x.says_done, false)
            or (coalesce(g.step_target <= t.last_step, false) and not coalesce(d.has_cause, false))
            -- a program that was told to stop, or that its own limit stopped, ends well too; a script may hide an exit code
            or (
                t.state = 'COMPLETED'
                and d.planned_us is null
                -- with the last step made as well, only what came after it counts
                and not coalesce(case when g.step_target <= t.last_step then d.overrules_target else d.overrules_exit_code end, false)
            )
            as completed,
        coalesce(g.step_target <= t.last_step, false) as at_target,
        x.source_id as exit_source_id,
        x.line as exit_line,
        x.path as exit_path,
        x.line_us as exit_line_us,
        w.seen_us,
        w.stalled_us,
        d.planned_us,
        f.signal_id,
        f.cause as signal_cause,
        f.weight,
        -- a consequence on a host says why an attempt ended, not whether; that a process went is none
        f.weight = 'symptom' and not f.own as beside,
        t.state = 'REQUEUED' and f.cause = 'process_killed' and not coalesce(x.task_failed, false) as killed_by_requeue,
        f.weight = 'symptom' and not f.own and (f.causal_rank >= 7 or f.is_warning) as empty_symptom,
        f.ts_us as signal_us,
        f.waited_us,
        f.near_us,
        f.next_us,
        f.follows_dated,
        -- what ranks of several hosts say is of none of them
        case
            when h.signal_id is not null then null
            when f.own and pt.several_ranks then pt.host
            else coalesce(f.host, pt.host)
        end as signal_host,
        coalesce(f.gpu, pt.gpu) as signal_gpu,
        coalesce(f.device, pt.device) as signal_device,
        coalesce(pt.first_rank, pt.rank) as signal_rank,
        coalesce(f.since_us, case when ft.ts_us < f.ts_us then ft.ts_us end) as since_us,
        pt.caused_by_job,
        -- lines that have more than one meaning, and waits
        f.weight = 'symptom'
            or f.cause in ('collective_timeout', 'framework_hang', 'numerics', 'node_failure')
            -- that a call failed on a GPU, or did not reach another host, does not say what failed
            or f.cause in ('gpu_other', 'network_other') and f.own
            -- one error was raised while another one was handled
            or f.in_doubt is not null
            or f.signal_id in ('xid_13_gr_exception', 'xid_31_mmu_fault', 'cuda_illegal_access') and not pt.is_sure
            as ambiguous,
        -- who waits for others breaks no node and fills no memory; a limit or a preemption explains a wait that began after it,
        -- and whoever ended a job ended one whose GPU worked on
        coalesce(
            f.weight = 'cause' and f.cause = 'collective_timeout' and (
                t.state in ('NODE_FAIL', 'BOOT_FAIL', 'OUT_OF_MEMORY')
                or t.state in ('TIMEOUT', 'DEADLINE', 'PREEMPTED') and t.from_accounting
                    and f.near_us - coalesce(f.waited_us, 0) >= t.release_us
            )
            or f.worked_on and t.state in ('CANCELLED', 'REVOKED', 'TIMEOUT', 'DEADLINE', 'PREEMPTED'),
            false
        ) as explained_by_state,
        f.in_doubt,
        f.own,
        f.told_by_scheduler,
        f.text,
        f.source_id as evidence_source_id,
        f.path as evidence_path,
        f.line as evidence_line,
        u.runner_up_cause,
        t.attempt = l.last_attempt as is_last,
        coalesce(sz.clean_us, p.clean_us) as clean_us,
        -- how long a loop may have gone on unseen; the open last span of steps that are logged at their begin holds that already
        case when o.was_open then 0 else coalesce(p.stride, 1) * coalesce(sz.clean_us, p.clean_us) end as unseen_us,
        greatest(t.progress_us, coalesce(q.tail_us, t.progress_us)) as tail_us,
    from ledger.progress as t
    left join (select run_id, attempt, bool_or(was_open) as was_open from ledger.closed_spans group by all) as o using (run_id, attempt)
    left join tails as q using (run_id, attempt)
    left join exits as x using (run_id, attempt)
    left join targets as g using (run_id, attempt)
    left join watchdogs as w using (run_id, attempt)
    left join detections as d using (run_id, attempt)
    left join firsts as f using (run_id, attempt)
    left join parts as pt using (run_id, attempt)
    left join first_tellings as ft
        on ft.run_id = f.run_id and ft.attempt = f.attempt and ft.fallen_us = f.ts_us and f.cause = 'gpu_fell_off_bus'
    left join sharers as h on h.run_id = f.run_id and h.attempt = f.attempt and h.signal_id = f.signal_id
    left join runners_up as u using (run_id, attempt)
    left join later as l using (run_id)
    left join ledger.pace as p using (run_id)
    left join ledger.attempt_pace as sz using (run_id, attempt)
),

caused as (
    select
        *,
        case
            when completed and data_exhausted then 'data_exhausted'
            when completed then 'completed'
            when signal_id is not null and weight = 'cause' and not explained_by_state then signal_cause
            when state = 'TIMEOUT' or state = 'DEADLINE' then 'time_limit'
            when state = 'PREEMPTED' then 'preemption'
            when state in ('NODE_FAIL', 'BOOT_FAIL') then 'node_failure'
            when state = 'OUT_OF_MEMORY' then 'host_out_of_memory'
            when state in ('CANCELLED', 'REVOKED') and (signal_id is null or weight = 'symptom' or explained_by_state) then 'operator_stop'
            -- a requeue kills processes: that they were killed says no more, unless a task had failed before
            when state = 'REQUEUED' and (signal_id is null or killed_by_requeue or beside) then 'requeue'
            when signal_id is not null and not empty_symptom and not (beside and open) then signal_cause
            when is_last and not coalesce(from_accounting, false) then 'in_progress'
            when open then 'in_progress'
            when state = 'FAILED' then 'exit_code'
            else 'unknown'
        end as cause,
        case
            when completed then says_done
            else signal_id is not null and (
                (weight = 'cause' and not explained_by_state) or (state is null and not empty_symptom)
                or state not in ('TIMEOUT', 'DEADLINE', 'PREEMPTED', 'NODE_FAIL', 'BOOT_FAIL', 'OUT_OF_MEMORY', 'CANCELLED', 'REVOKED', 'REQUEUED')
                and not empty_symptom and not (beside and open)
                or (state = 'REQUEUED' and not killed_by_requeue and not beside)
            )
        end as by_line,
    from judged
),

-- a person's stop at the time of declared maintenance is that maintenance: the first entry that it falls into
entries as (
    select
        c.run_id,
        c.attempt,
        arg_min(m, (m.start_ts, m.end_ts)) as entry,
    from caused as c
    inner join config.maintenance as m
        -- where a state alone tells of the stop, no line dates it
        on coalesce(case when c.by_line then c.signal_us end, c.exit_us, c.release_us)
            between epoch_us(m.start_ts) - 60000000 and epoch_us(m.end_ts)
    where c.cause = 'operator_stop'
    group by all
),

declared as (
    select
        c.* exclude (cause),
        case when n.entry is not null then 'maintenance' else c.cause end as cause,
        n.entry.start_ts as maintenance_start_ts,
        n.entry.end_ts as maintenance_end_ts,
        n.entry.declared_ts as maintenance_declared_ts,
        n.entry.declared_until_ts as maintenance_declared_until_ts,
    from caused as c
    left join entries as n using (run_id, attempt)
),

kinds as (
    select
        c.*,
        s.domain,
        case
            when c.cause in ('completed', 'data_exhausted') and c.completed then 'completed'
            when c.cause = 'in_progress' then 'ongoing'
            when c.cause = 'unknown' then 'unknown'
            when s.kind in ('planned', 'preemption', 'completed') then s.kind
            else 'unplanned'
        end as kind,
    from declared as c
    left join seeds.causes as s on s.code = c.cause
),

-- when it stood still, and when somebody noticed
timed as (
    select
        *,
        case
            when kind in ('completed', 'ongoing') then null
            -- a line that says when it began
            when by_line and since_us is not null then greatest(since_us, coalesce(allocated_us, 0), case when has_steps then progress_us else 0 end)
            -- who waited since before the line had noticed already
            when by_line and signal_us is not null and coalesce(waited_us, 0) = 0 then
                greatest(least(signal_us, stalled_us), coalesce(allocated_us, 0))
            -- others begin to wait for a rank about when an error without a time ends it
            when stalled_us is not null then stalled_us
            when by_line and signal_us is not null then signal_us - waited_us
            -- an undated line is older than the next dated one of its log
            when dating_exit_us is not null then
                greatest(least(dating_exit_us, case when by_line and own and signal_us is null and next_us >= progress_us then next_us else dating_exit_us end), progress_us)
            -- so is one that was stopped after it had failed
            when kind = 'unplanned' and by_line and own and signal_us is null and next_us between progress_us and planned_us then next_us
            when planned_us is not null then planned_us
            -- a job that somebody stopped ends when the scheduler says
            when kind in ('planned', 'preemption') and by_line and job_end_us >= progress_us then job_end_us
            -- the scheduler ends a job at the time that it writes down
            when not by_line and state in ('TIMEOUT', 'DEADLINE', 'PREEMPTED', 'CANCELLED', 'REVOKED') and from_accounting
                then release_us
        end as told_fault_us,
    from kinds
),

-- a fault lies inside its attempt, whatever other clocks say; before the start of its processes nobody waited for anybody
bounded as (
    select
        *,
        case
            when told_fault_us is not null then
                greatest(
                    least(told_fault_us, release_us),
                    -- a start of which only the end is told began before its first line, when the last one had gone
                    case
                        when start_untold then
                            least(begin_us, greatest(begin_us - 600000000, coalesce(lag(last_evidence_us) over w, begin_us)))
                        else begin_us
                    end,
                    case when told_fault_us = stalled_us and not start_estimated then process_us end
                )
        end as fault_us,
    from timed
    window w as (partition by run_id, holding order by attempt)
),

-- an error before the fault cannot have told of it
first_errors as (
    select
        t.run_id,
        t.attempt,
        min(e.ts_us) as error_us,
    from bounded as t
    inner join ledger.evidence as e using (run_id, attempt)
    where (e.own or e.told_by_scheduler) and e.severity in ('error', 'critical') and e.ts_us >= t.fault_us
    group by all
),

detected as (
    select
        t.*,
        e.error_us,
        case
            when kind in ('completed', 'ongoing') then null
            when fault_us is null then null
            when by_line and (own or told_by_scheduler) and signal_us is not null and coalesce(waited_us, 0) = 0 then greatest(signal_us, fault_us)
            else coalesce(
                -- an exit that is told in whole seconds may seem to come before the fault
                case
                    when error_us is not null then
                        least(error_us, case when first_exit_us >= fault_us - 1000000 then greatest(first_exit_us, fault_us) end)
                end,
                case when seen_us >= fault_us then seen_us end,
                case when first_exit_us >= fault_us - 1000000 then greatest(first_exit_us, fault_us) end,
                case when exit_us >= fault_us then exit_us end,
                -- by another clock the end was told before the fault: nobody waited until the release to notice
                case when first_exit_us is not null then fault_us end,
                -- of an attempt that nobody saw, nobody knows who noticed when, unless the scheduler itself ended it
                case when observed or fault_us = release_us then greatest(release_us, fault_us) end
            )
        end as detected_raw_us,
        not (by_line and (own or told_by_scheduler) and signal_us is not null and coalesce(waited_us, 0) = 0)
            and fault_us < release_us
            and coalesce(error_us, first_exit_us, case when seen_us >= fault_us then seen_us end, case when exit_us >= fault_us then exit_us end) is null
            as noticed_by_release,
    from bounded as t
    left join first_errors as e using (run_id, attempt)
),

-- the loop stops at the fault; a stall found by a watchdog is lost work for one log interval at most
stopped as (
    select
        *,
        case
            when kind in ('completed', 'ongoing') then
                case when has_steps then progress_us else coalesce(exit_us, loop_end_us, release_us) end
            when fault_us is null and not observed then null
            when fault_us is null and has_steps then least(release_us, tail_us + coalesce(unseen_us, 0) // 2)
            -- a start that failed was alive at the last time that its log tells before the line; of a log that tells no time at the last of all
            when fault_us is null then
                least(
                    release_us,
                    greatest(progress_us, case when by_line and own and coalesce(near_us, next_us) is not null then near_us else last_evidence_us end)
                )
            when stalled_us is not null and fault_us = stalled_us and has_steps then
                least(greatest(tail_us, fault_us), tail_us + coalesce(unseen_us, greatest(fault_us - tail_us, 0)))
            -- a loop that goes on prints its next line: where it is overdue, the loop stood still
            when has_steps and fault_us > tail_us + unseen_us then
                least(tail_us + unseen_us, release_us)
            -- a start of which only its end is told was over when it failed
            when not has_steps and start_estimated then fault_us
            -- a trainer that was told to stop goes on until it has saved
            when kind in ('planned', 'preemption') then greatest(progress_us, least(greatest(fault_us, tail_us), release_us))
            else greatest(progress_us, least(fault_us, release_us))
        end as stop_us,
    from detected
),

-- a stop is no fault, nor is the end of a process that of what stopped it: a loop that was overdue by then had stood still
-- since its next line was due, and who stopped it was the first to notice
stood_still as (
    select
        *,
        coalesce(
            has_steps and stop_us < fault_us and fault_us is distinct from stalled_us
                and (kind in ('planned', 'preemption') or by_line and own and signal_us is null and since_us is null),
            false
        ) as since_overdue,
    from stopped
)

select
    * exclude (told_fault_us, detected_raw_us, noticed_by_release, explained_by_state, since_overdue)
    -- where no line of a fault decides, what the first of them stands for comes second
    replace (
        case when since_overdue then stop_us else fault_us end as fault_us,
        case
            when completed or not by_line then
                coalesce(case when signal_id <> 'traceback_header' then nullif(signal_cause, cause) end, nullif(runner_up_cause, cause))
            else runner_up_cause
        end as runner_up_cause
    ),
    -- when processes were up, at the latest
    case when start_estimated and not has_steps then least(process_us, stop_us) else process_us end as up_us,
    case
        when observed or kind in ('completed', 'ongoing') or detected_raw_us is not null then
            greatest(stop_us, least(coalesce(detected_raw_us, stop_us), release_us))
    end as detected_us,
    -- a line without a time was written before the next one that has one: how long before, nothing tells, unless the line
    -- before it has a time as well
    fault_us is not null
        and (
            (
                not coalesce(follows_dated and near_us >= fault_us - 1000000, false)
                and (
                    coalesce(
                        by_line and own and signal_us is null and since_us is null and stalled_us is null
                            and (dating_exit_us is not null or kind = 'unplanned' and planned_us is not null),
                        false
                    )
                    -- others waited from then on: by then it had happened
                    or coalesce(
                        fault_us = stalled_us and coalesce(waited_us, 0) = 0
                            and coalesce(since_us is null and signal_us > fault_us + 1000000, true),
                        false
                    )
                )
            )
            -- told of a time at which the attempt had not begun
            or told_fault_us < fault_us - 60000000
            or since_overdue
        )
        as fault_estimated,
    -- the fault bears no time, or no line tells of it, so that it was noticed at the release at the latest
    kind not in ('completed', 'ongoing') and coalesce(detected_raw_us is null or noticed_by_release, true) as detected_estimated,
    fault_us is null and kind not in ('completed', 'ongoing') as undated,
    launch_no is not null and not has_steps and case
        when not trainer_unseen then true
        -- an output without a word of a trainer: it ended by an error of its own, and nobody had waited for anybody before
        else not errors_alone and kind = 'unplanned' and by_line and own and stalled_us is null
    end as stepless,
    not has_steps and (not observed or trainer_unseen) as unseen,
from stood_still
