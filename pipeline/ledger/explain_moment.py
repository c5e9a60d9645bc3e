"""A moment explained: what each run was doing, which line says so, and which claims lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import duckdb

from pipeline.errors import GoodputError
from pipeline.ledger.phrases import duration, gpu_hours, moment, place, records
from pipeline.plain import visible

_COVERING = """
select i.*, c.title, s.path
from ledger.intervals as i
left join seeds.categories as c using (category)
left join events.sources as s using (source_id)
where i.start_ts <= ? and i.end_ts > ?
order by i.run_id, i.part, i.category
"""

_CLAIMS = """
select c.*, s.path
from ledger.claims as c
left join events.sources as s using (source_id)
where c.run_id = ? and c.start_ts <= ? and c.end_ts > ?
order by c.precedence desc, c.attempt desc, c.start_ts desc, s.path, c.line
"""

#: What kind of line the evidence is: the event tables in which it may stand.
_LINES = " union all ".join(
    f"select format, pattern, ts_raw from events.{table} where source_id = ? and line = ?"
    for table in ("steps", "checkpoints", "phases", "signals", "allocations")
)


def explain_moment(con: duckdb.DuckDBPyConnection, at: datetime) -> str:
    """Return what every run was doing at a moment.

    Raises:
        GoodputError: no run lived then; names the span that the records cover.
    """
    intervals = records(con, _COVERING, [at, at])
    if not intervals:
        raise _outside(con, at)
    lines = [f"{moment(at)} UTC"]
    for row in intervals:
        lines += ["", *_interval(con, row)]
    for run_id in dict.fromkeys(row["run_id"] for row in intervals):
        lines += ["", *_claims(con, run_id, at)]
    return "\n".join(lines)


def _outside(con: duckdb.DuckDBPyConnection, at: datetime) -> GoodputError:
    spans = records(con, "select min(start_ts) as first, max(end_ts) as last from ledger.intervals", [])
    known = spans[0]["first"] is not None
    covered = f"{moment(spans[0]['first'])} to {moment(spans[0]['last'])} UTC" if known else "no time at all"
    return GoodputError(
        f"no run lived at {moment(at)} UTC",
        why=f"the records cover {covered}",
        now="times are UTC; `ledger.intervals` has all spans",
    )


def _interval(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> Iterator[str]:
    """Yield one interval that covers the moment."""
    attempt = f", attempt {row['attempt']}" if row["attempt"] is not None else ""
    part = "" if row["part"] == "active" else f" ({row['part']})"
    yield visible(f"{row['run_id']}{attempt}: {row['title'] or row['category']}{part}")
    length = duration(row["end_ts"] - row["start_ts"])
    yield f"  interval   {moment(row['start_ts'])} to {moment(row['end_ts'])}, {length}"
    size = f"{gpu_hours(row['gpu_us'])} GPU-hours of {row['gpus']:,} GPUs"
    yield f"  counts as  {row['category']}, layer {row['layer']}, {size}"
    if row["was"]:
        yield f"  had been   {row['was']}, until a later restore made it lost work"
    if row["incident_id"]:
        yield visible(f"  incident   {row['incident_id']}")
    yield f"  evidence   {place(row['path'], row['line'])}{_kind_of_line(con, row)}"


def _kind_of_line(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> str:
    """Return which pattern knows the evidence line, and the time that it prints."""
    if row["source_id"] is None or row["line"] is None:
        return ""
    found = records(con, f"select * from ({_LINES}) limit 1", [row["source_id"], row["line"]] * 5)
    if not found:
        return ""
    printed = f", prints {visible(found[0]['ts_raw'])}" if found[0]["ts_raw"] else ""
    return f"  ({found[0]['format']}.{found[0]['pattern']}{printed})"


def _claims(con: duckdb.DuckDBPyConnection, run_id: str, at: datetime) -> Iterator[str]:
    """Yield the claims about the moment, the one that holds first."""
    yield visible(f"claims about {run_id} at this moment, strongest first")
    for claim in records(con, _CLAIMS, [run_id, at, at]):
        span = f"{moment(claim['start_ts'])} to {moment(claim['end_ts'])}"
        where = place(claim["path"], claim["line"])
        yield f"  {claim['precedence']:>4}  {claim['category']:<18} {span}  {where}"
