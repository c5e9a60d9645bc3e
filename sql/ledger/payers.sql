-- one row per end of an attempt: its cause after people's verdicts, and who pays for its cost
-- do not count as failures: a completed attempt has an end too
with

judged as (
    select
        i.incident_id,
        e.run_id,
        e.attempt,
        e.kind as kind_by_evidence,
        e.cause as cause_by_evidence,
        coalesce(v.cause, e.cause) as cause,
        v.owner as owner_by_verdict,
        v.reason as verdict_reason,
        v.incident_id is not null as has_verdict,
    from ledger.ends as e
    inner join ledger.incident_ids as i using (run_id, attempt)
    left join config.verdicts as v using (incident_id)
)

select
    j.incident_id,
    j.run_id,
    j.attempt,
    j.cause,
    j.cause_by_evidence,
    j.has_verdict,
    j.verdict_reason,
    c.domain,
    case
        when j.has_verdict and c.kind in ('planned', 'preemption', 'completed', 'unknown') then c.kind
        when j.has_verdict then 'unplanned'
        else j.kind_by_evidence
    end as kind,
    coalesce(c.layer, 'unknown') as charged_to,
    coalesce(j.owner_by_verdict, d.team, l.team, c.owner, 'nobody yet') as owner,
from judged as j
left join seeds.causes as c on c.code = j.cause
left join config.owners as d on d.key = c.domain
left join config.owners as l on l.key = c.layer
