-- one row per person's verdict on an incident that touches the period, beside what the logs alone say
-- do not add to incidents: each of them is one of marts.incidents
-- title: words of the cause that the person names
-- title_by_evidence: words of the cause that the logs alone give
-- confidence: what the logs alone are worth: evidence, inferred or unknown
-- evidence: path and line that decided what the logs alone say; null where none did
with

final as (
    select
        i.incident_id,
        i.run_id,
        i.at_ts,
        i.mark,
        i.cause,
        i.title,
        i.cause_by_evidence,
        coalesce(c.title, i.cause_by_evidence) as title_by_evidence,
        i.verdict_fit,
        i.confidence,
        i.evidence,
        v.reason,
        v.date,
        v.role,
    from marts.incidents as i
    inner join config.verdicts as v using (incident_id)
    left join seeds.causes as c on c.code = i.cause_by_evidence
)

select * from final
order by at_ts, incident_id
