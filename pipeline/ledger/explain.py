"""An incident or a moment, explained by the lines of the logs behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any

import duckdb

from pipeline.errors import GoodputError
from pipeline.ledger.explain_moment import explain_moment
from pipeline.ledger.phrases import duration, gpu_hours, moment, place, records
from pipeline.plain import visible
from pipeline.windows import parse_time

#: Times of an incident in the order in which they are expected, and what each is.
PHASES = (
    ("last_progress_ts", "last progress"),
    ("fault_ts", "fault"),
    ("detected_ts", "detected"),
    ("released_ts", "accelerators released"),
    ("allocated_ts", "allocated again"),
    ("processes_up_ts", "processes up"),
    ("restored_ts", "checkpoint read"),
    ("first_step_ts", "first new step"),
    ("caught_up_ts", "caught up"),
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: Evidence lines that are shown; a crash prints the same line on every rank.
MOST_LINES = 12


def explain(con: duckdb.DuckDBPyConnection, token: str) -> str:
    """Return the explanation of an incident id or of a moment in UTC, as text for a terminal.

    Raises:
        GoodputError: there is no such incident, or no run lived at that moment; names the nearest ids, or
            the span that the records cover.
    """
    exact = _incidents(con, "i.incident_id = ?", token)
    if exact:
        return "\n".join(_explained(con, exact[0]))
    try:
        asked = parse_time(token)
    except GoodputError:
        # A part of an id is enough where it fits one only; a time comes first, since names may hold dates.
        near = _incidents(con, "contains(i.incident_id, ?)", token)
        if len(near) == 1:
            return "\n".join(_explained(con, near[0]))
        raise _no_such_incident(con, token) from None
    return explain_moment(con, asked)


def _incidents(con: duckdb.DuckDBPyConnection, condition: str, token: str) -> list[dict[str, Any]]:
    """Return the incidents that fulfil a condition on their id, with the words of the taxonomy."""
    sql = (
        "select i.*, c.title, c.meaning, c.first_action from ledger.incidents as i "
        f"left join seeds.causes as c on c.code = i.cause where {condition} order by i.incident_id limit 2"
    )
    return records(con, sql, [token])


def _no_such_incident(con: duckdb.DuckDBPyConnection, token: str) -> GoodputError:
    sql = "select incident_id from ledger.incidents order by all"
    ids = [row["incident_id"] for row in records(con, sql, [])]
    near = [i for i in ids if token in i][:5] or get_close_matches(token, ids, n=3, cutoff=0.3)
    listed = ", ".join(f"`{i}`" for i in near)
    return GoodputError(
        f"`{visible(token)}` is neither an incident nor a time",
        why=f"the store holds {len(ids):,} incidents",
        now=f"did you mean {listed}?" if near else "a time is written `2026-10-05T03:00`",
    )


def _explained(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> Iterator[str]:
    """Yield the explanation line by line."""
    job = f", job {row['job_id']}" if row["job_id"] else ""
    failed = ", failed start" if row["failed_start"] else ""
    attempt = f"run {row['run_id']}, attempt {row['attempt']}{job}"
    yield visible(f"{row['incident_id']}: {row['kind']}{failed}; {attempt}")
    yield ""
    yield f"cause      {row['title'] or row['cause']} ({row['cause']}); confidence: {row['confidence']}"
    where = ", ".join(f"{name} {row[name]}" for name in ("host", "gpu") if row[name])
    if where:
        yield visible(f"where      {where}")
    yield f"owner      {row['owner'] or 'nobody named'}; charged to {row['charged_to']}"
    if row["first_action"]:
        yield f"first      {row['first_action']}"
    lines = _evidence(con, row)
    if row["evidence_path"]:
        yield f"evidence   {place(row['evidence_path'], row['evidence_line'])}"
        if row["evidence_text"]:
            yield f"           | {visible(row['evidence_text'])}"
    yield from _reasons(row, lines)
    yield ""
    yield from _phases(row)
    yield ""
    yield from _costs(con, row)
    if lines:
        yield ""
        yield from _listed(lines)


def _reasons(row: dict[str, Any], lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield why the cause is the cause, and why the runner-up is not."""
    if row["has_verdict"]:
        yield visible(f"verdict    by a person: {row['verdict_reason'] or 'no reason given'}")
    if row["confidence_reason"]:
        yield f"why        {visible(row['confidence_reason'])}"
    runner_up = row["runner_up_cause"]
    if not runner_up:
        yield "runner-up  none: no other cause was seen within reach"
        return
    chosen = next((line for line in lines if line["cause"] == row["cause"]), None)
    other = next((line for line in lines if line["cause"] == runner_up), None)
    if chosen is None or other is None:
        yield f"runner-up  {runner_up}"
        return
    weaker = other["weight"] == "symptom" and chosen["weight"] == "cause"
    if weaker:
        reason = "it is a symptom, and a cause was seen"
    elif other["causal_rank"] > chosen["causal_rank"]:
        ranks = f"{other['causal_rank']} against {chosen['causal_rank']}"
        reason = f"it lies further from the physical fault: rank {ranks}"
    elif not other["placed_after_progress"] and chosen["placed_after_progress"]:
        reason = "its line has no time, and may be noise of the start"
    else:
        reason = "its first line is later"
    yield f"runner-up  {runner_up}, at {place(other['path'], other['line'])}: {reason}"


