-- The tables of the ledger that the marts of reliability read, from the same story: those marts are the project's own.
create schema ledger;

create table ledger.windows as select * from given.windows;
create table ledger.lives as
select run_id, epoch_us(min(start_ts)) as start_us, epoch_us(max(end_ts)) as end_us
from given.intervals group by run_id;
create table ledger.runs as select run_id, gpus from given.runs;

create table ledger.attempts as
select
    i.run_id, i.attempt, coalesce(any_value(e.incident_id), i.run_id || '/open') as incident_id, any_value(i.gpus) as gpus,
    true as observed,
    min(start_ts) as allocated_ts,
    min(start_ts) filter (where category = 'init') as start_ts,
    min(start_ts) filter (where category = 'warmup') as loop_start_ts,
    min(start_ts) filter (where category = 'productive') as first_step_ts,
    max(end_ts) filter (where category = 'productive') as last_step_ts,
    coalesce(any_value(e.fault_ts), max(end_ts) filter (where i.held)) as loop_end_ts,
    max(end_ts) filter (where i.held) as released_ts,
    1::bigint as restored_step,
from given.intervals as i
left join given.incidents as e on e.run_id = i.run_id and e.attempt = i.attempt
group by i.run_id, i.attempt;

create table ledger.timeline as
select run_id, attempt, attempt as holding, true as observed from ledger.attempts;

-- eight accelerators a host: the one that an incident names, and others of the same rack
create table ledger.holdings as
select
    a.run_id, a.attempt as holding, epoch_us(a.allocated_ts) as start_us, epoch_us(a.released_ts) as end_us,
    list_transform(range(0, (a.gpus + 7) // 8), lambda n: 'gx' || lpad(n::varchar, 3, '0')) as nodes,
from ledger.attempts as a;

create table ledger.incidents as
select
    i.*, i.fault_ts as at_ts, false as detected_estimated, false as unseen, n.allocated_ts, n.start_ts as processes_up_ts,
    (select max(end_ts) from given.intervals as r where r.run_id = n.run_id and r.attempt = n.attempt and r.category = 'restore')
        as restored_ts,
    n.first_step_ts + i.lost_steps * interval 30 second as caught_up_ts,
    k.domain, k.layer as charged_to, k.owner, a.first_step_ts is null as stepless, a.first_step_ts is null as failed_start,
    coalesce((select sum(gpus * (epoch(end_ts) - epoch(start_ts))) from given.intervals as c where c.incident_id = i.incident_id), 0)
        as total_gpu_s,
from given.incidents as i
left join given.causes as k on k.code = i.cause
left join ledger.attempts as a on a.run_id = i.run_id and a.attempt = i.attempt
left join ledger.attempts as n on n.run_id = i.run_id and n.attempt = i.attempt + 1
union all by name
select run_id || '/open' as incident_id, run_id, attempt, 'ongoing' as kind, false as stepless, false as failed_start
from ledger.attempts where incident_id = run_id || '/open';

create table ledger.intervals as select *, 'active' as part from given.intervals;
create table ledger.crash_loops (run_id varchar, attempt int, loop int, starts bigint);
create table ledger.host_states (host varchar, ts timestamptz, state varchar, reason varchar, source_id varchar, line bigint);
create table config.owners (key varchar, team varchar);
insert into seeds.causes select code, title from given.causes;
