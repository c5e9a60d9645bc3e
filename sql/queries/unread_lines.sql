-- The shapes of line that no pattern knows, most frequent first: what a new pattern would have to read.
select
    t.template,
    sum(t.count) as lines,
    count(distinct t.source_id) as files,
    min(s.format) as format,
    min(t.example) as example,
from events.templates as t
inner join events.sources as s using (source_id)
group by t.template
order by lines desc, t.template
limit 25
