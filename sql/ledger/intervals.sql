-- one row per stretch of a run's life and part: what its accelerators were occupied with, decided once
-- sum gpu_us or gpu_s, never seconds over parts: the active part tiles time, all parts together tile accelerator time
with

-- accelerators held, and trained on, at each moment
changes as (
    select run_id, start_us as at_us, held_gpus as held, active_gpus as active, 1 as open from ledger.widths
    union all
    select run_id, end_us as at_us, -held_gpus as held, -active_gpus as active, -1 as open from ledger.widths
),

steps as (
    select
        run_id,
        at_us,
        sum(coalesce(held, 0))::bigint as held,
        sum(coalesce(active, 0))::bigint as active,
        sum(open)::bigint as open,
    from changes
    group by all
),

widths as (
    select
        run_id,
        at_us,
        sum(held) over w as held_gpus,
        sum(active) over w as active_gpus,
        sum(open) over w as holdings,
    from steps
    window w as (partition by run_id order by at_us rows unbounded preceding)
),

sized as (
    select
        s.*,
        l.gpus as nominal_gpus,
        case when coalesce(w.holdings, 0) > 0 then coalesce(nullif(w.held_gpus, 0), l.gpus) end::bigint as held_gpus,
        -- where nothing is held, all of the run waits
        case when w.held_gpus > 0 then least(w.active_gpus, l.gpus) else l.gpus end::bigint as active_gpus,
    from ledger.segments as s
    inner join ledger.lives as l using (run_id)
    asof left join widths as w on s.run_id = w.run_id and s.start_us >= w.at_us
),

-- neighbours that say the same are one interval
marked as (
    select
        *,
        coalesce(
            category is not distinct from lag(category) over w
            and was is not distinct from lag(was) over w
            and attempt is not distinct from lag(attempt) over w
            and incident_id is not distinct from lag(incident_id) over w
            and held_gpus is not distinct from lag(held_gpus) over w
            and active_gpus = lag(active_gpus) over w
            and start_us = lag(end_us) over w,
            false
        ) as joins,
    from sized
    window w as (partition by run_id order by start_us)
),

grouped as (
    select
        *,
        count_if(not joins) over (partition by run_id order by start_us rows unbounded preceding) as stretch,
    from marked
),

stretches as (
    select
        run_id,
        any_value(attempt) as attempt,
        min(start_us) as start_us,
        max(end_us) as end_us,
        any_value(category) as category,
        arg_min(precedence, start_us) as precedence,
        any_value(was) as was,
        any_value(incident_id) as incident_id,
        any_value(nominal_gpus) as nominal_gpus,
        any_value(held_gpus) as held_gpus,
        any_value(active_gpus) as active_gpus,
        max(mark) as mark,
    from grouped
    group by run_id, stretch
),

-- the first evidence of a stretch is the line of the claim that was in force when it began
evidence as (
    select
        run_id,
        precedence,
        coalesce(attempt, 0) as attempt_key,
        coalesce(incident_id, '') as incident_key,
        start_us,
        arg_min(source_id, (coalesce(source_id, ''), coalesce(line, 0))) as source_id,
        arg_min(line, (coalesce(source_id, ''), coalesce(line, 0))) as line,
    from ledger.claims
    group by all
),

claimed as (
    select
        s.*,
        e.source_id,
        e.line,
    from stretches as s
    asof left join evidence as e
        on s.run_id = e.run_id and s.precedence = e.precedence
        and coalesce(s.attempt, 0) = e.attempt_key and coalesce(s.incident_id, '') = e.incident_key
        and s.start_us >= e.start_us
),

-- one claim stands for many steps: the line of a piece is the one of the step that was under way, which no step of no
-- length ever was
under_way as (
    select
        c.run_id,
        c.attempt,
        c.start_us,
        p.step_first,
    from claimed as c
    inner join ledger.timeline as t using (run_id, attempt)
    asof inner join (select attempt_key, start_us, step_first from ledger.closed_spans where end_us > start_us) as p
        on t.attempt_key = p.attempt_key and c.start_us >= p.start_us
    where c.category = 'productive'
),

