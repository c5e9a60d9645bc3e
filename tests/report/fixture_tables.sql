-- What a story is written into, and the tables of settings and seeds that a review reads.
create schema given;
create schema marts;
create schema config;
create schema seeds;

create table given.intervals (
    run_id varchar, attempt int, start_ts timestamptz, end_ts timestamptz, gpus bigint, category varchar,
    title varchar, layer varchar, incident_id varchar, mark varchar, held bool
);
create table given.incidents (
    incident_id varchar, run_id varchar, attempt int, job_id varchar, kind varchar, last_progress_ts timestamptz,
    fault_ts timestamptz, detected_ts timestamptz, released_ts timestamptz, first_step_ts timestamptz,
    lost_steps bigint, cause varchar, host varchar, gpu varchar, confidence varchar, evidence varchar,
    evidence_text varchar, mark varchar
);
create table given.causes (
    code varchar, title varchar, domain varchar, layer varchar, owner varchar, first_action varchar
);
create table given.runs (run_id varchar, gpus bigint, gpu_model varchar, mfu double, flags varchar[]);

create table config.report (window_us bigint, from_ts timestamptz, to_ts timestamptz, week varchar);
create table config.targets (figure varchar, value double);
create table config.price (gpu_hour double, currency varchar);
create table config.policy (key varchar, value varchar);
create table config.store as select 'heron-cluster' as logs_name;

create table seeds.categories as select 'productive' as category;
create table seeds.causes (code varchar, title varchar);
create table seeds.signals as select 'xid_79' as signal_id;
create table seeds.metrics as
select * from (values
    ('productive_share', 'Productive share', 'share', 'P / W', 'capacity W'),
    ('training_time_goodput', 'Training-time goodput', 'share', 'P / (W − L)', 'training capacity W − L'),
    ('g_known', 'Known', 'share', '(W − L − U) / (W − L)', 'training capacity W − L'),
    ('g_infra', 'Infrastructure goodput', 'share', '(W − L − U − I) / (W − L − U)', 'known training capacity'),
    ('g_framework', 'Framework goodput', 'share', 'P / (W − L − U − I)', 'time that infrastructure left'),
    ('g_model', 'Model goodput', 'share', 'model FLOPs of surviving steps / (P × peak)', 'peak over productive time'),
    ('composite', 'Composite goodput', 'share', 'g_known · g_infra · g_framework · g_model', 'peak over W − L')
) as m (metric, title, unit, formula, denominator);
