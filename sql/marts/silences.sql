-- one row per silence of a source: longer than ten minutes and than ten times its usual distance between lines
-- do not add silences over sources: another source may have spoken meanwhile
-- only files of trainers have silences: a kernel log that says nothing is good news
-- silence_s: length of the silence; in seconds
with

times as (
    select source_id, ts, lag(ts) over (partition by source_id order by ts) as previous_ts
    from (
        select source_id, ts from staging.stream
        union all
        select source_id, ts from staging.step_lines
    )
    where ts is not null
),

trainers as (
    select source_id from staging.sources where is_trainer
),

distances as (
    select t.source_id, t.previous_ts, t.ts, epoch_us(t.ts) - epoch_us(t.previous_ts) as distance_us
    from times as t
    semi join trainers using (source_id)
    where t.ts > t.previous_ts
),

usual as (
    select source_id, greatest(600000000, 10 * median(distance_us)) as limit_us
    from distances
    group by source_id
),

final as (
    select
        d.source_id,
        d.previous_ts as start_ts,
        d.ts as end_ts,
        d.distance_us / 1e6 as silence_s,
    from distances as d
    inner join usual as u using (source_id)
    where d.distance_us > u.limit_us
)

select * from final
order by source_id, start_ts
