-- one row per attempt and line that may say why the attempt ended
-- do not count as faults: a crash prints the same line on every rank
with

-- a launcher that gives up raises an exception too: its traceback tells of no exception in the program
launcher_tracebacks as (
    select source_id, line, segment
    from (
        select
            e.source_id,
            e.line,
            e.segment,
            e.signal_id,
            lead(e.signal_id) over (
                partition by s.log_no order by s.lines_before + e.line, e.segment
            ) as next_signal_id,
        from events.signals as e
        inner join staging.sources as s using (source_id)
        where e.signal_id in (
            select signal_id from seeds.signals
            where source = 'python' and weight <> 'noise' or signal_id in ('elastic_childfailed_exc', 'elastic_signal_exception')
        )
    )
    where signal_id = 'traceback_header' and next_signal_id like 'elastic_%'
),

-- whose iterator it was that had no more to give, the innermost frame tells: a frame of a loader with the line of code that
-- raised the exception and its underline, or the line of code that asked for the next one and its underline
spent_data as (
    select source_id, line, segment
    from (
        select
            source_id,
            line,
            segment,
            signal_id,
            lag(signal_id) over w as above_id,
            line - lag(line) over w as lines_above,
        from events.signals
        where signal_id in ('traceback_header', 'py_stop_iteration', 'py_frame_of_loader', 'py_frame_of_next_data', 'py_call_of_data_iterator')
        window w as (partition by source_id, rank order by line, segment)
    )
    where signal_id = 'py_stop_iteration'
        -- below a frame with its code there is no room for another one
        and lines_above <= case
            when above_id in ('py_frame_of_loader', 'py_frame_of_next_data') then 3
            when above_id = 'py_call_of_data_iterator' then 2
        end
),

-- a server that is back within seconds did nothing, nor did a link unless somebody's retries ran out (below); nor did a node
-- that answers before it is set down, which happens `SlurmdTimeout` after it was heard last, 300 seconds if nobody changed it
closers as (
    select
        signal_id as opened_by,
        cleared_by as closed_by,
        case when source = 'slurm' then 300000000 else 25000000 end as within_us,
        source = 'slurm' as by_scheduler,
    from seeds.signals
    where cleared_by is not null
),

told as (
    select
        e.source_id,
        e.line,
        e.segment,
        e.signal_id,
        coalesce(e.device, '') as device,
        coalesce(t.host, '') as host,
        coalesce(e.node, '') as node,
        contains(e.text, 'setting DOWN') as is_down,
        epoch_us(t.ts) as ts_us,
    from events.signals as e
    inner join staging.stream as t
        on t.source_id = e.source_id and t.line = e.line and t.segment = e.segment and t.name = e.signal_id
    where t.kind = 'signal'
        and t.ts is not null
        and e.signal_id in (select opened_by from closers union select closed_by from closers)
),

restored as (
    select distinct o.source_id, o.line, o.segment
    from told as o
    inner join closers as p on p.opened_by = o.signal_id
    inner join told as c
        on c.signal_id = p.closed_by
        and c.device in (o.device, '')
        and c.ts_us between o.ts_us and o.ts_us + p.within_us
        -- a scheduler tells of nodes, whatever host it runs on
        and case when p.by_scheduler then split_part(c.node, '.', 1) = split_part(o.node, '.', 1) and o.node <> '' else c.host = o.host end
    -- who was set down has lost its jobs, and answers too late
    where not coalesce(o.is_down, false)
        and not exists (
            select 1 from told as d
            where d.is_down and d.signal_id = o.signal_id and d.node = o.node and d.ts_us between o.ts_us and c.ts_us
        )
),

-- memory that a service of the system used up in a group of its own is not the job's, nor is a process of another job that was killed
memory_groups as (
    select
        t.source_id,
        t.line,
        coalesce(t.host, '') as host,
        epoch_us(t.ts) as ts_us,
        contains(t.detail, 'constraint=CONSTRAINT_MEMCG')
            and regexp_matches(t.detail, 'task_memcg=/system\.slice/')
            and not regexp_matches(t.detail, 'task_memcg=\S*(job_|slurm|kube|docker|containerd|libpod|lsf|pbs)') as is_service,
        nullif(regexp_extract(t.detail, 'task_memcg=\S*?/job_(\d+)/', 1), '') as job_id,
    from staging.stream as t
    where t.kind = 'signal'
        and t.name = 'oom_constraint'
        and t.ts is not null
),

