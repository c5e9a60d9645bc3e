-- one row per run, direction and step of a checkpoint: how long it stopped the trainer, as a mean over the records that tell it
-- do not use it as the stall of a loop: a step that was saved twice is one row, as in ml-goodput-measurement
-- op: save or load
-- mean_s: mean over the records; in seconds
with

records as (
    select run_id, kind as op, step, duration_s
    from staging.placed
    where kind in ('save', 'load') and edge = 'span' and run_id is not null
    union all
    select run_id, 'save' as op, step, blocking_s as duration_s
    from ledger.saves
    where not record_of_whole_save
    union all
    select r.run_id, 'load' as op, r.step, r.duration_s
    from ledger.restores as r
    where not r.cold and not exists (
        select 1 from staging.placed as p where p.run_id = r.run_id and p.kind = 'load' and p.edge = 'span'
    )
),

final as (
    select
        run_id,
        op,
        step,
        avg(duration_s) as mean_s,
    from records
    where duration_s is not null
    group by all
)

select * from final
