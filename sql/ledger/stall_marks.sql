-- one row per step span before which unstamped lines tell of a save or an evaluation, with what timers say of it
-- do not sum: durations are null where no timer was printed
with

save_ends_untold as (
    select format
    from events.formats
    where save_end_untold
),

-- a save that goes on in the background ends beside the steps: the line that says so marks no stall
in_background as (
    select distinct run_id, launch_no, step
    from staging.placed
    where kind = 'save' and edge = 'blocked' and step is not null
),

unstamped as (
    select
        p.run_id,
        t.attempt,
        p.log_no,
        p.rank,
        p.ord,
        p.source_id,
        p.line,
        coalesce(p.format in (select format from events.formats where results_per_node), false) as results_per_node,
        case when p.kind = 'save' or p.name = 'save-checkpoint' then 'save' else 'eval' end as what,
        p.kind = 'timer' as is_timer,
        case when p.kind = 'timer' then (p.duration_s * 1000000)::bigint end as timer_us,
        p.step,
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    left join in_background as b on b.run_id = p.run_id and b.launch_no = p.launch_no and b.step = p.step
    -- a program that never prints when a save is over stamps its begin alone: how long it took has to be worked out
    where (
            p.kind = 'save' and (p.ts is null or (p.edge = 'begin' and p.format in (from save_ends_untold)))
            and (p.edge in ('begin', 'blocked') or (p.edge = 'end' and b.run_id is null))
        )
        or (p.kind = 'phase' and p.name = 'eval' and p.ts is null and p.edge in ('point', 'begin'))
        or (p.kind = 'timer' and p.name in ('save-checkpoint', 'evaluate'))
),

spans as (
    select
        *,
        lead(step_first) over w as next_step_first,
        lead(attempt) over w as next_attempt,
    from ledger.spans
    where log_no in (select log_no from unstamped)
    window w as (partition by log_no, run_id order by ord)
),

-- the step line that comes next tells where the stall lies; after the last one of its attempt it belongs to the tail.
-- a step line that tells of a stall itself stands behind it.
-- lines of several ranks may overtake each other: what is told of a step comes after it, even where its line does not
placed as (
    select
        u.*,
        case
            when n.ord = u.ord then n.step_first
            when n.run_id is distinct from u.run_id or n.attempt is distinct from u.attempt then null
            when n.step_last > u.step or u.step is null then n.step_first
            when n.next_attempt = u.attempt then n.next_step_first
        end as span_step,
    from unstamped as u
    asof left join spans as n
        on u.log_no = n.log_no and u.ord <= n.ord
),

-- a log without step lines of its own repeats what another log of the attempt tells: nothing says where
tellers as (
    select distinct run_id, attempt, log_no
    from ledger.spans
),

told as (
    select p.*
    from placed as p
    inner join tellers as t using (run_id, attempt, log_no)
),

-- where each node prints the result of the same evaluation, and none says which node it is, their times differ by little
checked as (
    select *
    from told
    window w as (partition by run_id, attempt, span_step, what, log_no, rank, is_timer order by timer_us)
    qualify not is_timer or not results_per_node
        or coalesce(timer_us - lag(timer_us) over w > 0.02 * timer_us, true)
),

-- where saves or evaluations carry stamps the timers only repeat them
stamped as (
    select distinct
        run_id,
        attempt,
        case when category = 'evaluation' then 'eval' else 'save' end as what,
    from ledger.known_stalls
    where category in ('checkpoint_stall', 'evaluation')
),

-- a rank may repeat what another one of the same label told
by_rank as (
    select
        c.run_id,
        c.attempt,
        c.span_step,
        c.what,
        c.log_no,
        c.rank,
        count(*) filter (where not c.is_timer) as lines,
        sum(distinct c.timer_us)::bigint as timer_us,
        max(c.step) as step,
        min(c.ord) as ord,
        arg_min(c.source_id, c.ord) as source_id,
        arg_min(c.line, c.ord) as line,
    from checked as c
    anti join stamped as s using (run_id, attempt, what)
    group by all
),

-- several ranks or logs that tell of the same stall tell of one
grouped as (
    select
        run_id,
        attempt,
        span_step,
        what,
        max(lines) as lines,
        max(timer_us) as timer_us,
        max(step) as step,
        arg_min(source_id, (ord, source_id)) as source_id,
        arg_min(line, (ord, source_id)) as line,
    from by_rank
    group by all
)

select * from grouped
