-- one row per host that was held, or that an incident names, in the twelve weeks before the end of the period
-- never compare events of two hosts without their host-days; expected events add up to events over the hosts held
-- events_1w: events in the last week
-- events_4w: events in the last four weeks
-- events: events in the last twelve weeks, as far as the records reach; see marts.host_incidents
-- host_days_1w: days for which a run held it in the last week
-- host_days_4w: days for which a run held it in the last four weeks
-- host_days: days for which a run held it in the last twelve weeks
-- expected_4w: events in four weeks under pure chance: those of all hosts, by host-days
-- expected: events in twelve weeks under pure chance
-- chance: probability of this many events or more under pure chance, in four or in twelve weeks, whichever is rarer, for this host alone
-- chance_adjusted: the same, when all hosts_looked_at and both spans are allowed for (Holm)
-- hosts_looked_at: hosts that were held and hence could have been called
-- is_repeat: two events or more, and chance_adjusted below 5 %: in a fleet of equal hosts, at most one fleet in twenty calls any of them
-- gpu_s: what its incidents cost, over all their time; in GPU-seconds
-- causes: causes of its events with their number, the most frequent first
-- parts: accelerators that were named twice or more
-- first_ts: first of its events
-- last_ts: last of its events
-- state: its last state in the logs of nodes
-- state_ts: when it was told
-- state_reason: the reason that was told with it
-- undefined_reason: why there is no expected count
with

period as (
    select
        max(w.window_end) as period_end,
        date_trunc('day', (select make_timestamptz(min(start_us)) from ledger.lives)) as records_start,
    from ledger.windows as w
),

spans as (
    select
        weeks,
        epoch_us(greatest(period_end - weeks * interval 7 day, least(records_start, period_end))) as start_us,
        epoch_us(period_end) as end_us,
        -- where the records reach back four weeks at most, both spans are one
        case when records_start >= period_end - interval 28 day then 1 else 2 end as tests,
    from period
    cross join (select unnest([1, 4, 12]) as weeks)
),

held as (
    select regexp_extract(host, '^[0-9.]+$|^[^.]+') as host, start_us, end_us
    from (
        select unnest(list_distinct(h.nodes)) as host, h.start_us, h.end_us
        from ledger.holdings as h
        where h.end_us > (select min(start_us) from spans) and h.start_us < (select max(end_us) from spans)
    )
),

-- two jobs may share a host: what another one held before counts once
pieces as (
    select
        host,
        greatest(
            start_us,
            coalesce(max(end_us) over (partition by host order by start_us, end_us rows between unbounded preceding and 1 preceding), start_us)
        ) as start_us,
        end_us,
    from held
),

exposures as (
    select
        i.host,
        s.weeks,
        sum(least(i.end_us, s.end_us) - greatest(i.start_us, s.start_us))::bigint as held_us,
    from pieces as i
    inner join spans as s on i.start_us < s.end_us and i.end_us > s.start_us
    where i.start_us < i.end_us
    group by all
),

events as (
    select
        h.host,
        s.weeks,
        count(*) as events,
    from marts.host_incidents as h
    inner join spans as s on epoch_us(h.at_ts) >= s.start_us and epoch_us(h.at_ts) < s.end_us
    where h.is_event
    group by all
),

known as (
    select host from exposures
    union
    select host from marts.host_incidents
),

counted as (
    select
        k.host,
        s.weeks,
        s.tests,
        coalesce(x.held_us, 0) as held_us,
        coalesce(e.events, 0) as events,
    from known as k
    cross join spans as s
    left join exposures as x on x.host = k.host and x.weeks = s.weeks
    left join events as e on e.host = k.host and e.weeks = s.weeks
),

-- events of hosts of which nobody knows how long they were held say nothing of a rate
shared as (
    select
        *,
        nullif(sum(held_us) over (partition by weeks), 0) as all_held_us,
        held_us / all_held_us as share,
        (sum(events) filter (where held_us > 0) over (partition by weeks))::bigint as all_events,
        count(*) filter (where held_us > 0) over (partition by weeks) as hosts_looked_at,
    from counted
),

