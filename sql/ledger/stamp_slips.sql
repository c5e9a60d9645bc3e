-- one row per attempt whose stamps come later than what they date, now by more and now by less: by how much
-- do not sum: it bounds what a single span may differ by
-- slip_us: a span may be longer than its steps by so much, and nothing was between them; in microseconds
with

-- no span is shorter than its steps: where many are, the line was stamped by somebody who got it later
shortfalls as (
    select
        run_id,
        attempt,
        count(*) as spans,
        quantile_cont(printed_us - (end_us - start_us), 0.75) as upper_quarter_us,
        max(printed_us - (end_us - start_us), 3)[3] as third_us,
    from ledger.spans
    where stamped and edge = 'end' and not first_span and not is_block and printed_us is not null
    group by all
)

-- lateness without a favourite has a quarter of the differences of two beyond 0.29 of its range, which four times that covers;
-- an odd printed time or two, such as the mean of the first steps, moves the quarter by nothing. Of some dozens of spans the
-- quarter may come out too small: the one that falls short most but two, and half of that, tells how far the range goes
select
    run_id,
    attempt,
    greatest(4 * upper_quarter_us, least(6 * upper_quarter_us, 1.5 * third_us))::bigint as slip_us,
from shortfalls
where spans >= 8 and upper_quarter_us > 0
