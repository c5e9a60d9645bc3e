-- one row per run and configuration: what one of its steps takes where nothing disturbs it
-- do not average over configurations: their steps differ in work
-- batch: tokens of a step, else samples; null where lines do not tell one batch
-- batch_tokens: tokens of a step, where they are the batch
-- seq_length: tokens of a sequence
-- reference_step_s: median of the clean spans at its fastest level that lasted; in seconds
-- reference_reason: how it was found
-- spans: clean spans of the configuration
-- levels: levels of pace of the configuration
-- margin: by what share levels of this configuration have to differ to be told from jitter
with

-- a level has to last: eight spans, and one in twenty of the configuration
ranked as (
    select
        *,
        sum(spans) over w as all_spans,
        count(*) over w as levels,
        spans >= greatest(8, 0.05 * sum(spans) over w) or count(*) over w = 1 as lasts,
    from ledger.step_levels
    window w as (partition by run_id, gpus, batch)
),

fastest as (
    select
        run_id,
        gpus,
        batch,
        any_value(all_spans) as spans,
        any_value(levels) as levels,
        any_value(margin) as margin,
        coalesce(min(step_us) filter (where lasts), min(step_us)) as fastest_us,
    from ranked
    group by all
),

-- levels that jitter cannot tell from the fastest are one
fast_levels as materialized (
    select l.*
    from ledger.step_levels as l
    inner join fastest as f
        on f.run_id = l.run_id and f.gpus is not distinct from l.gpus and f.batch is not distinct from l.batch
    where l.step_us between f.fastest_us and f.fastest_us * (1 + f.margin)
),

taken as (
    select
        s.run_id,
        s.gpus,
        s.batch,
        any_value(s.batch_tokens) as batch_tokens,
        any_value(s.seq_length) as seq_length,
        median(s.step_us) as reference_us,
        count(*) as taken_spans,
    from ledger.paced_spans as s
    inner join fast_levels as l
        on l.run_id = s.run_id
        and l.gpus is not distinct from s.gpus
        and l.batch is not distinct from s.batch
        and s.place between l.place_first and l.place_last
    where s.clean
    group by all
)

select
    t.run_id,
    t.gpus,
    t.batch,
    t.batch_tokens,
    t.seq_length,
    t.reference_us / 1e6 as reference_step_s,
    case
        when f.spans < 8 then format('median of {} clean step lines, too few for levels', f.spans)
        when f.levels = 1 or t.taken_spans = f.spans then format('median of {} clean step lines, all at one level', f.spans)
        else format(
            'fastest of {} levels that lasted: median of {} of {} clean step lines', f.levels, t.taken_spans, f.spans
        )
    end as reference_reason,
    f.spans,
    f.levels,
    f.margin,
from taken as t
inner join fastest as f
    on f.run_id = t.run_id and f.gpus is not distinct from t.gpus and f.batch is not distinct from t.batch
