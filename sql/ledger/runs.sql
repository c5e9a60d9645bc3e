-- one row per run: its size, its life, and what is known of it
-- do not add lives or gpus of runs as capacity: see marts.goodput
with

-- a run of which no line carries a time has ends and no life
known as (
    select run_id from ledger.lives
    union
    select run_id from ledger.timeline
),

attempts as (
    select
        run_id,
        count(*) as attempts,
        bool_or(observed or launch_no is not null) as observed,
        min(first_step) as first_step,
        max(last_step) as last_step,
    from ledger.progress
    group by run_id
),

last_ends as (
    select run_id, arg_max(kind, attempt) = 'ongoing' as ongoing
    from ledger.ends
    group by run_id
),

survivors as (
    select run_id, max(least(survives_to, last_step)) as last_surviving_step
    from ledger.survival
    where survives_to is not null
    group by run_id
),

formats as (
    select run_id, string_agg(distinct format, ', ' order by format) as formats
    from ledger.closed_spans
    group by run_id
),

names as (
    select run_id, count(distinct detail) as names
    from staging.placed
    where kind = 'phase' and name = 'process_start'
        and format in (select format from events.formats where start_names_run)
    group by run_id
),

backs as (
    select
        v.run_id,
        bool_or(v.restored_source = 'first step' and v.first_step <= l.max_step) as went_back_silently,
    from ledger.survival as v
    cross join lateral (
        select max(o.last_step) as max_step from ledger.survival as o
        where o.run_id = v.run_id and o.attempt < v.attempt
    ) as l
    where l.max_step is not null
    group by v.run_id
),

-- the attempt from which a restored step came shows no line of it
gaps as (
    select run_id, bool_or(next_restored_step > survives_to) as lines_missing
    from (
        select
            run_id,
            survives_to,
            lead(restored_step) over (partition by run_id, training order by attempt) as next_restored_step,
        from ledger.survival
        where survives_to is not null
    )
    group by run_id
),

-- a training that was done, and then the same name from the first step
reused as (
    select v.run_id, bool_or(v.training > o.training) as told_apart
    from ledger.survival as v
    inner join ledger.survival as o on o.run_id = v.run_id and o.attempt < v.attempt
    inner join ledger.ends as e on e.run_id = o.run_id and e.attempt = o.attempt
    where e.kind = 'completed' and v.restored_step < o.first_step
    group by v.run_id
),

-- another size and a cold start: the ledger takes it for a start from scratch
resized as (
    select distinct v.run_id
    from ledger.survival as v
    inner join ledger.attempts as a on a.run_id = v.run_id and a.attempt = v.attempt
    inner join ledger.attempts as o on o.run_id = v.run_id and o.attempt < v.attempt and o.gpus <> a.gpus
    left join config.runs as c on c.run_id = v.run_id
    where v.restored_source = 'cold start' and o.last_step is not null and c.restart is null
),

clocks as (
    select run_id
    from staging.launches
    group by run_id
    having sum(backward_stamps) > 0
),

undated as (
    select run_id, bool_or(not stamped) as laid_out, bool_or(is_block) as in_blocks
    from ledger.closed_spans
    group by run_id
),

waits as (
    select distinct p.run_id
    from staging.placed as p
    inner join ledger.timeline as t using (run_id, launch_no)
    inner join ledger.progress as g on g.run_id = p.run_id and g.attempt = t.attempt
    where p.kind = 'phase' and p.name = 'data_wait' and p.detail is distinct from 'blocking'
        and epoch_us(p.ts) > g.first_step_us
)

select
    base.run_id,
    l.gpus,
    l.gpus_source,
    l.gpu_model,
    d.peak_flops as peak_flops_per_gpu,
    d.peak_source,
    make_timestamptz(l.start_us) as life_start_ts,
    make_timestamptz(l.end_us) as life_end_ts,
    l.start_source as life_start_source,
    l.end_source as life_end_source,
    coalesce(e.ongoing, false) as ongoing,
    a.attempts,
    a.first_step,
    a.last_step,
    s.last_surviving_step,
    p.clean_step_s,
    p.stride as log_stride,
    f.formats,
    coalesce(a.observed, false) as observed,
    list_filter(
        [
            case when l.run_id is null then 'no line of it carries a time: nothing can be counted' end,
            case when n.names > 1 then 'the logs name ' || n.names || ' runs' end,
            case
                when r.told_apart then 'several runs share this name: after a last step it starts from the first one, and neither overwrites the other'
                when r.run_id is not null then 'two runs may share this name: after a clean end it starts from the first step'
            end,
            case when z.run_id is not null then 'attempts of different sizes start from scratch: they may be runs of their own (see restart in goodput.toml)' end,
            case when b.went_back_silently then 'the step counter goes back without a load line' end,
            case when m.lines_missing then 'step lines are missing before a restored step' end,
            case when k.run_id is not null then 'stamps go back by more than a minute while steps go on: a clock was set, and its times cannot be trusted' end,
            case when u.laid_out then 'step lines carry no time: laid end to end from the nearest dated line' end,
            case when u.in_blocks then 'no step lines: progress is counted in blocks of training' end,
            case when w.run_id is not null then 'loads of data inside the loop cannot be told from loads beside it: they stay productive' end,
            case when l.gpus_source like 'not known%' then 'the number of accelerators is not known: one is counted' end,
            case when not coalesce(a.observed, false) then 'no trainer log: held time is unobserved' end,
        ],
        lambda x: x is not null
    ) as flags,
from known as base
left join ledger.lives as l using (run_id)
left join attempts as a using (run_id)
left join last_ends as e using (run_id)
left join survivors as s using (run_id)
left join ledger.pace as p using (run_id)
left join formats as f using (run_id)
left join names as n using (run_id)
left join backs as b using (run_id)
left join gaps as m using (run_id)
left join undated as u using (run_id)
left join waits as w using (run_id)
left join reused as r using (run_id)
left join resized as z using (run_id)
left join clocks as k using (run_id)
left join ledger.device_peaks as d using (run_id)
