-- one row per run, window and definition of goodput in use: its value by that definition, from the same ledger
-- add numerators and denominators over windows and runs, then divide; never add or average values
-- value: numerator / denominator; null where the denominator is zero
-- numerator_gpu_s: time that the definition calls good; in GPU-seconds
-- denominator_gpu_s: time that the definition divides by; in GPU-seconds
-- reason: why there is no value
with

windows as (
    select distinct run_id, window_start, window_end
    from marts.goodput
),

-- lists of classes: of the numerator, taken off it, and of the denominator
lists as (
    select
        definition,
        weighs,
        string_split(good_classes, ' ') as good,
        string_split(coalesce(taken_off_classes, ''), ' ') as taken_off,
        string_split(all_classes, ' ') as whole,
    from seeds.definitions
    where all_classes is not null
),

weighed as (
    select
        w.run_id,
        w.window_start,
        w.window_end,
        d.definition,
        case when d.weighs = 'clock' then c.clock_gpu_us else c.gpu_us end as gpu_us,
        list_contains(d.good, c.class) as is_good,
        list_contains(d.taken_off, c.class) as is_taken_off,
        list_contains(d.whole, c.class) as is_whole,
    from windows as w
    cross join lists as d
    left join marts.time_classes as c using (run_id, window_start, window_end)
),

linear as (
    select
        run_id,
        window_start,
        window_end,
        definition,
        coalesce(sum(gpu_us) filter (where is_good), 0) - coalesce(sum(gpu_us) filter (where is_taken_off), 0) as numerator_gpu_us,
        coalesce(sum(gpu_us) filter (where is_whole), 0) as denominator_gpu_us,
    from weighed
    group by all
),

-- the figures of this ledger stand among them, so that they can be compared
own as (
    select
        g.run_id,
        g.window_start,
        g.window_end,
        unnest([
            {'definition': 'training_time_goodput', 'good': productive_gpu_s, 'whole': capacity_gpu_s - planned_gpu_s},
            {'definition': 'productive_share', 'good': productive_gpu_s, 'whole': capacity_gpu_s},
            {
                'definition': 'g_infra',
                'good': capacity_gpu_s - planned_gpu_s - unknown_gpu_s - infrastructure_gpu_s,
                'whole': capacity_gpu_s - planned_gpu_s - unknown_gpu_s
            },
            {
                'definition': 'g_framework',
                'good': productive_gpu_s,
                'whole': capacity_gpu_s - planned_gpu_s - unknown_gpu_s - infrastructure_gpu_s
            },
            {'definition': 'program_goodput', 'good': productive_gpu_s * g_model, 'whole': productive_gpu_s}
        ]) as figure,
        g.g_model_reason,
    from marts.goodput as g
),

-- the hour in which least was done
hours as (
    select
        w.run_id,
        w.window_start,
        w.window_end,
        min(h.good_gpu_s) as good_gpu_s,
        any_value(h.hour_gpu_s) as hour_gpu_s,
    from windows as w
    left join marts.sliding_ettr as h
        on h.run_id = w.run_id and h.hour_end_ts > w.window_start and h.hour_end_ts <= w.window_end
    group by all
),

united as (
    select
        run_id,
        window_start,
        window_end,
        definition,
        numerator_gpu_us / 1e6 as numerator_gpu_s,
        denominator_gpu_us / 1e6 as denominator_gpu_s,
        case when denominator_gpu_us = 0 then 'nothing in this window is in its denominator' end as reason,
    from linear
    union all by name
    select
        run_id,
        window_start,
        window_end,
        figure.definition as definition,
        figure.good as numerator_gpu_s,
        figure.whole as denominator_gpu_s,
        case
            when figure.whole = 0 then 'nothing in this window is in its denominator'
            when figure.good is null then g_model_reason
        end as reason,
    from own
    union all by name
    select
        run_id,
        window_start,
        window_end,
        'sliding_ettr_least' as definition,
        good_gpu_s as numerator_gpu_s,
        hour_gpu_s as denominator_gpu_s,
        case when hour_gpu_s is null then 'no whole hour of the run ends in this window' end as reason,
    from hours
),

final as (
    select
        u.run_id,
        u.window_start,
        u.window_end,
        u.definition,
        d.title,
        d.defined_by,
        u.numerator_gpu_s / nullif(u.denominator_gpu_s, 0) as value,
        u.numerator_gpu_s,
        u.denominator_gpu_s,
        u.reason,
    from united as u
    inner join seeds.definitions as d using (definition)
)

select * from final
order by run_id, window_start, definition