-- the allocator names each other process on the device and what it holds
held as (
    select
        source_id,
        line,
        segment,
        nullif(regexp_extract(text, 'has a total capacity of ([\d.]+) GiB', 1), '')::double as capacity_gib,
        list_sum(list_transform(
            regexp_extract_all(text, 'Process \d+ has ([\d.]+) GiB memory in use', 1),
            lambda x: x::double
        )) as others_gib,
    from events.signals
    -- in a container a process knows itself by another number than the driver does: what it holds is then told
    -- like that of any other, and nothing is told of «this process»
    where signal_id = 'cuda_oom' and contains(text, ' this process has ')
),

-- the block of a launcher names the rank and the host of the process that it saw fail
failures as (
    select e.source_id, e.line, e.segment, any_value(f.fault_rank) as fault_rank, any_value(f.host) as host
    from events.signals as e
    inner join staging.task_failures as f
        on f.source_id = e.source_id
        and f.task is not distinct from e.task
        and case
            when e.signal_id = 'elastic_child_failed' then f.pid = regexp_extract(e.text, '\(pid: (\d+)\)', 1)
            else e.line between f.line and f.last_line
        end
    where e.signal_id in ('elastic_child_failed', 'elastic_rc_exit', 'elastic_rc_signal', 'elastic_rc_killed')
    group by all
    having count(*) = 1
),

-- a line that points to an earlier one tells its cause, less directly than that one
pointed_to as (
    select
        regexp_extract(signal_id, '^xid_(\d+)_', 1) as xid,
        min(cause) as cause,
        min(causal_rank) + 1 as causal_rank,
    from seeds.signals
    where regexp_matches(signal_id, '^xid_\d+_') and weight = 'cause'
    group by all
),

-- events name the pod that they speak of
pods as (
    select substr(part, 5) as pod, min(job_id) as job_id
    from staging.job_parts
    where starts_with(part, 'pod/')
    group by all
    having count(distinct job_id) = 1
),

signals as (
    select
        e.source_id,
        e.line,
        e.segment,
        e.signal_id,
        coalesce(q.job_id, e.job_id) as job_id,
        -- NCCL tells of its own port and process; of what a peer did, it names the peer
        coalesce(
            e.node,
            fl.host,
            case
                when c.source = 'nccl' and c.cause not in ('network_other', 'peer_lost')
                    then nullif(regexp_extract(e.text, '([A-Za-z][\w.-]*):\d+:\d+ \[\d+\]', 1), '')
            end
        ) as node,
        -- an address is that of a GPU where the line speaks of a GPU, else that of a switch, an adapter or a port
        case
            when e.gpu is not null then e.gpu
            when regexp_matches(e.signal_id, '^(xid|nvrm|dcgm|amdgpu|amd)_') then e.pci
        end as gpu,
        case
            when regexp_matches(e.signal_id, '^(xid|nvrm|dcgm|amdgpu|amd)_') then e.device
            else coalesce(e.device, e.pci)
        end as device,
        e.waited_s,
        coalesce(e.fault_rank, fl.fault_rank) as fault_rank,
        fl.fault_rank is not null as names_failed_rank,
        e.task is not null and e.source_id in (from staging.agents) as of_agent,
        e.task,
        e.text,
        e.rank is not null as is_labelled,
        coalesce(x.uncaught, e.uncaught, false) as uncaught,
        e.repeats,
        -- memory that other processes hold is not the program's
        case
            when c.cause = 'gpu_out_of_memory' and held.others_gib * 2 >= held.capacity_gib then 'gpu_occupied'
            when sd.source_id is not null then 'ran_out_of_data'
            else coalesce(pt.cause, c.cause)
        end as cause,
        case when pt.xid is not null then 'cause' else c.weight end as weight,
        coalesce(pt.causal_rank, x.causal_rank, c.causal_rank) as causal_rank,
        x.why as in_doubt,
        c.severity,
        c.source in ('slurm', 'lsf', 'pbs', 'k8s') as by_scheduler,
        -- a kernel tells of what it sees at once; daemons, checks and schedulers ask now and then
        c.source = 'dmesg' as by_kernel,
        -- programs get over such errors every day
        c.source = 'python' or c.cause = 'gpu_out_of_memory' as can_pass,
        coalesce(c.planned, '') as planned,
        coalesce(c.benign_when, '') as benign_when,
        r.source_id is not null as restored,
    from events.signals as e
    inner join seeds.signals as c using (signal_id)
    left join pods as q on q.pod = e.job_id
    left join pointed_to as pt
        on e.signal_id = 'xid_45_with_previous' and pt.xid = regexp_extract(e.text, 'caused by previous Xid (\d+)', 1)
    left join held on held.source_id = e.source_id and held.line = e.line and held.segment = e.segment
    left join spent_data as sd on sd.source_id = e.source_id and sd.line = e.line and sd.segment = e.segment
    left join failures as fl on fl.source_id = e.source_id and fl.line = e.line and fl.segment = e.segment
    left join restored as r on r.source_id = e.source_id and r.line = e.line and r.segment = e.segment
    left join staging.handled_exceptions as x on x.source_id = e.source_id and x.line = e.line and x.segment = e.segment
    where c.weight in ('cause', 'symptom')
        -- what a program did not get over, and what may have ended it
        and coalesce(x.why in ('first_fault', 'raised_over'), true)
        and not exists (
            select 1 from launcher_tracebacks as l
            where l.source_id = e.source_id and l.line = e.line and l.segment = e.segment
        )
),

