-- one row per run and fault of the data behind its MFU
-- do not count runs by it: a run may have several
-- fault: mfu_above_one, peak_of_another_device, flops_disagree, recompute_counted, parameters_disagree, several_devices, rate_beyond_all_devices
-- measured: the figure that does not fit; null where the fault is none of figures
-- expected: what it should be, or at most
-- sentence: the same in words
with

-- MFU over clean spans of the whole run
steady as (
    select run_id, sum(steady_flops)::double / nullif(sum(steady_peak_flops), 0)::double as mfu
    from marts.model_work
    -- one accelerator is counted where their number is not known: no MFU follows from that
    where run_id not in (select run_id from ledger.runs where gpus_source like 'not known%')
    group by run_id
),

above as (
    select
        i.run_id,
        'mfu_above_one' as fault,
        greatest(i.printed_mfu, i.printed_share, s.mfu) as measured,
        1.0 as expected,
        format(
            '{} is {:.0f} %: no accelerator does more than its peak',
            case
                when i.printed_mfu = measured then 'the printed MFU'
                when i.printed_share = measured then 'the printed TFLOP/s ÷ the peak'
                else 'MFU over clean spans'
            end,
            100 * measured
        ) as sentence,
    from marts.model_inputs as i
    left join steady as s using (run_id)
    where greatest(i.printed_mfu, i.printed_share, s.mfu) > 1.0
),

-- the peak that a program divides by, where it is neither the one that is used nor that of the device in 16 bits
peaks as (
    select
        d.run_id,
        d.device,
        coalesce(d.implied_peak_flops, d.logged_peak_flops) as measured,
        d.peak_flops as expected,
        v.bf16_dense_tflops * 1e12 as bf16_flops,
        v.fp8_dense_tflops * 1e12 as fp8_flops,
        d.implied_peak_flops is not null as implied,
        d.fallback,
    from ledger.device_peaks as d
    left join seeds.devices as v using (device)
    where d.peak_source in ('configuration', 'device table')
),

strange as (
    select *
    from peaks
    where abs(measured / expected - 1) > 0.05
        and abs(measured / coalesce(bf16_flops, expected) - 1) > 0.05
),

owners as (
    select s.run_id, string_agg(v.device, ', ' order by v.device) as devices
    from strange as s
    inner join seeds.devices as v
        on abs(v.bf16_dense_tflops * 1e12 / s.measured - 1) < 0.01 or abs(v.fp8_dense_tflops * 1e12 / s.measured - 1) < 0.01
    group by s.run_id
),

others as (
    select
        s.run_id,
        'peak_of_another_device' as fault,
        s.measured,
        s.expected,
        format(
            'the program {} {:,.0f} TFLOP/s, {}, and not {:,.0f}{}: its MFU is {:.2f} times what it should be',
            case when s.implied then 'divides by' else 'tells a peak of' end,
            s.measured / 1e12,
            case
                when least(abs(s.measured / s.fp8_flops - 1), abs(s.measured / (2 * s.bf16_flops) - 1)) < 0.01
                    then 'its figure in 8 bits or for sparse matrices'
                when o.devices is not null then 'the peak of ' || o.devices
                else 'the peak of no device that is known'
            end,
            s.expected / 1e12,
            coalesce(' of ' || s.device, ''),
            s.expected / s.measured
        ) as sentence,
    from strange as s
    left join owners as o using (run_id)
),

disagreeing as (
    select
        run_id,
        'flops_disagree' as fault,
        flops_per_token as measured,
        other_flops_per_token as expected,
        format(
            'a token takes {:,.2f} GFLOP by {}, and {:,.2f} by {}: {:.0f} % apart',
            flops_per_token / 1e9,
            case source
                when 'configured' then 'the configuration'
                when 'line_ratio' then 'the step lines'
                when 'log' then 'what the log prints at its start'
                when 'shape' then 'the shape of the model'
                else 'the count of parameters'
            end,
            other_flops_per_token / 1e9,
            case other_source
                when 'line_ratio' then 'the step lines'
                when 'log' then 'what the log prints at its start'
                when 'shape' then 'the shape of the model'
                else 'the count of parameters'
            end,
            100 * disagreement
        ) as sentence,
    from ledger.flops
    where disagreement > 0.05
),

recomputed as (
    select
        p.run_id,
        'recompute_counted' as fault,
        p.ratio_flops_per_token as measured,
        f.flops_per_token as expected,
        'the printed TFLOP/s count what is computed a second time in the backward pass, and are not used'
        || coalesce(format(': {:.2f} times the FLOPs of the model', p.ratio_flops_per_token / f.flops_per_token), '') as sentence,
    from ledger.printed_rates as p
    left join ledger.flops as f using (run_id)
    where p.recompute_counted and p.tflops_per_gpu is not null
),

counted as (
    select
        m.run_id,
        'parameters_disagree' as fault,
        f.parameters_counted as measured,
        coalesce(m.parameters, m.trainable) as expected,
        format(
            'the shape of the model counts {:,.2f} billion parameters, and the log prints {:,.2f}: the shape is not all that there is',
            f.parameters_counted / 1e9,
            expected / 1e9
        ) as sentence,
    from ledger.model_shapes as m
    inner join ledger.shape_flops as f using (run_id)
    -- a program prints billions with two decimals
    where not m.frozen and not coalesce(m.trainable < 0.5 * f.parameters_counted, false) and abs(f.parameters_counted / expected - 1) > 0.05 and abs(f.parameters_counted - expected) > 5e6
),

several as (
    select
        run_id,
        'several_devices' as fault,
        null::double as measured,
        null::double as expected,
        format('the logs name {} beside {}: all are counted as the latter (see gpu_model in goodput.toml)', other_devices, device) as sentence,
    from ledger.device_peaks
    where other_devices is not null and device is not null
),

beyond as (
    select
        p.run_id,
        'rate_beyond_all_devices' as fault,
        p.tflops_per_gpu * 1e12 as measured,
        b.peak_flops as expected,
        format(
            'the lines print {:,.0f} TFLOP/s, and the fastest device that is known does {:,.0f}: another unit, perhaps',
            p.tflops_per_gpu,
            b.peak_flops / 1e12
        ) as sentence,
    from ledger.printed_rates as p
    inner join ledger.runs as r using (run_id)
    cross join (select max(greatest(bf16_dense_tflops, fp8_dense_tflops)) * 1e12 as peak_flops from seeds.devices) as b
    where r.peak_flops_per_gpu is null and p.tflops_per_gpu * 1e12 > b.peak_flops
),

faults as (
    select * from above
    union all by name
    select * from others
    union all by name
    select * from disagreeing
    union all by name
    select * from recomputed
    union all by name
    select * from counted
    union all by name
    select * from several
    union all by name
    select * from beyond
)

select * from faults
order by run_id, fault
