-- one row per span in which a run held accelerators: an allocation of accounting, or what a job's own lines show
-- do not add gpus over rows of one run that overlap: check `allocations_of_a_run_overlap` names them
with

world_sizes as (
    select distinct s.run_id, w.log_no, w.gpus
    from staging.world_sizes as w
    inner join staging.sources as s using (log_no)
),

run_world_sizes as (
    select run_id, max(gpus) as gpus
    from world_sizes
    where run_id is not null
    group by run_id
),

launch_sizes as (
    select
        a.run_id,
        a.job_key,
        a.launch_no,
        min(a.attempt_start_ts) as start_ts,
        max(w.gpus) as gpus,
    from staging.attempts as a
    left join staging.launch_sizes as w using (log_no, launch)
    group by all
),

-- a launch that says nothing is as wide as the one before it in its job, else the one after it
known_sizes as (
    select
        run_id,
        job_key,
        launch_no,
        start_ts,
        coalesce(
            last_value(gpus ignore nulls) over (w rows unbounded preceding),
            first_value(gpus ignore nulls) over (w rows between current row and unbounded following)
        ) as gpus,
    from launch_sizes
    window w as (partition by run_id, job_key order by launch_no)
),

-- a scheduler that takes a job off its nodes ends the allocation: what the job launches later, once requeued, has another one
taken as (
    select distinct run_id, launch_no, regexp_extract(detail, '\*\*\* JOB (\d+)', 1) as job_key
    from staging.placed
    where kind = 'signal'
        and regexp_matches(detail, '\*\*\* JOB \d+ ON \S+ CANCELLED AT \S+ DUE TO (PREEMPTION|TIME LIMIT|NODE FAILURE|JOB REQUEUE)')
),

-- launches of one job at one width, one behind the other: where the width changes, another allocation began
widths as (
    select
        *,
        count_if(changed) over (partition by run_id, job_key order by launch_no rows unbounded preceding) as width_no,
        count_if(requeued) over (partition by run_id, job_key order by launch_no rows unbounded preceding) as restart,
    from (
        select
            *,
            coalesce(lag(t.launch_no is not null) over w, false) as requeued,
            requeued or coalesce(k.gpus <> lag(k.gpus) over w, false) as changed,
        from known_sizes as k
        left join taken as t using (run_id, launch_no, job_key)
        window w as (partition by run_id, job_key order by launch_no)
    )
),

-- logs that name no job share the key of those written beside them
log_keys as (
    select log_no, min(job_key) as job_key
    from staging.attempts
    group by log_no
    having count(distinct job_key) = 1
),

-- where several jobs wrote one log, each line is of the job of its launch
launch_keys as (
    select log_no, launch_no, any_value(job_key) as job_key
    from staging.attempts
    group by all
    having count(distinct job_key) = 1
),

-- what each job of a run printed, first and last
printed as (
    select
        p.run_id,
        coalesce(s.job_id, k.job_key, y.job_key, s.log) as job_key,
        s.job_id,
        coalesce(z.width_no, 0) as width_no,
        max(z.gpus) as gpus,
        max(z.restart) as restart,
        epoch_us(min(p.ts)) as start_us,
        epoch_us(max(p.ts)) as end_us,
        p.log_no,
        p.source_id,
        arg_min(p.line, (p.ts, p.line)) as line,
    from staging.placed as p
    inner join staging.sources as s using (source_id)
    left join log_keys as k on k.log_no = p.log_no
    left join launch_keys as y on y.log_no = p.log_no and y.launch_no = p.launch_no
    left join widths as z on z.run_id = p.run_id and z.launch_no = p.launch_no
    where p.ts is not null
    group by all
    union all
    select
        a.run_id,
        a.job_key,
        a.job_id,
        z.width_no,
        z.gpus,
        z.restart,
        epoch_us(a.start_ts) as start_us,
        epoch_us(a.end_ts) as end_us,
        a.log_no,
        a.source_id,
        a.first_line as line,
    from staging.attempts as a
    inner join widths as z using (run_id, launch_no)
    where a.start_ts is not null
),

evidence as (
    select
        p.run_id,
        p.job_key,
        p.width_no,
        min(p.job_id) as job_id,
        coalesce(max(p.restart), 0) as restart,
        min(p.start_us) as start_us,
        max(p.end_us) as end_us,
        coalesce(max(p.gpus), max(w.gpus)) as gpus,
        arg_min(p.source_id, (p.start_us, p.source_id, p.line)) as source_id,
        arg_min(p.line, (p.start_us, p.source_id, p.line)) as line,
    from printed as p
    left join world_sizes as w using (run_id, log_no)
    group by all
),

undated_steps as (
    select run_id from staging.step_lines group by run_id having count(ts) = 0
),

last_evidence as (
    select run_id, max(end_us) as end_us
    from evidence
    group by run_id
),

tracking as (
    select source_id, bool_or(gpus is not null) as tracked
    from staging.allocations
    group by source_id
),

last_starts as (
    select run_id, max(start_ts) as last_start_ts
    from staging.allocations
    group by run_id
),