-- a line that carries its time in its text is dated by the phase it also is
text_times as (
    select source_id, line, max(epoch_us(ts)) as ts_us
    from staging.stream
    where kind = 'phase' and name in ('exit', 'job') and ts is not null
    group by all
),

-- what else a line says may name the rank
line_ranks as (
    select source_id, line, any_value(rank) as rank
    from staging.stream
    where kind = 'phase' and rank is not null
    group by all
    having count(distinct rank) = 1
),

last_lines as (
    select
        log_no,
        run_id,
        attempt,
        max(ord) as last_ord,
        arg_max(segment, ord) as last_segment,
        -- how long a step took that only begins is a guess
        max(start_us) filter (where was_open) as open_us,
    from ledger.closed_spans
    group by all
),

opened as (
    select run_id, attempt, max(open_us) as open_us
    from last_lines
    group by all
),

-- what a job prints before its trainer says a word is all that tells of an attempt that nobody saw
printed as (
    select p.*, m.attempt
    from staging.placed as p
    inner join ledger.timeline as m using (run_id, launch_no)
    where p.kind = 'signal'
    union all
    select p.*, m.attempt
    from staging.placed as p
    inner join staging.sources as f using (source_id)
    inner join ledger.timeline as m on m.run_id = p.run_id and m.job_id = f.job_id and not m.observed
    inner join ledger.holdings as h on h.run_id = m.run_id and h.holding = m.holding
    where p.kind = 'signal' and p.launch_no is null
        and (p.near_ts is null or epoch_us(p.near_ts) between h.start_us - 60000000 and h.released_us + 300000000)
),

-- logs that tell of one attempt only
single_logs as (
    select run_id, log_no
    from staging.placed
    where launch_no is not null
    group by all
    having count(distinct launch_no) = 1
),

own as (
    select
        t.run_id,
        t.attempt,
        s.*,
        coalesce(epoch_us(p.ts), x.ts_us) as ts_us,
        -- who had waited long speaks long after the line before
        coalesce(
            epoch_us(p.ts),
            x.ts_us,
            case when s.waited_s > 0 then epoch_us(p.next_ts) end,
            epoch_us(p.near_ts)
        ) as near_us,
        p.host,
        coalesce(p.rank, case when not s.of_agent then lr.rank end) as rank,
        p.log_no,
        p.ord,
        p.path,
        p.follows_dated,
        -- a process that an exception ended makes no step: the line came after the last one, dated or not
        s.uncaught and i.log_no is not null as ended_process,
        epoch_us(p.next_ts) as next_us,
        true as own,
        false as told_by_scheduler,
        -- tasks of an array have numbers of their own, and groups those of the kernel
        case when regexp_full_match(t.job_id, '\d+') then t.job_id end as of_job_id,
        t.progress_us,
        t.release_us,
        t.has_steps,
        l.last_ord,
        l.last_segment,
        coalesce(o.open_us, t.progress_us) as seen_us,
    from printed as p
    inner join ledger.progress as t using (run_id, attempt)
    inner join signals as s
        on s.source_id = p.source_id and s.line = p.line and s.segment = p.segment and s.signal_id = p.name
    left join text_times as x on x.source_id = p.source_id and x.line = p.line
    left join line_ranks as lr on lr.source_id = p.source_id and lr.line = p.line
    left join single_logs as i on i.run_id = p.run_id and i.log_no = p.log_no
    left join last_lines as l on l.log_no = p.log_no and l.run_id = t.run_id and l.attempt = t.attempt
    left join opened as o on o.run_id = t.run_id and o.attempt = t.attempt
),

