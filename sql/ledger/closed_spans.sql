-- one row per step span, the open last one of an attempt closed
-- do not sum lengths as productive time: stalls, warm-up and lost work lie inside
-- a view: computed as it is read, since nearly every span closes itself
select *, false as was_open from ledger.spans where end_us is not null
union all by name
select *, true as was_open from ledger.cut_spans
