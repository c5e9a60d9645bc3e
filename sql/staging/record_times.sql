-- one row per record of accounting whose times print no year, where that is known: its times
-- do not count: it is a look-up
-- a record goes on in time: it starts after it was submitted, and ends after it started
with

-- stamps without a year stand in 1972; what is printed first of a record is its `ts`
records as (
    select
        a.source_id,
        a.line,
        a.ts,
        a.submit_ts,
        a.eligible_ts,
        a.start_ts,
        a.end_ts,
        y.year,
        regexp_extract(a.ts_raw, '^([A-Z][a-z]{2}) ', 1) as weekday,
    from events.allocations as a
    inner join staging.years as y
        on y.source_id = a.source_id and a.line >= y.line and a.line < y.next_line
    where a.ts_quality = 'year_assumed' and y.year is not null
),

-- records stand in any order: of the years around that of the log the nearest one counts in which the day has the
-- weekday that is printed, which no two years within five share
dated as (
    select
        *,
        year - 1972 + coalesce(
            list_filter(
                [0, -1, 1, -2, 2],
                lambda step: strftime((ts + to_years((year + step - 1972)::integer))::timestamp, '%a') = weekday
            )[1],
            0
        ) as years,
    from records
),

submitted as (
    select
        * replace (submit_ts + to_years(years::integer) as submit_ts),
        ts + to_years(years::integer) as first_ts,
    from dated
),

started as (
    select
        * replace (
            case
                when eligible_ts + to_years(years::integer) >= first_ts then eligible_ts + to_years(years::integer)
                else eligible_ts + to_years(years::integer + 1)
            end as eligible_ts,
            case
                when start_ts + to_years(years::integer) >= first_ts then start_ts + to_years(years::integer)
                else start_ts + to_years(years::integer + 1)
            end as start_ts
        ),
    from submitted
),

ended as (
    select
        * replace (
            case
                when end_ts + to_years(years::integer) >= coalesce(start_ts, first_ts) then end_ts + to_years(years::integer)
                else end_ts + to_years(years::integer + 1)
            end as end_ts
        ),
    from started
)

select source_id, line, submit_ts, eligible_ts, start_ts, end_ts
from ended
