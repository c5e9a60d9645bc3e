-- one row per source that prints complete times: the middle of its dated time, used to find a missing year
-- do not aggregate: it is a look-up
with

dated as (
    select source_id, ts from events.steps where ts_quality in ('logged', 'zone_assumed')
    union all
    select source_id, ts from events.phases where ts_quality in ('logged', 'zone_assumed')
    union all
    select source_id, ts from events.checkpoints where ts_quality in ('logged', 'zone_assumed')
    union all
    select source_id, ts from events.signals where ts_quality in ('logged', 'zone_assumed')
    union all
    select source_id, coalesce(start_ts, submit_ts) as ts
    from events.allocations
    where ts_quality is distinct from 'year_assumed'
),

middles as (
    select
        source_id,
        make_timestamptz(((epoch_us(min(ts)) + epoch_us(max(ts))) // 2)::bigint) as middle_ts,
    from dated
    where ts is not null
    group by source_id
)

select * from middles
