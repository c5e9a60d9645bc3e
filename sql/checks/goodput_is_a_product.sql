-- one row per figure that is not the product of its layers
-- law: training-time goodput is known × infrastructure × framework, and composite is that × model, within 1e-9
-- the composite of several runs is no product where their accelerators have different peaks: it is a ratio of FLOPs
with

products as (
    select
        run_id,
        scope,
        window_start,
        training_time_goodput,
        composite,
        g_known * g_infra * g_framework as time_product,
        g_known * g_infra * g_framework * g_model as product,
        scope in ('run_window', 'run') as of_one_run,
    from marts.figures
)

select
    run_id,
    case
        when abs(training_time_goodput - time_product) > 1e-9 then 'training-time goodput is not known × infrastructure × framework'
        else 'composite is not the product of its layers'
    end as what,
    concat(scope, ' ', window_start, ': ', training_time_goodput, ' and ', time_product, '; ', composite, ' and ', product) as example,
from products
where abs(training_time_goodput - time_product) > 1e-9
    or (of_one_run and abs(composite - product) > 1e-9)
    or (of_one_run and product is not null and composite is null)
