-- one row per file whose lines are not parsed, unknown or bad
-- law: lines = parsed + unknown + bad
select
    null::varchar as run_id,
    'lines are not parsed + unknown + bad' as what,
    concat(path, ': ', lines, ' is not ', parsed_lines, ' + ', unknown_lines, ' + ', bad_lines) as example,
from events.sources
where lines is distinct from parsed_lines + unknown_lines + bad_lines
    and error is null
    and duplicate_of is null