-- while steps went on, nothing had ended
own_in_reach as (
    select *
    from own
    where not has_steps
        or case
            when ts_us is not null then ts_us >= seen_us - 2000000
            when last_ord is not null then ord > last_ord or (ord = last_ord and segment > last_segment)
            else near_us is null or near_us >= seen_us - 120000000
        end
),

-- a list of hosts as Slurm writes it: gx[139-142,150]
listed as (
    select
        run_id,
        attempt,
        split_part(node, '[', 1) as stem,
        unnest(string_split(regexp_extract(node, '\[(.*)\]', 1), ',')) as span,
    from own
    where regexp_full_match(node, '[A-Za-z][\w.-]*\[\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*\]')
),

numbered as (
    select
        run_id,
        attempt,
        stem,
        length(split_part(span, '-', 1)) as width,
        unnest(generate_series(split_part(span, '-', 1)::bigint, split_part(span, '-', -1)::bigint))::varchar as number,
    from listed
),

-- where no source names the nodes of an attempt, those that its own lines name are nodes of it
named as (
    select run_id, attempt, list(distinct host) as hosts
    from (
        select run_id, attempt, split_part(node, '.', 1) as host from own where regexp_full_match(node, '[A-Za-z][\w.-]*')
        union all
        select run_id, attempt, concat(stem, lpad(number, greatest(width, length(number))::integer, '0'))
        from numbered
        union all
        select run_id, attempt, split_part(host, '.', 1) from own where host is not null
        union all
        select run_id, attempt, split_part(host, '.', 1) from ledger.rank_hosts
    )
    group by all
),

-- of an attempt that nobody saw begin the first line is the earliest that is known of its end, less what it says to have waited
untold as (
    select t.run_id, t.attempt, least(t.process_us, min(w.near_us - w.waited_us)) as since_us
    from ledger.progress as t
    left join (
        select run_id, attempt, near_us, (waited_s * 1000000)::bigint as waited_us
        from own
        where waited_s > 0
    ) as w using (run_id, attempt)
    where t.trainer_unseen and t.observed
    group by t.run_id, t.attempt, t.process_us
),

-- a scheduler misses a host only when it has asked in vain for some minutes: five by the default of `SlurmdTimeout` of Slurm
missed as (
    select run_id, attempt, list(distinct split_part(node, '.', 1)) as missed_hosts
    from own
    where cause = 'node_failure' and by_scheduler and node is not null
    group by all
),

holders as (
    select
        p.run_id,
        p.attempt,
        p.job_id,
        p.begin_us,
        p.progress_us,
        coalesce(o.open_us, greatest(u.since_us, p.progress_us), p.progress_us) as seen_us,
        p.release_us,
        p.has_steps,
        p.nodes is null as nodes_unknown,
        coalesce(list_transform(p.nodes, lambda x: split_part(x, '.', 1)), n.hosts) as hosts,
        p.next_start_us,
        -- its last line may carry whole seconds: what a kernel saw in that second was still there
        p.last_evidence_us + 1000000 as heard_until_us,
        -- a start of which only the end is told began before its first line, when the last one had gone
        case when p.start_untold then p.process_us - case when m.missed_hosts is null then 120000000 else 600000000 end end as earliest_us,
        case when p.start_untold then coalesce(m.missed_hosts, []) end as missed_hosts,
    from ledger.progress as p
    left join missed as m using (run_id, attempt)
    left join opened as o using (run_id, attempt)
    left join untold as u using (run_id, attempt)
    left join named as n using (run_id, attempt)
),

