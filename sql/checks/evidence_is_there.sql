-- one row per incident that claims evidence and does not say where it is
-- law: confidence `evidence` means a line of a file that was read
select
    i.run_id,
    case when i.evidence_line is null then 'evidence without a line' else 'evidence outside its file' end as what,
    concat(i.incident_id, ': ', coalesce(i.evidence_path, 'no file'), ':', i.evidence_line) as example,
from ledger.incidents as i
left join events.sources as s on s.source_id = i.evidence_source_id
where i.confidence = 'evidence'
    and (
        i.evidence_line is null
        or s.source_id is null
        or s.path is distinct from i.evidence_path
        or i.evidence_line not between 1 and s.lines
    )
