-- one row per line of an exception that did not end its process: the program got over it, or another one tells its end better
-- do not count as faults: an exception has a line for its traceback and one for its name
-- why = first_fault, raised_over: an error of files or storage, and what was raised while it was handled: either may have ended it
-- uncaught: of those two, whether nothing caught the last one, which ended the process; null where nothing is in doubt
-- causal_rank: of those two, which of them comes first; null where nothing but the line tells
with

-- what says that a program got over the error above it
goers as (
    select signal_id, regex
    from seeds.signals
    where starts_with(signal_id, 'program_goes_on_')
),

-- of these, what says that it is yet to be seen whether the program gets over it
retriers as (
    select string_agg(regex, '|') as regex
    from goers
    where signal_id in ('program_goes_on_retrying', 'program_goes_on_will_retry')
),

told as (
    select
        e.source_id,
        e.line,
        e.segment,
        e.rank,
        e.task,
        e.signal_id,
        e.text,
        coalesce(e.uncaught, false) as uncaught,
        c.weight = 'cause' as is_cause,
        c.cause,
        c.causal_rank,
        k.domain = 'storage' and k.layer = 'infrastructure' as is_storage,
        coalesce(c.planned, '') <> '' as is_planned,
        -- what a program can get over: an error of a device or of its driver stays
        c.weight <> 'noise' and coalesce(c.planned, '') = '' and (c.source = 'python' or c.cause = 'gpu_out_of_memory') as can_pass,
        e.signal_id = 'traceback_header' as is_head,
        e.signal_id in ('py_handling_another', 'py_direct_cause') as is_link,
        e.signal_id in ('py_exception_ignored', 'py_logging_error') as is_swallower,
        g.signal_id is not null as goes_on,
        -- other ranks print between the lines of one
        case when e.rank is null then 4 else 64 end as reach,
    from events.signals as e
    inner join seeds.signals as c using (signal_id)
    left join seeds.causes as k on k.code = c.cause
    -- libraries, launchers and trackers go on by themselves, whatever became of the program
    left join goers as g
        on g.signal_id = e.signal_id
        and not regexp_matches(e.text, '^(?:srun|sbatch|salloc|slurmstepd|wandb): |\.(?:cpp|cc|cu|h):\d+\]|NCCL (?:INFO|WARN)')
    where c.source in ('python', 'trainer_stderr', 'checkpoint')
        and (
            c.weight <> 'noise'
            or e.signal_id in ('py_handling_another', 'py_direct_cause', 'py_exception_ignored', 'py_logging_error')
            or g.signal_id is not null
        )
),

-- behind the word of a launcher that a process failed, the next one speaks
failures as (
    select source_id, line
    from events.signals
    where starts_with(signal_id, 'elastic_') or starts_with(signal_id, 'slurm_task_') or signal_id = 'slurm_exit_code'
),

-- a process that ended by itself; who was killed had no say in it
own_ends as (
    select
        source_id,
        line,
        fault_rank,
        unnest(case
            when signal_id = 'slurm_exit_code' then string_split(regexp_extract(text, ': tasks? ([\d,-]+): ', 1), ',')
            else ['']
        end) as tasks,
    from events.signals
    where signal_id = 'slurm_exit_code' or signal_id = 'elastic_child_failed' and not contains(text, 'exitcode: -')
),

later_words as (
    select source_id, line
    from events.steps
    union all
    select source_id, line
    from staging.stream
    where kind <> 'signal'
),

-- nothing of the training program stands between the word that it tries again and the end of its process
given_up as (
    select distinct t.source_id, t.line, t.segment
    from told as t
    cross join retriers as r
    inner join own_ends as o
        on o.source_id = t.source_id
        and o.line > t.line
        and o.line - t.line <= t.reach
        and case
            when o.tasks <> '' and coalesce(t.task, t.rank) is not null then
                coalesce(t.task, t.rank) between try_cast(split_part(o.tasks, '-', 1) as bigint) and try_cast(split_part(o.tasks, '-', -1) as bigint)
            else coalesce(o.fault_rank = t.rank, true)
        end
    where regexp_matches(t.text, r.regex)
        and not exists (
            select 1 from told as n
            where n.source_id = t.source_id and n.rank is not distinct from t.rank and n.line > t.line and n.line < o.line and n.can_pass
        )
        and not exists (
            select 1 from later_words as n
            where n.source_id = t.source_id and n.line > t.line and n.line < o.line
        )
),

placed as (
    select t.*, f.line as failure_line, u.source_id is not null as is_given_up
    from told as t
    left join given_up as u on u.source_id = t.source_id and u.line = t.line and u.segment = t.segment
    asof left join failures as f on f.source_id = t.source_id and t.line >= f.line
),

