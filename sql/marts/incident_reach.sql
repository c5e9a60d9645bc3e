-- one row per incident: where and when lines were looked for that could tell why it happened
-- do not sum: one file serves many incidents
-- from_ts: from when on lines of nodes and schedulers were weighed: two minutes before the last progress
-- to_ts: until when: five minutes after the release
-- own_files: files of the run
-- shared_files: files of nodes, services and schedulers that hold lines of that time
-- hosts: nodes that the attempt held, where a source names them
-- silent_hosts: those of them of which no log of a node holds a line of that time
with

final as (
    select
        i.incident_id,
        r.* exclude (run_id, attempt),
    from ledger.incidents as i
    inner join ledger.reach as r using (run_id, attempt)
)

select * from final
order by incident_id