def _phases(row: dict[str, Any]) -> Iterator[str]:
    """Yield the times of the incident, each with the time since the one before."""
    yield "phases (UTC)"
    before: datetime | None = None
    for column, title in PHASES:
        at = row[column]
        if at is None:
            yield f"  {title:<24} not known"
            continue
        since = f"  + {duration(at - before)}" if before is not None and at >= before else ""
        yield f"  {title:<24} {moment(at)}{since}"
        before = at


def _costs(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> Iterator[str]:
    """Yield what the incident cost, by category."""
    sql = (
        "select i.category, any_value(c.title) as title, sum(i.gpu_us) as gpu_us "
        "from ledger.intervals as i left join seeds.categories as c using (category) "
        "where i.incident_id = ? and i.layer <> 'productive' "
        "group by i.category order by gpu_us desc, i.category"
    )
    parts = records(con, sql, [row["incident_id"]])
    total = sum(part["gpu_us"] for part in parts)
    steps = f"; {row['lost_steps']:,} steps were lost" if row["lost_steps"] else ""
    yield f"cost       {gpu_hours(total)} GPU-hours{steps}"
    for part in parts:
        share = f"{100 * part['gpu_us'] / total:5.1f} %" if total else ""
        title, size = part["title"] or part["category"], gpu_hours(part["gpu_us"], total)
        yield f"  {title:<24} {size:>10} GPU-hours  {share}"


def _evidence(con: duckdb.DuckDBPyConnection, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the signals within reach of the incident, in the order in which they are weighed."""
    sql = (
        "select signal_id, cause, weight, causal_rank, ts_us, host, path, line, text, placed_after_progress, "
        "count(*) over (partition by signal_id, path) as alike "
        "from ledger.evidence where run_id = ? and attempt = ? "
        "qualify row_number() over (partition by signal_id, path order by ts_us nulls last, line) = 1 "
        "order by weight, causal_rank, ts_us nulls last, path, line"
    )
    return records(con, sql, [row["run_id"], row["attempt"]])


def _listed(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the evidence lines, one of each kind and file."""
    yield "lines within reach, strongest first (one of each kind and file)"
    for line in lines[:MOST_LINES]:
        at = "undated" if line["ts_us"] is None else moment(EPOCH + timedelta(microseconds=line["ts_us"]))
        alike = f", {line['alike']:,} alike" if line["alike"] > 1 else ""
        cause = f"{line['signal_id']} -> {line['cause']}, rank {line['causal_rank']}{alike}"
        yield f"  {place(line['path'], line['line'])}  {at}  {cause}"
        yield f"    | {visible(line['text'] or '')}"
    if len(lines) > MOST_LINES:
        yield f"  and {len(lines) - MOST_LINES:,} more kinds"
