-- one row per run of which a good part of the steps lies outside what accounting says it held
-- law: a run trains on what it holds; a whole number of hours apart means that a zone is missing in goodput.toml
with

held as (
    select run_id, start_us, end_us
    from ledger.holdings
    where from_accounting
),

steps as (
    select
        s.run_id,
        s.attempt,
        min(s.start_us) as start_us,
        max(s.end_us) as end_us,
    from ledger.closed_spans as s
    where s.run_id in (select run_id from held)
        -- bounds that the configuration sets cut steps on purpose
        and s.run_id not in (select run_id from config.runs where start_ts is not null or end_ts is not null)
    group by all
),

inside as (
    select
        s.run_id,
        s.attempt,
        s.start_us,
        s.end_us,
        coalesce(
            sum(greatest(0, least(s.end_us, h.end_us) - greatest(s.start_us, h.start_us))) filter (where h.run_id is not null),
            0
        ) as held_us,
    from steps as s
    left join held as h on h.run_id = s.run_id and h.start_us < s.end_us and h.end_us > s.start_us
    group by all
),

outside as (
    select
        run_id,
        sum(end_us - start_us) as loop_us,
        sum(end_us - start_us - held_us) as outside_us,
    from inside
    group by run_id
)

select
    run_id,
    'steps outside of what was held' as what,
    concat(
        round(outside_us / 1e6)::bigint, ' s of ', round(loop_us / 1e6)::bigint,
        ' s of its loop; do the clocks of accounting and trainer agree? see [zones] in goodput.toml'
    ) as example,
from outside
where outside_us > greatest(120000000, loop_us // 100)
