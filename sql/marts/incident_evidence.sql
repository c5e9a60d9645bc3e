-- one row per incident, kind of line and host: the lines that speak of its end, of which one is shown
-- do not count as faults: a crash prints the same line on every rank, and most lines only follow from another
-- place_in_time: order of the rows of an incident, from 1; lines without a time stand where the lines beside them do
-- role: what the line is to the incident: cause (it decided), runner_up, evidence (it was weighed), last_step, exit (the program's own word), scheduler
-- ts: when the line was written; null where it carries no time
-- near_ts: the time of the line, else of the lines beside it
-- rank: rank that printed the line shown, where it tells
-- rows: lines of this kind on this host, with those that were only counted
-- counted_rows: of rows, those past the 1,000 of a signal in a file: they were counted, and whose they are is not known
-- files: files that hold them
-- ranks: ranks that printed them; 0 where the lines do not tell
-- last_ts: time of the last of them; null where none carries a time
with

incidents as (
    select i.*, e.kind as kind_by_evidence, e.signal_id, e.by_line, e.state, e.state_by, e.holding
    from ledger.incidents as i
    inner join ledger.ends as e on e.run_id = i.run_id and e.attempt = i.attempt
),

lines as (
    select
        i.incident_id,
        e.* exclude (host),
        coalesce(e.host, '') as host,
        coalesce(
            -- of a verdict no line decides, but one decided what the logs alone say
            i.by_line and i.kind_by_evidence <> 'completed' and e.signal_id = i.signal_id
                and e.source_id = i.evidence_source_id and e.line = i.evidence_line,
            false
        ) as decides,
        e.cause is not distinct from i.runner_up_cause as of_runner_up,
        e.cause = 'collective_timeout' or e.causal_rank >= 6 as waited_for_others,
    from ledger.evidence as e
    inner join incidents as i on i.run_id = e.run_id and i.attempt = e.attempt
),

-- of the runner-up the line that speaks most for it: a cause before a symptom and the head of a traceback, then the
-- deepest, then the earliest
numbered as (
    select
        *,
        row_number() over (
            partition by incident_id, of_runner_up
            order by
                weight, signal_id = 'traceback_header', waited_for_others, not placed_after_progress, causal_rank,
                near_us nulls last, log_no, ord, line
        ) as place_of_cause,
    from lines
),

roles as (
    select
        *,
        case when decides then 'cause' when of_runner_up and place_of_cause = 1 then 'runner_up' else 'evidence' end as role,
    from numbered
),

-- the line that is shown is the one that decided, else the first
shown as (
    select
        *,
        (sum(coalesce(repeats, 1)) over same)::bigint as rows,
        (sum(greatest(coalesce(repeats, 1) - 1, 0)) over same)::bigint as counted_rows,
        max(ts_us) over same as last_us,
        row_number() over (
            same order by role = 'evidence', role, near_us nulls last, log_no, ord, line
        ) as place_in_kind,
        min(role) over same as kind_role,
    from roles
    window same as (partition by incident_id, signal_id, host)
),

spread as (
    select
        incident_id,
        signal_id,
        host,
        count(distinct source_id) as files,
    from lines
    group by all
),

told as (
    select
        s.incident_id,
        s.role,
        s.signal_id,
        s.cause,
        s.weight,
        s.causal_rank,
        s.planned,
        s.in_doubt,
        s.own,
        s.told_by_scheduler,
        s.placed_after_progress,
        s.ts_us,
        s.near_us,
        s.waited_us,
        nullif(s.host, '') as host,
        s.gpu,
        s.fault_rank,
        s.source_id,
        s.path,
        s.line,
        s.text,
        s.rows,
        s.counted_rows,
        d.files,
        s.last_us,
        s.ord,
    from shown as s
    inner join spread as d on d.incident_id = s.incident_id and d.signal_id = s.signal_id and d.host = s.host
    where s.place_in_kind = 1
),

last_steps as (
    select
        i.incident_id,
        arg_max(c.source_id, (c.end_us, c.step_last)) as source_id,
        arg_max(c.line, (c.end_us, c.step_last)) as line,
        arg_max(c.ord, (c.end_us, c.step_last)) as ord,
        max(c.end_us) as ts_us,
        max(c.step_last) as step_last,
        bool_or(c.stamped) as stamped,
    from incidents as i
    inner join ledger.closed_spans as c on c.run_id = i.run_id and c.attempt = i.attempt
    where c.line is not null
    group by all
),

landmarks as (
    select
        l.incident_id,
        'last_step' as role,
        case when l.stamped then l.ts_us end as ts_us,
        l.ts_us as near_us,
        l.source_id,
        s.path,
        l.line,
        'the last line of a step: step ' || l.step_last as text,
        l.ord,
    from last_steps as l
    inner join staging.sources as s using (source_id)
    union all by name
    select
        i.incident_id,
        'exit' as role,
        e.exit_line_us as ts_us,
        coalesce(e.exit_line_us, e.exit_us, e.release_us) as near_us,
        e.exit_source_id as source_id,
        e.exit_path as path,
        e.exit_line as line,
        'the program''s own word of its end' as text,
    from incidents as i
    inner join ledger.ends as e on e.run_id = i.run_id and e.attempt = i.attempt
    where e.exit_line is not null
    union all by name
    select
        i.incident_id,
        'scheduler' as role,
        h.end_us as ts_us,
        h.end_us as near_us,
        h.source_id,
        s.path,
        h.line,
        concat('the scheduler''s state: ', i.state, ' by ' || i.state_by) as text,
    from incidents as i
    inner join ledger.holdings as h on h.run_id = i.run_id and h.holding = i.holding
    inner join staging.sources as s on s.source_id = h.source_id
    where i.state is not null and h.from_accounting
),

-- a line that is weighed as evidence is not told twice
united as (
    select * from told
    union all by name
    select
        m.*,
        1 as rows,
        0 as counted_rows,
        1 as files,
        m.ts_us as last_us,
    from landmarks as m
    where not exists (
        select 1 from told as t
        where t.incident_id = m.incident_id and t.source_id = m.source_id and t.line = m.line
    )
),

ranks as (
    select
        p.source_id,
        p.line,
        min(p.rank) as rank,
    from staging.stream as p
    where p.kind = 'signal' and p.rank is not null
    group by all
),

counted_ranks as (
    select
        l.incident_id,
        l.signal_id,
        l.host,
        count(distinct r.rank) as ranks,
    from lines as l
    inner join ranks as r on r.source_id = l.source_id and r.line = l.line
    group by all
),

final as (
    select
        u.incident_id,
        row_number() over (
            partition by u.incident_id
            order by
                -- a step line without a clock comes before all that tells of an end
                coalesce(u.role = 'last_step' and u.ts_us is null, false) desc,
                -- what has no clock was printed before the end was noticed, and the scheduler writes last;
                -- within one second the order of a log tells more than its clock
                coalesce(u.near_us, e.detected_us, e.release_us, 9000000000000000) // 1000000,
                u.role = 'scheduler', u.path, u.line, u.role
        ) as place_in_time,
        u.role,
        u.signal_id,
        u.cause,
        u.weight,
        u.causal_rank,
        u.planned,
        u.in_doubt,
        u.own,
        u.told_by_scheduler,
        u.placed_after_progress,
        make_timestamptz(u.ts_us) as ts,
        make_timestamptz(u.near_us) as near_ts,
        u.waited_us,
        u.host,
        u.gpu,
        r.rank,
        u.fault_rank,
        u.source_id,
        u.path,
        u.line,
        u.text,
        u.rows,
        u.counted_rows,
        u.files,
        coalesce(k.ranks, 0) as ranks,
        make_timestamptz(u.last_us) as last_ts,
    from united as u
    inner join ledger.incidents as i using (incident_id)
    inner join ledger.ends as e on e.run_id = i.run_id and e.attempt = i.attempt
    left join ranks as r on r.source_id = u.source_id and r.line = u.line
    left join counted_ranks as k
        on k.incident_id = u.incident_id and k.signal_id = u.signal_id and k.host = coalesce(u.host, '')
)

select * from final
order by incident_id, place_in_time