beside as (
    select
        *,
        lag(is_head) over w as below_head,
        lag(is_link) over w and line - lag(line) over w <= reach as below_link,
        lag(is_swallower) over w and line - lag(line) over w <= reach as below_swallower,
        lag(goes_on) over w as below_goer,
        -- what goes on is near the error above it, not what went on before
        last_value(case when not goes_on then line end ignore nulls) over (
            partition by source_id, rank order by line, segment rows between unbounded preceding and 1 preceding
        ) as error_line,
        line - case when goes_on then error_line else lag(line) over w end <= reach as is_near,
        coalesce(failure_line > error_line, false) as is_of_next,
    from placed
    window w as (partition by source_id, rank order by line, segment)
),

-- the exceptions of one chain, each with its traceback, and what is said right below them
chained as (
    select
        *,
        count_if(
            case
                when is_link or goes_on then false
                when is_swallower then true
                when is_head then not coalesce(below_link or below_swallower, false)
                else not coalesce(below_head or is_near and not below_goer, false)
            end
        ) over w as chain,
        count_if(is_link) over w as part,
    from beside
    window w as (partition by source_id, rank order by line, segment)
),

ends_of_handling as (
    select source_id, rank, chain, max(part) as part
    from chained
    where signal_id = 'py_handling_another'
    group by all
),

-- who handled an exception by another one ended by that one; who raised one from another tells the same fault twice
roots as (
    select
        c.source_id,
        c.rank,
        c.chain,
        coalesce(min(c.part) filter (where c.is_cause and c.part >= coalesce(h.part, 0)), max(c.part) filter (where c.is_cause)) as part,
        bool_or(c.is_planned) as is_planned,
        bool_or(c.goes_on and c.is_near and not c.is_of_next and not c.is_given_up) or bool_or(c.is_swallower) as is_caught,
    from chained as c
    left join ends_of_handling as h
        on h.source_id = c.source_id and h.rank is not distinct from c.rank and h.chain = c.chain
    group by all
),

-- a file or a storage that failed, and what was raised while that was handled: the program's own words for it, or a second fault
doubts as (
    select
        r.source_id,
        r.rank,
        r.chain,
        r.part,
        min(f.part) as first_part,
        arg_min(f.cause, (f.part, f.line, f.segment)) as first_cause,
        arg_min(f.causal_rank, (f.part, f.line, f.segment)) as first_rank,
        arg_min(f.is_storage, (f.part, f.line, f.segment)) as is_storage,
        any_value(l.cause) as last_cause,
        any_value(l.causal_rank) as last_rank,
        any_value(l.uncaught) as uncaught,
    from roots as r
    inner join ends_of_handling as h
        on h.source_id = r.source_id and h.rank is not distinct from r.rank and h.chain = r.chain
    inner join chained as f
        on f.source_id = r.source_id and f.rank is not distinct from r.rank and f.chain = r.chain
        and f.part < r.part and f.is_cause and (f.is_storage or f.cause = 'missing_file')
    inner join (
        select source_id, rank, chain, part, arg_min(cause, (line, segment)) as cause, min(causal_rank) as causal_rank, bool_or(uncaught) as uncaught
        from chained
        where is_cause
        group by all
    ) as l on l.source_id = r.source_id and l.rank is not distinct from r.rank and l.chain = r.chain and l.part = r.part
    where not r.is_caught and not r.is_planned
    group by all
    having first_cause <> last_cause
),

-- a line that has no traceback may say itself that it was got over
self_told as (
    select distinct c.source_id, c.line, c.segment
    from chained as c
    inner join goers as g on regexp_matches(c.text, g.regex)
    where c.can_pass and not c.is_head and not coalesce(c.below_head, false) and not c.is_given_up
),

final as (
    select
        c.source_id,
        c.line,
        c.segment,
        c.signal_id,
        case
            when r.is_caught or s.source_id is not null then 'caught'
            when c.is_cause and c.part = d.first_part and c.cause = d.first_cause then 'first_fault'
            when c.is_cause and c.part = d.part then 'raised_over'
            when c.part < r.part then 'handled'
            else 'told_again'
        end as why,
        -- physical before symptom: a plain exception only says that storage failed; of others the last one counts
        case
            when s.source_id is not null or not c.is_cause then null
            when c.part = d.first_part and c.cause = d.first_cause then
                case
                    when d.is_storage and d.last_cause = 'software_exception' then least(d.first_rank, d.last_rank)
                    else greatest(d.first_rank, d.last_rank)
                end
            when c.part = d.part then c.causal_rank
        end as causal_rank,
        -- the end of a process is that of its whole chain
        case when s.source_id is null and c.is_cause and c.part in (d.first_part, d.part) then d.uncaught end as uncaught,
    from chained as c
    inner join roots as r
        on r.source_id = c.source_id and r.rank is not distinct from c.rank and r.chain = c.chain
    left join doubts as d
        on d.source_id = c.source_id and d.rank is not distinct from c.rank and d.chain = c.chain
    left join self_told as s on s.source_id = c.source_id and s.line = c.line and s.segment = c.segment
    where c.can_pass
        and (
            r.is_caught
            or s.source_id is not null
            or (c.part <> r.part and not r.is_planned)
            or coalesce(c.is_cause and c.part = d.part, false)
        )
)

select * from final
