-- one row per run whose accelerator is in the device table: its peak, dense, in 16-bit floating point
-- do not multiply by accelerators of other runs
with

models as (
    select run_id, lower(regexp_replace(gpu_model, '[^A-Za-z0-9]+', ' ', 'g')) as model
    from ledger.lives
    where gpu_model is not null
),

aliases as (
    select
        device,
        bf16_dense_tflops,
        lower(regexp_replace(trim(unnest(string_split(concat_ws(';', device, aliases), ';'))), '[^A-Za-z0-9]+', ' ', 'g')) as alias,
    from seeds.devices
),

-- the longest alias that occurs in the name is the most exact
matched as (
    select
        m.run_id,
        arg_max(a.device, (length(a.alias), a.device)) as device,
        arg_max(a.bf16_dense_tflops, (length(a.alias), a.device)) * 1e12 as peak_flops,
    from models as m
    inner join aliases as a on a.alias <> '' and contains(m.model, a.alias)
    group by m.run_id
)

select * from matched