-- attempts of a run on one host, or under one job, take turns: a line belongs to the turn in which it appears
turns as (
    select
        h.* replace (
            case
                when lead(earliest_us) over w is null then next_start_us
                else least(next_start_us, greatest(heard_until_us, lead(earliest_us) over w))
            end as next_start_us
        ),
        case
            when earliest_us is null then lag(release_us) over w
            else least(lag(release_us) over w, greatest(lag(heard_until_us) over w, earliest_us))
        end as previous_release_us,
        lag(job_id) over w as previous_job_id,
        lag(hosts) over w as previous_hosts,
        lead(job_id) over w as next_job_id,
        lead(hosts) over w as next_hosts,
    from holders as h
    window w as (partition by run_id order by attempt)
),

-- output of a job may quote the kernel of a host that it did not hold: the host decides, and not the file
quoted as (
    select distinct source_id, line
    from staging.foreign_lines
    where names = 'host'
),

-- node and scheduler logs: on a node that the attempt held, or about its job, within reach
shared as (
    select
        t.run_id,
        t.attempt,
        s.*,
        epoch_us(p.ts) as ts_us,
        epoch_us(p.ts) as near_us,
        coalesce(s.node, p.host) as host,
        p.rank,
        p.log_no,
        p.ord,
        p.path,
        true as follows_dated,
        null::bigint as next_us,
        false as own,
        -- a scheduler that tells of an error of a job knows of it; a kernel tells nobody
        s.by_scheduler and s.job_id is not null and s.job_id = t.job_id as told_by_scheduler,
        case when regexp_full_match(t.job_id, '\d+') then t.job_id end as of_job_id,
        t.begin_us,
        t.progress_us,
        t.release_us,
        t.has_steps,
        null::bigint as last_ord,
        null::bigint as last_segment,
    from staging.stream as p
    inner join signals as s
        on s.source_id = p.source_id and s.line = p.line and s.segment = p.segment and s.signal_id = p.name
    inner join turns as t
        on epoch_us(p.ts) between t.seen_us - 600000000 and t.release_us + 300000000
    left join quoted as q on q.source_id = p.source_id and q.line = p.line
    where p.kind = 'signal'
        and (p.run_id is null or q.source_id is not null)
        and p.ts is not null
        and (
            epoch_us(p.ts) >= t.seen_us - 120000000
            or coalesce(list_contains(t.missed_hosts, split_part(coalesce(s.node, p.host), '.', 1)), false)
        )
        and (
            s.job_id = t.job_id
            or list_contains(t.hosts, split_part(coalesce(s.node, p.host), '.', 1))
            -- where no source names the nodes of the run, a node log in its folder is its own
            or (t.nodes_unknown and q.source_id is null and split_part(p.path, '/', 1) = t.run_id)
        )
        -- after its release, what names a job that is not known to be its own is about the next one
        and not (epoch_us(p.ts) > t.release_us and s.job_id is not null and s.job_id is distinct from t.job_id)
        -- what appears after the next attempt there has started did not end this one
        and not (
            epoch_us(p.ts) >= coalesce(t.next_start_us, 9000000000000000)
            and coalesce(
                case
                    when s.job_id is not null then s.job_id = t.next_job_id
                    else t.nodes_unknown or list_contains(t.next_hosts, split_part(coalesce(s.node, p.host), '.', 1))
                end,
                false
            )
        )
        -- and what appeared before the last one there had gone belongs to its end
        and not (
            epoch_us(p.ts) < coalesce(t.previous_release_us, 0)
            and coalesce(
                case
                    when s.job_id is not null then s.job_id = t.previous_job_id
                    else t.nodes_unknown or list_contains(t.previous_hosts, split_part(coalesce(s.node, p.host), '.', 1))
                end,
                false
            )
        )
),

-- so do runs that had a host one after the other
of_others as (
    select distinct s.run_id, s.attempt, s.source_id, s.line, s.segment
    from shared as s
    inner join turns as o
        on s.ts_us between o.begin_us and o.release_us
        and (o.begin_us >= s.release_us or o.release_us <= s.begin_us)
        and o.run_id <> s.run_id
        and not o.nodes_unknown
        and list_contains(o.hosts, split_part(s.host, '.', 1))
    where s.job_id is null and (s.ts_us < s.begin_us or s.ts_us > s.release_us)
),

united as (
    from own_in_reach
    union all by name
    from shared
    anti join of_others using (run_id, attempt, source_id, line, segment)
),

