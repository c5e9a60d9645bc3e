-- one row per attempt whose watchdogs say how far each rank had come: who was behind
-- do not sum: ranks of one process group only: of which the rank spoke whose dump signal others received, else most ranks
-- lagging: named (others received its error), behind (completed less), silent (said nothing while nearly all others did), elsewhere (enqueued less), together (nobody was behind)
with

told as (
    select
        run_id,
        attempt,
        regexp_extract(text, '\[PG (?:ID )?(\d+)', 1) as process_group,
        -- within another group than the default one a process has a number of its own
        case
            when process_group in ('', '0')
                then coalesce(try_cast(nullif(regexp_extract(text, 'Rank (\d+)\]', 1), '') as integer), told_by_rank)
            else told_by_rank
        end as rank,
        try_cast(regexp_extract(text, '(?i)last completed (?:NCCL )?work: (-?\d+)', 1) as bigint) as completed,
        try_cast(regexp_extract(text, '(?i)last enqueued (?:NCCL )?work: (-?\d+)', 1) as bigint) as enqueued,
    from ledger.evidence
    where own and cause = 'collective_timeout' and regexp_matches(text, '(?i)last completed (NCCL )?work: -?\d')
),

ranks as (
    select run_id, attempt, process_group, rank, min(completed) as completed, min(enqueued) as enqueued
    from told
    where rank is not null
    group by all
),

-- ranks of which others say that they heard from them first: of a wait, and of an error
heard as (
    select distinct run_id, attempt, signal_id, fault_rank as rank, told_by_rank
    from ledger.evidence
    where own and signal_id in ('pgnccl_dump_signal', 'pgnccl_remote_error') and fault_rank is not null
        and fault_rank is distinct from told_by_rank
),

-- who heard of the error from somebody else only passed it on
named as (
    select distinct h.run_id, h.attempt, h.rank, 'named' as lagging
    from heard as h
    where h.signal_id = 'pgnccl_remote_error'
        and not exists (
            select 1 from heard as o
            where o.run_id = h.run_id and o.attempt = h.attempt and o.signal_id = h.signal_id and o.told_by_rank = h.rank
        )
),

spoken as (
    select
        run_id,
        attempt,
        process_group,
        count(*) as speakers,
        min(completed) as least_completed,
        max(completed) as most_completed,
        min(enqueued) as least_enqueued,
        max(enqueued) as most_enqueued,
    from ranks
    left join (select distinct run_id, attempt, rank, true as sent from heard where signal_id = 'pgnccl_dump_signal') using (run_id, attempt, rank)
    group by run_id, attempt, process_group
    -- the first to wait tells which group stood still; the others stood still because of it
    qualify row_number() over (partition by run_id, attempt order by count(sent) desc, count(*) desc, process_group) = 1
),

sized as (
    select
        s.*,
        z.world_gpus,
        -- the default group holds all ranks, others do not
        s.process_group in ('', '0') and coalesce(z.world_gpus > s.speakers and (z.world_gpus - s.speakers) * 4 <= z.world_gpus, false) as has_silent,
    from spoken as s
    left join ledger.sizes as z using (run_id, attempt)
),

behind as (
    select r.run_id, r.attempt, r.rank, 'behind' as lagging
    from sized as s
    inner join ranks as r using (run_id, attempt, process_group)
    where s.least_completed < s.most_completed and r.completed = s.least_completed
),

silent as (
    select run_id, attempt, rank, 'silent' as lagging
    from (
        select s.run_id, s.attempt, unnest(range(s.world_gpus::integer))::integer as rank
        from sized as s
        where s.has_silent and s.least_completed = s.most_completed
    )
    anti join ranks using (run_id, attempt, rank)
),

elsewhere as (
    select r.run_id, r.attempt, r.rank, 'elsewhere' as lagging
    from sized as s
    inner join ranks as r using (run_id, attempt, process_group)
    where not s.has_silent
        and s.least_completed = s.most_completed
        and s.least_enqueued < s.most_enqueued
        and r.enqueued = s.least_enqueued
),

-- half of the ranks and more are no suspects
suspects as (
    select u.*, h.host
    from (
        from named
        union all
        from behind
        union all
        from silent
        union all
        from elsewhere
    ) as u
    left join ledger.rank_hosts as h using (run_id, attempt, rank)
),

counted as (
    select
        run_id,
        attempt,
        lagging,
        string_agg(rank::varchar, ', ' order by rank) as lagging_ranks,
        case when count(distinct host) = 1 and count(host) = count(*) then min(host) end as suspect_host,
        count(*) as suspects,
    from suspects
    group by run_id, attempt, lagging
    -- who is named is no longer looked for
    qualify row_number() over (partition by run_id, attempt order by lagging = 'named' desc) = 1
)

select
    run_id,
    attempt,
    s.speakers,
    coalesce(c.lagging, 'together') as lagging,
    c.lagging_ranks,
    c.suspect_host,
from sized as s
full join (
    select c.*
    from counted as c
    left join sized as z using (run_id, attempt)
    where c.suspects * 2 <= coalesce(z.world_gpus, z.speakers, c.suspects * 2)
) as c using (run_id, attempt)
