-- one row per input file: the zone in which stamps without one are read, and what says so
-- do not count: it is a look-up
-- zone: of its own stamps
-- host_zone: zone of what daemons of the scheduler print into it: that of the clocks of hosts
-- zone_from: configuration, accounting (of its job), jobs (what is known of the times of its jobs), neighbours (what was found for the files around it), or assumed
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
        case when a.zone is not null then a.zone when a.logs = 0 then p.zone end as zone,
        case when a.zone is not null then a.job_id when a.logs = 0 then p.job_id end as job_id,
        a.logs > 0 as accounting_is_free,
    from accounting as a
    cross join programs as p
),

is_host as (
    select source_id, coalesce(role, '') in ('scheduler', 'node') as is_host
    from staging.logs
),

found as (
    select
        l.source_id,
        -- a report in the output of a job goes by the clock of its host; its programs may not
        coalesce(l.zone, case when i.is_host then coalesce(a.zone, h.zone) else coalesce(t.zone, a.zone) end, 'UTC') as zone,
        coalesce(
            l.zone,
            a.zone,
            h.zone,
            case when not i.is_host and not h.accounting_is_free then t.zone end,
            'UTC'
        ) as host_zone,
        case
            when l.zone is not null then 'configuration'
            when a.zone is not null and (i.is_host or t.zone is null) then 'jobs'
            when i.is_host and h.zone is not null then 'neighbours'
            when i.is_host or t.zone is null then 'assumed'
            when l.job_id in (select job_id from staging.job_times where not known) then 'accounting'
            else 'neighbours'
        end as zone_from,
        case
            when l.zone is not null then null
            when a.zone is not null and (i.is_host or t.zone is null) then a.job_id
            when i.is_host then h.job_id
            else t.job_id
        end as zone_job,
    from staging.logs as l
    inner join is_host as i using (source_id)
    left join staging.accounting_zones as a using (log)
    left join trainer_zones as t using (folder)
    cross join hosts as h
)

select
    f.*,
    case f.zone_from
        when 'configuration' then f.zone
        when 'accounting' then z.title || ' (inferred from accounting of job ' || f.zone_job || ')'
        when 'jobs' then z.title || ' (inferred from what is known of job ' || f.zone_job || ')'
        when 'neighbours' then z.title || ' (as inferred from job ' || f.zone_job || ')'
        else 'UTC (assumed)'
    end as zone_told,
from found as f
left join seeds.zones as z using (zone)
