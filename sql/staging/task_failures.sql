-- one row per failure of a process that its launcher tells of in a block of lines, with the rank and the host that the block names
-- do not count as failures: each launcher that gives up tells of its own
with

fields as (
    select
        source_id,
        line,
        segment,
        signal_id,
        rank as label,
        task,
        case when signal_id = 'elastic_rc_rank' then fault_rank end as fault_rank,
        case when signal_id = 'elastic_rc_rank' then gpu end as local_rank,
        case when signal_id = 'elastic_rc_host' then node end as host,
        nullif(regexp_extract(text, '(?:\(pid: |received by PID )(\d+)', 1), '') as pid,
        -- the host stands above the rank, and what became of the rank below it
        count_if(signal_id = 'elastic_rc_host') over w as block,
    from events.signals
    where starts_with(signal_id, 'elastic_rc_')
    window w as (partition by source_id, rank order by line, segment)
),

final as (
    select
        source_id,
        min(line) as line,
        any_value(task) as task,
        any_value(fault_rank) as fault_rank,
        any_value(local_rank) as local_rank,
        any_value(host) as host,
        any_value(pid) as pid,
        max(line) as last_line,
    from fields
    group by source_id, label, block
    -- of lines of two blocks that were mixed nobody says which belong together
    having count(fault_rank) = 1 and count(distinct pid) <= 1 and count(distinct host) <= 1
)

select * from final
