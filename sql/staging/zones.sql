-- one row per input file: the zone in which stamps without one are read, and what says so
-- do not count: it is a look-up
-- zone: of its own stamps
-- host_zone: zone of what daemons of the scheduler print into it: that of the clocks of hosts
-- zone_from: configuration, accounting (of its job), jobs (what is known of the times of its jobs), hosts (what programs and hosts of its jobs agree upon), neighbours (what was found for the files around it), printed (a job script names it), or assumed
-- zone_told: the same in words
-- zone_job: the first job that agrees, where the zone is inferred
with

-- where a folder is compared with times that are known and with others, what is known holds
trainer_zones as (
    select *
    from staging.trainer_zones
    qualify row_number() over (partition by folder order by known desc) = 1
),

-- daemons and kernels go by the clocks of hosts, as accounting does: where that names no zone, as it was found to be;
-- where it counts from an epoch, as programs do that are not in UTC, if they agree
free_accounting as (
    select distinct l.log
    from staging.records as a
    inner join staging.logs as l using (source_id)
    where l.zone is null and a.ts_quality <> 'logged' and l.duplicate_of is null
),

accounting as (
    select
        count(*) as logs,
        case when count(distinct z.zone) = 1 then min(z.zone) end as zone,
        case when count(distinct z.zone) = 1 then min(z.job_id) end as job_id,
        coalesce(bool_or(z.by_hosts), false) as by_hosts,
    from free_accounting as f
    left join staging.accounting_zones as z using (log)
),

programs as (
    select
        case when count(distinct zone) = 1 then min(zone) end as zone,
        case when count(distinct zone) = 1 then min(job_id) end as job_id,
    from trainer_zones
    where known and zone <> 'UTC'
),

hosts as (
    select
        -- hosts that agree with programs against accounting do not go by its clock
        case when a.by_hosts then null when a.zone is not null then a.zone when a.logs = 0 then p.zone end as zone,
        case when a.by_hosts then null when a.zone is not null then a.job_id when a.logs = 0 then p.job_id end as job_id,
        -- and the scheduler does
        case when a.by_hosts then a.zone end as scheduler_zone,
        case when a.by_hosts then a.job_id end as scheduler_job,
        a.logs > 0 as accounting_is_free,
    from accounting as a
    cross join programs as p
),

-- logs of a run, where the configuration says so, else of a folder: their times are compared, and move together
owners as (
    select l.*, coalesce('run ' || g.run_id, 'folder ' || l.folder) as owner
    from staging.logs as l
    left join (
        select s.source_id, min(r.run_id) as run_id
        from staging.logs as s
        inner join config.run_logs as r on regexp_full_match(s.path, r.pattern)
        group by s.source_id
    ) as g using (source_id)
),

-- the name of a zone in a date that a job script prints, which is that of its host
dates as (
    select
        p.source_id,
        l.owner,
        l.path,
        p.line,
        p.ts,
        date_trunc('year', p.ts) as january,
        date_trunc('year', p.ts) + interval 6 month as july,
        regexp_extract(p.ts_raw, '\b([A-Z]{3,5})(?: \d{4})?\s*$', 1) as name,
    from events.phases as p
    inner join owners as l using (source_id)
    where p.phase = 'job' and p.ts is not null and name <> '' and l.duplicate_of is null and coalesce(l.role, '') not in ('scheduler', 'node')
        -- accounting that was moved to what programs and hosts print moved to it as it stands
        and not exists (select 1 from staging.accounting_zones where by_hosts)
),

-- a name that several zones bear names none, and neither does one that its zone does not bear at that time of the year
named as (
    select d.* exclude (january, july), z.zone
    from dates as d
    left join seeds.zones as z
        on list_contains(string_split(z.called, ' '), d.name)
        and (
            z.summer = 'no'
            or (string_split(z.called, ' ')[1] = d.name) = (
                d.ts - timezone(z.zone, d.ts::timestamp) = least(
                    d.january - timezone(z.zone, d.january::timestamp),
                    d.july - timezone(z.zone, d.july::timestamp)
                )
            )
        )
),

-- programs in a container may go by another clock: what they print next to a date is less than an hour from it, if both are of one zone
stamps as (
    select source_id, line, ts from events.steps where ts_quality = 'zone_assumed'
    union all
    select source_id, line, ts from events.checkpoints where ts_quality = 'zone_assumed'
    union all
    select source_id, line, ts
    from (select source_id, line, ts, ts_quality, format from events.phases union all select source_id, line, ts, ts_quality, format from events.signals)
    where ts_quality = 'zone_assumed' and coalesce(format, '') not in (select format from events.formats where by_host_clock)
),

beside as (
    select source_id, line, ts from stamps semi join (select source_id from named where zone is not null) using (source_id)
),