stepped as (
    select
        u.run_id,
        u.start_us,
        s.source_id,
        s.line,
    from under_way as u
    inner join ledger.closed_spans as s using (run_id, attempt, step_first)
),

proved as (
    select
        c.* exclude (source_id, line),
        coalesce(p.source_id, c.source_id) as source_id,
        coalesce(p.line, c.line) as line,
    from claimed as c
    left join stepped as p using (run_id, start_us)
),

-- ends inside an allocation that took accelerators away
taken as (
    select
        p.run_id,
        p.start_us,
        f.incident_id as taken_by,
        f.held,
        f.gpus,
    from proved as p
    inner join ledger.shortfalls as f
        on f.run_id = p.run_id and p.start_us >= f.start_us and p.start_us < f.end_us
    where p.active_gpus < p.nominal_gpus
),

taken_sums as (
    select
        run_id,
        start_us,
        sum(gpus) filter (where held) as held_gpus,
        sum(gpus) filter (where not held) as gone_gpus,
    from taken
    group by all
),

-- what else is missing was never given, or goes on after the end of another allocation that it may stem from
missing as (
    select
        p.*,
        t.taken_by,
        t.held,
        t.gpus as part_gpus,
    from proved as p
    inner join taken as t using (run_id, start_us)
    union all by name
    select
        p.*,
        null::varchar as taken_by,
        false as held,
        p.nominal_gpus - greatest(p.held_gpus, p.active_gpus) - coalesce(s.gone_gpus, 0) as part_gpus,
    from proved as p
    left join taken_sums as s using (run_id, start_us)
    union all by name
    select
        p.*,
        null::varchar as taken_by,
        true as held,
        least(p.held_gpus, p.nominal_gpus) - p.active_gpus - coalesce(s.held_gpus, 0) as part_gpus,
    from proved as p
    left join taken_sums as s using (run_id, start_us)
),

parts as (
    select
        * exclude (held_gpus, active_gpus),
        'active' as part,
        category as part_category,
        held_gpus is not null as held,
        active_gpus as part_gpus,
        incident_id as paid_by,
    from proved
    union all by name
    select
        * exclude (held_gpus, active_gpus, taken_by),
        'missing' as part,
        'capacity_missing' as part_category,
        taken_by as paid_by,
    from missing
    where part_gpus > 0
    union all by name
    select
        * exclude (held_gpus, active_gpus),
        'spare' as part,
        'spare_held' as part_category,
        true as held,
        held_gpus - nominal_gpus as part_gpus,
        null::varchar as paid_by,
    from proved
    where held_gpus > nominal_gpus
),

policies as (
    select key, value from config.policy where key in (select category from seeds.categories)
),

charged as (
    select
        p.run_id,
        p.attempt,
        p.part,
        make_timestamptz(p.start_us) as start_ts,
        make_timestamptz(p.end_us) as end_ts,
        (p.end_us - p.start_us) / 1e6 as seconds,
        p.part_gpus::bigint as gpus,
        (p.end_us - p.start_us)::hugeint * p.part_gpus as gpu_us,
        p.part_category as category,
        case when p.part = 'active' then p.was end as was,
        coalesce(y.value, c.layer) as layer,
        p.paid_by as incident_id,
        p.mark,
        p.held,
        p.source_id,
        p.line,
        p.start_us,
        p.end_us,
    from parts as p
    inner join seeds.categories as c on c.category = p.part_category
    left join policies as y on y.key = p.part_category
)

select
    c.run_id,
    c.attempt,
    c.part,
    c.start_ts,
    c.end_ts,
    c.seconds,
    c.gpus,
    c.gpu_us,
    c.gpu_us / 1e6 as gpu_s,
    c.category,
    c.was,
    c.layer,
    -- who pays follows the cause of the end that brought it about, else the category
    -- a limit is planned, and what was not saved before it is the program's
    case
        when c.category = 'lost_work' and p.cause = 'time_limit' then 'program'
        when p.kind = 'completed' then c.layer
        else coalesce(p.charged_to, c.layer)
    end as charged_to,
    c.incident_id,
    c.mark,
    c.held,
    c.source_id,
    c.line,
    c.start_us,
    c.end_us,
from charged as c
left join ledger.payers as p on p.incident_id = c.incident_id