-- who is told to go has 30 s for it before it is killed, and the scheduler waits 60 s more for what is left of it: the
-- defaults of `KillWait` and `UnkillableStepTimeout` of Slurm
stopped as (
    select run_id, attempt, release_us - 90000000 as from_us, release_us
    from ledger.progress
    where state in ('CANCELLED', 'REVOKED', 'TIMEOUT', 'DEADLINE', 'PREEMPTED')
),

-- somebody gave up sending, or somebody killed
turning_points as (
    select
        run_id,
        attempt,
        coalesce(ts_us, near_us) as ts_us,
        starts_with(signal_id, 'nccl_ib_wc_error') or signal_id = 'nccl_ib_cqe_error' as gave_up,
        planned <> '' or cause in ('process_killed', 'requeue') as killed,
        false as took_down,
    from united
    where coalesce(ts_us, near_us) is not null
    union all
    -- a launcher that takes the ranks beside one that failed down
    select p.run_id, m.attempt, epoch_us(p.ts), false, false, true
    from staging.placed as p
    inner join ledger.timeline as m using (run_id, launch_no)
    where p.kind = 'phase' and p.name = 'exit' and p.detail = 'closing_others' and p.ts is not null
),

-- what looks like a fault and is none
counted as (
    select
        u.* replace (
            -- a process calls itself by its number within a group, which is none of the job unless the group is the default one
            case
                when u.rank is null and coalesce(regexp_extract(u.text, '\[PG (?:ID )?(\d+)', 1), '') in ('', '0')
                    or not (starts_with(u.signal_id, 'pgnccl_') or u.signal_id = 'nccl_aborted')
                    or u.signal_id in ('pgnccl_dump_signal', 'pgnccl_remote_error')
                    then u.fault_rank
            end as fault_rank
        ),
    from united as u
    where not (
            u.restored
            -- retries ran out over a link, and not on the way to a file server
            and not (
                u.cause = 'network_link'
                and exists (
                    select 1 from turning_points as k
                    where k.run_id = u.run_id and k.attempt = u.attempt and k.gave_up and k.ts_us between u.ts_us and u.ts_us + 120000000
                )
            )
        )
        -- a driver finds faults in a process that is being killed
        and not (
            u.benign_when = 'after_kill'
            and exists (
                select 1 from turning_points as k
                where k.run_id = u.run_id and k.attempt = u.attempt
                    and (k.killed and k.ts_us between u.ts_us - 30000000 and u.ts_us + 1000000 or k.took_down and k.ts_us between u.ts_us - 30000000 and u.ts_us)
            )
        )
        and not (
            u.benign_when = 'after_kill'
            and not u.own
            and exists (
                select 1 from stopped as k
                where k.run_id = u.run_id and k.attempt = u.attempt and u.ts_us between k.from_us and k.release_us
            )
            -- unless the program itself says that something was wrong
            and not exists (
                select 1 from united as o
                where o.run_id = u.run_id and o.attempt = u.attempt and o.own and o.weight = 'cause' and o.planned = ''
            )
        )
        and not (
            u.cause = 'host_out_of_memory'
            -- of the lines around, that about the group tells whose memory or process it was
            and coalesce((
                select bool_and(o.is_service or coalesce(o.job_id <> u.of_job_id, false))
                from memory_groups as o
                where o.host = coalesce(u.host, '')
                    and case
                        when u.signal_id = 'oom_constraint' then o.source_id = u.source_id and o.line = u.line
                        else o.ts_us between u.ts_us - 2000000 and u.ts_us + 2000000
                    end
            ), false)
        )
),

-- of an agent that saw one rank fail, what has no better label was printed by that one, and by its host whatever failed
agent_tasks as (
    select
        s.source_id as of_source_id,
        f.task as of_task,
        case when count(distinct f.fault_rank) = 1 then min(f.fault_rank) end as task_rank,
        case when count(distinct f.host) = 1 then min(f.host) end as task_host,
    from staging.task_failures as f
    inner join staging.sources as o using (source_id)
    inner join staging.sources as s
        on s.run_id = o.run_id and s.job_id is not distinct from o.job_id and (o.job_id is not null or s.log_no = o.log_no)
    where f.task is not null
    group by all
),

