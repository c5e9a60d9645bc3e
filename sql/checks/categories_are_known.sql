-- one row per interval whose category or layer is not one that this ledger knows
-- law: every category is a row of seeds.categories, and its layer is the one given there or by policy
with

layers as (
    select c.category, coalesce(p.value, c.layer) as layer
    from seeds.categories as c
    left join config.policy as p on p.key = c.category
)

select
    i.run_id,
    case when l.category is null then 'a category is not known' else 'a category is in the wrong layer' end as what,
    concat(i.category, ' in layer ', coalesce(i.layer, 'null'), ' at ', i.start_ts) as example,
from ledger.intervals as i
left join layers as l using (category)
where i.layer is distinct from l.layer
    or l.category is null
    or i.layer not in ('productive', 'infrastructure', 'framework', 'planned', 'unknown')