accounting as (
    select
        a.run_id,
        a.observed,
        a.job_id,
        a.restart,
        true as from_accounting,
        epoch_us(a.submit_ts) as submit_us,
        epoch_us(a.eligible_ts) as eligible_us,
        epoch_us(a.start_ts) as start_us,
        coalesce(
            epoch_us(a.end_ts),
            -- steps without a stamp go on after the last stamp: until the export the job ran
            case when u.run_id is not null then
                greatest(epoch_us(a.start_ts) + (a.elapsed_s * 1000000)::bigint, coalesce(l.end_us, 0))
            end,
            -- what names no job tells of the last one as well; what a requeued job said of its earlier ends is no sign of life
            (
                select max(e.end_us) from evidence as e
                where e.run_id = a.run_id and e.end_us > epoch_us(a.start_ts)
                    and (e.job_id = a.job_id or (e.job_id is null and a.start_ts = s.last_start_ts))
            ),
            case when l.end_us > epoch_us(a.start_ts) then l.end_us end,
            epoch_us(a.start_ts) + (a.elapsed_s * 1000000)::bigint
        ) as end_us,
        a.end_ts is null as open,
        coalesce(
            a.gpus,
            (
                select max(z.gpus) from widths as z
                where z.run_id = a.run_id and z.start_ts >= a.start_ts - interval 60 second
                    and (a.end_ts is null or z.start_ts <= a.end_ts)
            ),
            r.gpus
        ) as gpus,
        a.state,
        a.state_by,
        a.exit_code,
        a.exit_signal,
        a.reason,
        a.nodes,
        a.cluster,
        a.resized,
        a.source_id,
        a.line,
    from staging.allocations as a
    left join run_world_sizes as r using (run_id)
    left join last_evidence as l using (run_id)
    left join last_starts as s using (run_id)
    left join undated_steps as u using (run_id)
    left join tracking as t using (source_id)
    where a.start_ts is not null
        -- a job without accelerators is no run of ours; where others of the same export name theirs, silence means none
        and a.gpus is distinct from 0
        and (a.gpus is not null or a.observed or not coalesce(t.tracked, false))
),

-- an allocation that was resized is held from the first of its sizes to the last, and ends as the last one does
chained as (
    select
        *,
        count_if(not coalesce(resized, false)) over (
            partition by run_id, cluster, job_id order by start_us, submit_us, source_id, line rows unbounded preceding
        ) as chain,
    from accounting
),

whole as (
    select
        run_id,
        job_id,
        cluster,
        true as from_accounting,
        bool_or(observed) as observed,
        min(restart) as restart,
        arg_min_null(submit_us, start_us) as submit_us,
        arg_min_null(eligible_us, start_us) as eligible_us,
        min(start_us) as start_us,
        max(end_us) as end_us,
        bool_or(open) as open,
        max(gpus) as gpus,
        arg_max_null(state, start_us) as state,
        arg_max_null(state_by, start_us) as state_by,
        arg_max_null(exit_code, start_us) as exit_code,
        arg_max_null(exit_signal, start_us) as exit_signal,
        arg_max_null(reason, start_us) as reason,
        list_distinct(flatten(list(nodes order by start_us))) as nodes,
        arg_min(source_id, start_us) as source_id,
        arg_min(line, start_us) as line,
    from chained
    group by run_id, job_id, cluster, chain
),

-- a job that accounting does not know, told by its own lines
inferred as (
    select
        e.run_id,
        true as observed,
        e.job_id,
        e.restart::bigint as restart,
        false as from_accounting,
        null::bigint as submit_us,
        null::bigint as eligible_us,
        e.start_us,
        e.end_us,
        false as open,
        coalesce(e.gpus, r.gpus) as gpus,
        null::varchar as state,
        null::varchar as state_by,
        null::bigint as exit_code,
        null::bigint as exit_signal,
        null::varchar as reason,
        null::varchar[] as nodes,
        null::varchar as cluster,
        e.source_id,
        e.line,
    from evidence as e
    left join run_world_sizes as r using (run_id)
    -- lines about a node hold nothing: only what launched processes does
    where exists (select 1 from staging.attempts as t where t.run_id = e.run_id and t.job_key = e.job_key)
    and not exists (
        select 1 from accounting as a
        where a.run_id = e.run_id
            and (
                a.job_id = e.job_id
                or (
                    (e.job_id is null or e.job_id not in (select job_id from accounting))
                    and a.start_us <= e.end_us and a.end_us >= e.start_us
                )
            )
    )
),

united as (
    from whole
    union all by name
    from inferred
),

-- configuration may give the run's size; bounds of its life cut what is held
bounded as (
    select
        u.* exclude (start_us, end_us, gpus),
        greatest(u.start_us, coalesce(epoch_us(c.start_ts), u.start_us)) as start_us,
        least(u.end_us, coalesce(epoch_us(c.end_ts), u.end_us)) as end_us,
        u.end_us as released_us,
        coalesce(u.gpus, c.gpus) as gpus,
    from united as u
    left join config.runs as c using (run_id)
),

numbered as (
    select
        *,
        row_number() over (partition by run_id order by start_us, job_id, restart, source_id, line)::integer as holding,
    from bounded
    where end_us > start_us or not from_accounting
)

select * from numbered