compared as (
    select
        n.*,
        a.ts is null and b.ts is null
            or coalesce(a.ts - n.ts between interval '-60' second and interval 50 minute, false)
            or coalesce(n.ts - b.ts between interval '-60' second and interval 50 minute, false) as fits,
    from named as n
    asof left join beside as a on a.source_id = n.source_id and a.line > n.line
    asof left join beside as b on b.source_id = n.source_id and b.line < n.line
),

printed as (
    select
        owner,
        case when count(distinct zone) filter (where fits) = 1 then min(zone) filter (where fits) end as zone,
        -- of the hosts, whatever clock the programs have
        case when count(distinct zone) = 1 then min(zone) end as host_zone,
        arg_min(name, (path, line)) filter (where fits and zone is not null) as name,
        arg_min(path, (path, line)) filter (where fits and zone is not null) as path,
        arg_min(name, (path, line)) filter (where zone is null) as unknown_name,
        bool_or(zone is not null and not fits) as misfits,
    from compared
    group by owner
),

-- hosts go by the zone of all scripts, unless accounting was compared with programs of another one
of_hosts as (
    select
        case when count(distinct zone) = 1 then min(zone) end as zone,
        arg_min(name, (path, line)) as name,
        arg_min(path, (path, line)) as path,
    from compared
    where zone is not null and not exists (select 1 from staging.trainer_zones)
),

-- what agrees with accounting as it stands moves with it
accounted as (
    select distinct l.owner
    from owners as l
    inner join staging.records as a using (job_id)
    where a.ts_quality <> 'logged' and a.part is distinct from 'report'
),

is_host as (
    select source_id, coalesce(role, '') in ('scheduler', 'node') as is_host, coalesce(role, '') = 'scheduler' as is_scheduler
    from staging.logs
),

by_host as (
    select
        i.source_id,
        i.is_host,
        case when i.is_scheduler then coalesce(h.zone, h.scheduler_zone) else h.zone end as zone,
        case when i.is_scheduler then coalesce(h.job_id, h.scheduler_job) else h.job_id end as job_id,
        h.accounting_is_free,
    from is_host as i
    cross join hosts as h
),

found as (
    select
        l.source_id,
        -- a report in the output of a job goes by the clock of its host; its programs may not
        coalesce(l.zone, case when h.is_host then coalesce(a.zone, h.zone) else coalesce(t.zone, p.zone, a.zone) end, s.zone, 'UTC') as zone,
        coalesce(
            l.zone,
            case when not h.is_host then p.host_zone end,
            a.zone,
            h.zone,
            case when not h.is_host and not h.accounting_is_free then t.zone end,
            s.zone,
            'UTC'
        ) as host_zone,
        case
            when l.zone is not null then 'configuration'
            when not h.is_host and t.zone is null and p.zone is not null then 'printed'
            when a.by_hosts and (h.is_host or t.zone is null) then 'hosts'
            when a.zone is not null and (h.is_host or t.zone is null) then 'jobs'
            when h.is_host and h.zone is not null then 'neighbours'
            when (h.is_host or t.zone is null) and s.zone is not null then 'printed'
            when h.is_host or t.zone is null then 'assumed'
            when l.job_id in (select job_id from staging.job_times where not known) then 'accounting'
            else 'neighbours'
        end as zone_from,
        case
            when l.zone is not null or (not h.is_host and t.zone is null and p.zone is not null) then null
            when a.zone is not null and (h.is_host or t.zone is null) then a.job_id
            when h.is_host then h.job_id
            else t.job_id
        end as zone_job,
        case when not h.is_host and p.zone is not null then p.name else s.name end as printed_name,
        case when not h.is_host and p.zone is not null then p.path else s.path end as printed_path,
        p.unknown_name,
    from owners as l
    inner join by_host as h using (source_id)
    left join staging.accounting_zones as a using (log)
    left join trainer_zones as t using (folder)
    left join printed as p using (owner)
    left join of_hosts as s
        on s.zone is not null
        and (h.is_host or l.owner in (select owner from accounted) and not coalesce(p.misfits, false))
)

select
    f.* exclude (printed_name, printed_path, unknown_name),
    case f.zone_from
        when 'configuration' then f.zone
        when 'accounting' then z.title || ' (inferred from accounting of job ' || f.zone_job || ')'
        when 'hosts' then z.title || ' (inferred from what programs and hosts of job ' || f.zone_job || ' agree upon)'
        when 'jobs' then z.title || ' (inferred from what is known of job ' || f.zone_job || ')'
        when 'neighbours' then z.title || ' (as inferred from job ' || f.zone_job || ')'
        when 'printed' then z.title || ' (named ' || f.printed_name || ' by ' || f.printed_path || ')'
        when 'assumed' then
            case when f.unknown_name is null then 'UTC (assumed)' else 'UTC (assumed: more than one zone is called ' || f.unknown_name || ')' end
    end as zone_told,
from found as f
left join seeds.zones as z using (zone)
