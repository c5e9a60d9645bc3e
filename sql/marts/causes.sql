-- one row per cause of incidents over the period, and one per category of loss that no incident brought about
-- rows add up exactly to capacity less productive time; count events and GPU-hours are different orders of the same list
-- cause: code of the taxonomy, or category:<category>
-- events: interruptions in the period, completed and ongoing attempts left out; null for a category
-- downtime_gpu_s: what the incidents cost beside lost work; 0 for a category
-- planned_gpu_s: the part of gpu_s that was planned, and is no loss; in GPU-seconds
-- cumulative_share: share of all lost GPU-time in this row and those above it
-- charged_to: who pays for most of it
with

denominator as (
    select capacity_gpu_s - planned_gpu_s as gpu_s
    from marts.period
    where run_id = '(all)'
),

losses as (
    select
        w.gpu_us,
        w.category,
        w.layer,
        w.charged_to,
        i.incident_id,
        w.mark || coalesce(i.mark, '') as marks,
        coalesce(i.cause, 'category:' || w.category) as cause,
        i.owner,
    from ledger.window_intervals as w
    -- what a clean end costs is the category's: nobody interrupted anything
    left join ledger.incidents as i on i.incident_id = w.incident_id and i.kind not in ('completed', 'ongoing')
    where w.part <> 'spare' and w.layer <> 'productive'
),

-- an interruption counts in the period in which it happened, its cost where the time was lost
events as (
    select
        i.cause,
        count(*) filter (
            where i.kind not in ('completed', 'ongoing') and p.period_start <= i.at_ts and i.at_ts < p.period_end
        ) as events,
    from ledger.incidents as i
    cross join marts.period as p
    where p.run_id = '(all)'
    group by i.cause
),

sums as (
    select
        cause,
        sum(gpu_us) as gpu_us,
        coalesce(sum(gpu_us) filter (where category = 'lost_work'), 0) as lost_work_gpu_us,
        coalesce(sum(gpu_us) filter (where layer = 'planned'), 0) as planned_gpu_us,
        max(category) as category,
        bool_or(incident_id is not null) as by_incident,
        string_agg(marks, '' order by marks) as marks,
    from losses
    group by cause
),

payers as (
    select cause, charged_to, layer, sum(gpu_us) as gpu_us
    from losses
    group by all
),

owners as (
    select cause, owner, sum(gpu_us) as gpu_us
    from losses
    where owner is not null
    group by all
),

main_payers as (
    select
        cause,
        arg_max(charged_to, (gpu_us, charged_to)) as charged_to,
        arg_max(layer, (gpu_us, layer)) as layer,
    from payers
    group by cause
),

main_owners as (
    select cause, arg_max(owner, (gpu_us, owner)) as owner
    from owners
    group by cause
),

-- who owns most causes of a layer answers for time of that layer that no incident brought about
layer_owners as (
    select layer, arg_max(owner, (causes, owner)) as owner
    from (select layer, owner, count(*) as causes from seeds.causes where layer <> 'unknown' group by all)
    group by layer
),

named as (
    select
        s.cause,
        coalesce(c.title, k.title, s.cause) as title,
        c.domain,
        coalesce(c.layer, p.layer) as layer,
        coalesce(o.owner, c.owner, t.team, w.owner, 'nobody yet') as owner,
        p.charged_to,
        case when s.by_incident then coalesce(e.events, 0) end as events,
        s.lost_work_gpu_us,
        s.gpu_us - s.lost_work_gpu_us as downtime_gpu_us,
        s.planned_gpu_us,
        s.by_incident,
        s.gpu_us,
        coalesce(c.first_action, nullif(k.first_action, '')) as first_action,
        concat(
            case when contains(s.marks, '†') then '†' end,
            case when contains(s.marks, '‡') then '‡' end,
            case when contains(s.marks, '§') then '§' end,
            case when contains(s.marks, '¶') then '¶' end
        ) as mark,
    from sums as s
    left join seeds.causes as c on c.code = s.cause
    left join seeds.categories as k on not s.by_incident and k.category = s.category
    left join main_payers as p using (cause)
    left join main_owners as o using (cause)
    left join events as e using (cause)
    left join config.owners as t on not s.by_incident and t.key = p.layer
    left join layer_owners as w on not s.by_incident and w.layer = p.layer
),

final as (
    select
        n.cause,
        n.title,
        n.domain,
        n.layer,
        n.owner,
        n.charged_to,
        n.events,
        n.lost_work_gpu_us / 1e6 as lost_work_gpu_s,
        case when n.by_incident then n.downtime_gpu_us else 0 end / 1e6 as downtime_gpu_s,
        n.gpu_us,
        n.gpu_us / 1e6 as gpu_s,
        n.planned_gpu_us / 1e6 as planned_gpu_s,
        n.gpu_us / 1e6 / nullif(d.gpu_s, 0) as share,
        sum(n.gpu_us) over (order by n.gpu_us desc, n.cause rows unbounded preceding)
            / nullif(sum(n.gpu_us) over (), 0) as cumulative_share,
        n.first_action,
        n.mark,
    from named as n
    cross join denominator as d
)

select * from final
order by gpu_us desc, cause