-- Given all events of the fleet, those of one host are binomial with its share of the host-days: the rate need not be
-- known. Terms beyond twice the count and sixty more are too small to matter.
tails as (
    select
        *,
        case
            when held_us = 0 or weeks = 1 then null
            when events = 0 or share >= 1 then 1
            when events = 1 or events <= all_events * share then
                1 - list_sum(list_transform(range(0, events), lambda j:
                    exp(lgamma(all_events + 1) - lgamma(j + 1) - lgamma(all_events - j + 1) + j * ln(share) + (all_events - j) * ln(1 - share))))
            else
                list_sum(list_transform(range(events, least(all_events, 2 * events + 60) + 1), lambda j:
                    exp(lgamma(all_events + 1) - lgamma(j + 1) - lgamma(all_events - j + 1) + j * ln(share) + (all_events - j) * ln(1 - share))))
        end as tail,
    from shared
),

hosts as (
    select
        host,
        max(events) filter (where weeks = 1) as events_1w,
        max(events) filter (where weeks = 4) as events_4w,
        max(events) filter (where weeks = 12) as events,
        max(held_us) filter (where weeks = 1) / 8.64e10 as host_days_1w,
        max(held_us) filter (where weeks = 4) / 8.64e10 as host_days_4w,
        max(held_us) filter (where weeks = 12) / 8.64e10 as host_days,
        max(all_events * held_us / all_held_us) filter (where weeks = 4 and held_us > 0) as expected_4w,
        max(all_events * held_us / all_held_us) filter (where weeks = 12 and held_us > 0) as expected,
        max(hosts_looked_at) filter (where weeks = 12) as hosts_looked_at,
        least(1, any_value(tests) * min(tail) filter (where weeks in (4, 12))) as chance_of_both,
        min(tail) filter (where weeks in (4, 12)) as chance,
    from tails
    group by host
),

-- Holm: the rarest count is held against all hosts, the next one against one fewer
adjusted as (
    select
        *,
        least(1, max(chance_of_both * (hosts_looked_at - place + 1)) over (order by place rows unbounded preceding)) as chance_adjusted,
    from (select *, row_number() over (order by chance_of_both nulls last, host) as place from hosts)
),

causes as (
    select
        host,
        string_agg(title || case when events > 1 then ' ×' || events else '' end, ', ' order by events desc, title) as causes,
    from (
        select h.host, coalesce(c.title, h.cause) as title, count(*) as events
        from marts.host_incidents as h
        left join seeds.causes as c on c.code = h.cause
        where h.is_event
        group by all
    )
    group by host
),

parts as (
    select host, string_agg(gpu || ' ×' || events, ', ' order by events desc, gpu) as parts
    from (select host, gpu, count(*) as events from marts.host_incidents where is_event and gpu is not null group by all having count(*) > 1)
    group by host
),

costs as (
    select host, sum(gpu_s) as gpu_s, min(at_ts) as first_ts, max(at_ts) as last_ts
    from marts.host_incidents
    group by host
),

states as (
    select
        s.host,
        arg_max(s, (s.ts, s.source_id, s.line)) as last,
    from ledger.host_states as s
    cross join period as p
    where s.ts < p.period_end
    group by s.host
),

final as (
    select
        a.host,
        a.events_1w,
        a.events_4w,
        a.events,
        a.host_days_1w,
        a.host_days_4w,
        a.host_days,
        a.expected_4w,
        a.expected,
        a.chance,
        case when a.chance is not null then a.chance_adjusted end as chance_adjusted,
        a.hosts_looked_at,
        coalesce(a.events >= 2 and a.chance_adjusted < 0.05, false) as is_repeat,
        coalesce(c.gpu_s, 0) as gpu_s,
        k.causes,
        p.parts,
        c.first_ts,
        c.last_ts,
        s.last.state as state,
        s.last.ts as state_ts,
        s.last.reason as state_reason,
        case when a.expected is null then 'no record names the hosts of its runs' end as undefined_reason,
    from adjusted as a
    left join causes as k using (host)
    left join parts as p using (host)
    left join costs as c using (host)
    left join states as s using (host)
)

select * from final
order by gpu_s desc, host
