-- one row per run whose peak is known, or whose accelerator is: peak FLOP/s of one accelerator, dense, and what it was taken from
-- do not multiply by accelerators of other runs
-- device: name in the device table; of a mixed fleet the names, joined by " + "
-- devices: kinds of accelerators that it has
-- precision: fp8 where the run says that it computes so and the device can, else bf16; mixed where only a part of a fleet can
-- other_devices: further kinds that the logs name, where the configuration says nothing of a mixed fleet; the most frequent name counts
-- peak_flops: of a mixed fleet the mean over its accelerators, so that times their number it is the sum
-- peak_source: configuration, device table, log, or implied by TFLOP/s ÷ MFU of its lines
with

-- a mixed fleet is what the configuration says, else all accelerators are alike
fleets as (
    select run_id, gpu_model, count::double as gpus
    from config.fleets
),

models as (
    select run_id, gpu_model, gpus, true as counts
    from fleets
    union all
    select run_id, gpu_model, 1.0 as gpus, true as counts
    from ledger.lives
    where gpu_model is not null and run_id not in (select run_id from fleets)
    union all
    select l.run_id, f.value as gpu_model, 0.0 as gpus, false as counts
    from staging.facts as f
    inner join ledger.lives as l using (run_id)
    where f.key = 'gpu_model' and f.value <> l.gpu_model
        and f.run_id not in (select run_id from config.runs where gpu_model is not null)
),

named as (
    select
        *,
        ' ' || trim(lower(regexp_replace(gpu_model, '[^A-Za-z0-9]+', ' ', 'g'))) || ' ' as model,
    from models
),

aliases as (
    select
        * exclude (aliases),
        trim(lower(regexp_replace(unnest(string_split(concat_ws(';', device, aliases), ';')), '[^A-Za-z0-9]+', ' ', 'g'))) as alias,
    from seeds.devices
),

-- whole words before parts of them, and the longest alias that occurs in the name is the most exact
matched as (
    select n.run_id, n.gpu_model, n.counts, a.* exclude (alias)
    from named as n
    inner join aliases as a
        on a.alias <> '' and contains(n.model, a.alias)
        -- L4 is in many a name
        and (length(a.alias) > 3 or contains(n.model, ' ' || a.alias || ' '))
    qualify row_number() over (
        partition by n.run_id, n.gpu_model, n.counts
        order by contains(n.model, ' ' || a.alias || ' ') desc, length(a.alias) desc, a.device
    ) = 1
),

parts as (
    select
        n.run_id,
        n.gpus,
        m.device,
        s.precision = 'fp8' and m.fp8_dense_tflops is not null as in_fp8,
        case when s.precision = 'fp8' then coalesce(m.fp8_dense_tflops, m.bf16_dense_tflops) else m.bf16_dense_tflops end * 1e12 as peak_flops,
        m.nvlink_gb_s,
        m.network_gb_s,
    from named as n
    left join matched as m using (run_id, gpu_model, counts)
    left join ledger.model_shapes as s on s.run_id = n.run_id
    where n.counts
),

further as (
    select m.run_id, string_agg(distinct m.device, ', ' order by m.device) as other_devices
    from matched as m
    where not m.counts and (m.run_id, m.device) not in (select (run_id, device) from matched where counts)
    group by m.run_id
),

tabled as (
    select
        run_id,
        case when count(device) = count(*) then string_agg(device, ' + ' order by device) end as device,
        count(*) as devices,
        case
            when count(device) < count(*) then null
            when bool_and(in_fp8) then 'fp8'
            when coalesce(bool_or(in_fp8), false) then 'mixed'
            else 'bf16'
        end as precision,
        case when count(peak_flops) = count(*) then sum(gpus * peak_flops) / sum(gpus) end as table_peak_flops,
        case when count(*) = 1 then any_value(nvlink_gb_s) end as nvlink_gb_s,
        case when count(*) = 1 then any_value(network_gb_s) end as network_gb_s,
    from parts
    group by run_id
),

-- a program that does not know its device takes another one's peak, and says so
logged as (
    select
        run_id,
        coalesce(bool_or(key = 'peak_flops_fallback'), false) as fallback,
        coalesce(
            max(try_cast(value as double)) filter (where key = 'peak_flops_per_gpu'),
            max(try_cast(value as double)) filter (where key = 'peak_theoretical_tflops') * 1e12
        ) as logged_peak_flops,
    from staging.facts
    where place = 1 and key in ('peak_flops_per_gpu', 'peak_theoretical_tflops', 'peak_flops_fallback')
    group by run_id
),

known as (
    select
        l.run_id,
        t.device,
        coalesce(t.devices, 1) as devices,
        coalesce(t.precision, 'bf16') as precision,
        c.peak_flops as configured_peak_flops,
        t.table_peak_flops,
        g.logged_peak_flops,
        coalesce(g.fallback, false) as fallback,
        o.other_devices,
        p.implied_peak_flops,
        t.nvlink_gb_s,
        t.network_gb_s,
    from (select run_id from ledger.lives union select run_id from ledger.printed_rates) as l
    left join config.runs as c using (run_id)
    left join tabled as t using (run_id)
    left join logged as g using (run_id)
    left join ledger.printed_rates as p using (run_id)
    left join further as o using (run_id)
),

final as (
    select
        run_id,
        device,
        devices,
        other_devices,
        precision,
        coalesce(
            configured_peak_flops,
            table_peak_flops,
            case when not fallback then coalesce(logged_peak_flops, implied_peak_flops) end
        ) as peak_flops,
        case
            when configured_peak_flops is not null then 'configuration'
            when table_peak_flops is not null then 'device table'
            when fallback then null
            when logged_peak_flops is not null then 'log'
            when implied_peak_flops is not null then 'implied'
        end as peak_source,
        table_peak_flops,
        logged_peak_flops,
        implied_peak_flops,
        fallback,
        nvlink_gb_s,
        network_gb_s,
    from known
)

select * from final
where coalesce(peak_flops, table_peak_flops, logged_peak_flops, implied_peak_flops) is not null or device is not null
