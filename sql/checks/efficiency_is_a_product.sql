-- one row per run and window whose model goodput is not the product of its factors, or where a missing one has no reason
-- law: g_model = steadiness × input × network × compute efficiency within 1e-9, where factors that are not known count as 1
with

products as (
    select
        *,
        coalesce(steadiness, 1) * coalesce(input_efficiency, 1) * coalesce(network_efficiency, 1) * compute_efficiency as product,
        (steadiness is null) <> (steadiness_reason is not null)
            or (input_efficiency is null) <> (input_reason is not null)
            or (network_efficiency is null) <> (network_reason is not null)
            or (compute_efficiency is null) <> (compute_reason is not null) as lacks_reason,
    from marts.efficiency
)

select
    run_id,
    case when lacks_reason then 'a factor and its reason do not fit together' else 'model goodput is not the product of its factors' end as what,
    concat(window_start, ': ', g_model, ' and ', product) as example,
from products
where abs(g_model - product) > 1e-9 or lacks_reason