located as (
    select
        c.*,
        p.nodes,
        g.task_rank,
        -- who tells of a collective that timed out has waited for somebody else
        case
            when c.cause = 'collective_timeout' then c.node
            else coalesce(
                c.node,
                c.host,
                case
                    when c.own and c.weight = 'cause' and c.cause not in ('network_other', 'peer_lost') then coalesce(h.host, g.task_host)
                end
            )
        end as told_host,
    from counted as c
    left join ledger.progress as p on p.run_id = c.run_id and p.attempt = c.attempt
    left join ledger.rank_hosts as h on h.run_id = c.run_id and h.attempt = c.attempt and h.rank = coalesce(c.fault_rank, c.rank)
    left join agent_tasks as g on g.of_source_id = c.source_id and g.of_task = c.task and c.of_agent
),

-- launchers that tell of a task that failed
launchers as (
    select distinct run_id, attempt
    from counted
    where own
        and weight = 'symptom'
        and (
            signal_id in ('slurm_exit_code', 'elastic_child_failed', 'elastic_childfailed_exc')
            or starts_with(signal_id, 'slurm_task_')
            or starts_with(signal_id, 'elastic_rc_')
        )
),

-- where ranks have labels, what has none was printed by none of them
labelled as (
    select source_id, max(line) as last_line
    from staging.placed
    where rank is not null
    group by source_id
),

-- what is printed last, but for the few lines that a script has left to say
last_words as (
    select e.source_id, e.line, e.segment, e.signal_id
    from signals as e
    inner join events.sources as s using (source_id)
    left join labelled as l using (source_id)
    where e.line > s.lines - 5 and (e.is_labelled or coalesce(l.last_line < e.line, true))
)

select
    c.run_id,
    c.attempt,
    signal_id,
    cause,
    weight,
    causal_rank,
    severity,
    planned,
    in_doubt,
    ts_us,
    near_us,
    next_us,
    follows_dated,
    (waited_s * 1000000)::bigint as waited_us,
    -- whether the line is known to come after the last progress: by its time, by the last step line, by a dated line
    -- before it, or since it ended its process
    not has_steps or ts_us is not null or last_ord is not null or (follows_dated and near_us >= coalesce(seen_us, progress_us) - 2000000) or coalesce(ended_process, false) as placed_after_progress,
    -- an exit code of 0 is wrong where the script hid another one: a program's exception says so where it ended a process, where
    -- a launcher or the silence of the trainer says so too, or where nothing follows it
    case
        when not own then told_by_scheduler or ts_us <= release_us
        else not can_pass
            or uncaught
            or has_steps and placed_after_progress
            or exists (select 1 from launchers as n where n.run_id = c.run_id and n.attempt = c.attempt)
            or exists (
                select 1 from last_words as w
                where w.source_id = c.source_id and w.line = c.line and w.segment = c.segment and w.signal_id = c.signal_id
            )
    end as overrules_exit_code,
    -- the line itself may say when it began
    case
        when signal_id = 'slurmctld_unexpected_reboot' then nullif(regexp_extract(text, 'last response=(\d+)', 1), '')::bigint * 1000000
        when not own and waited_s > 0 then ts_us - (waited_s * 1000000)::bigint
    end as since_us,
    -- a host has the name that accounting has for it, whatever domain a line puts behind it
    case
        when list_contains(c.nodes, split_part(told_host, '.', 1)) then split_part(told_host, '.', 1)
        else told_host
    end as host,
    case when cause <> 'collective_timeout' then gpu end as gpu,
    device,
    c.fault_rank,
    case
        when own and names_failed_rank then c.fault_rank
        when own and (planned = '' and weight = 'cause') and cause <> 'collective_timeout' then
            coalesce(c.fault_rank, c.rank, c.task_rank)
    end as rank,
    case when own then coalesce(c.rank, case when weight = 'cause' then c.task_rank end) end as told_by_rank,
    case
        when cause = 'preemption' then nullif(coalesce(
            nullif(regexp_extract(text, 'reclaim resources for JobId=(\d+)', 1), ''),
            -- who is preempted for «a pod» is not told for which
            nullif(regexp_extract(text, 'Preempted by (?:pod )?([\w-]{2,}(?:[./][\w.-]+)*) on node', 1), ''),
            regexp_extract(text, 'Preempted to accommodate a workload \(UID: [\w-]+, JobUID: ([\w-]+)', 1)
        ), '')
    end as caused_by_job,
    repeats,
    own,
    coalesce(told_by_scheduler, false) as told_by_scheduler,
    not own and coalesce(by_kernel, false) as told_by_kernel,
    text,
    log_no,
    ord,
    source_id,
    path,
    line,
from located as c
