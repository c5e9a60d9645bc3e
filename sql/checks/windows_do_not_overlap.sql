-- one row per window that is empty or overlaps the one before it
-- law: windows are half open and follow each other
with

ordered as (
    select
        window_start,
        window_end,
        lag(window_end) over (order by window_start, window_end) as previous_end,
    from ledger.windows
)

select
    null::varchar as run_id,
    case when window_start >= window_end then 'a window is empty' else 'windows overlap' end as what,
    concat(window_start, ' … ', window_end) as example,
from ordered
where window_start >= window_end or window_start < previous_end
