"""An incident or a moment, explained by the lines of the logs behind it; or the list of all incidents."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any

import duckdb

from pipeline.errors import GoodputError
from pipeline.ledger.explain_moment import explain_moment
from pipeline.ledger.phrases import gpu_hours, moment, records
from pipeline.ledger.render import cell_text
from pipeline.ledger.story import Look
from pipeline.ledger.story_load import load_story
from pipeline.ledger.story_text import story_text
from pipeline.ledger.story_words import Paint, plain, time_marks
from pipeline.plain import visible
from pipeline.windows import parse_time

#: Characters that JSON does not escape, and that move cursors or turn the direction of a text.
_UNSAFE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

_LIST = """
select
    i.incident_id,
    i.at_ts as moment,
    i.mark,
    i.kind,
    i.cause,
    coalesce(c.title, i.cause) as title,
    i.host,
    i.total_gpu_s as gpu_s
from ledger.incidents as i
left join seeds.causes as c on c.code = i.cause
"""


def explain(
    con: duckdb.DuckDBPyConnection,
    token: str,
    *,
    look: Look | None = None,
    most: int = 2,
    form: str = "text",
    width: int = 100,
    paint: Paint = plain,
) -> str:
    """Return the explanation of an incident id or of a moment in UTC.

    Args:
        con: a classified store.
        token: an id, a part of one that fits no other, or a time.
        look: reads lines of the logs; None where nobody shall open them.
        most: lines before and after each line of evidence.
        form: ``text``, or ``json`` for one document; a moment has text only.
        width: characters in a line.
        paint: gives lines a colour.

    Raises:
        GoodputError: there is no such incident, or no run lived at that moment; names the nearest ids, or
            the span that the records cover.
    """
    incident_id = find_incident(con, token)
    if incident_id is None:
        if form != "text":
            raise GoodputError("a moment is told as text only", now="ask `goodput sql` for ledger.intervals")
        return explain_moment(con, parse_time(token))
    try:
        story = load_story(con, incident_id, look, most)
    except duckdb.CatalogException as error:
        raise GoodputError(
            "the ledger was built by another version",
            why=str(error).strip().splitlines()[0],
            now="run `goodput classify --store DIR` again",
        ) from None
    if form == "json":
        return _json(asdict(story))
    return story_text(story, width, paint)


def find_incident(con: duckdb.DuckDBPyConnection, token: str) -> str | None:
    """Return the id that a text stands for; None where it is a time.

    Raises:
        GoodputError: it is neither; names the nearest ids.
    """
    ids = [row["incident_id"] for row in records(con, "from ledger.incidents order by incident_id", [])]
    if token in ids:
        return token
    try:
        parse_time(token)
    except GoodputError:
        # A part of an id is enough where it fits one only; a time comes first, since names may hold dates.
        near = [known for known in ids if token and token in known]
        if len(near) == 1:
            return str(near[0])
        raise _no_such_incident(token, ids, near) from None
    return None


def _no_such_incident(token: str, ids: Sequence[str], near: Sequence[str]) -> GoodputError:
    """Return the error that names the nearest ids."""
    close = list(near[:5]) or get_close_matches(token, ids, n=3, cutoff=0.3)
    listed = ", ".join(f"`{visible(known)}`" for known in close)
    return GoodputError(
        f"`{visible(token)}` is neither an incident nor a time",
        why=f"the store holds {len(ids):,} incidents"
        + (f", {len(near):,} with that in their id" if near else ""),
        now=f"did you mean {listed}?"
        if close
        else "without an ID the command lists the incidents; a time is written `2026-10-05T03:00`",
    )


def list_incidents(con: duckdb.DuckDBPyConnection, order: str = "newest", form: str = "text") -> str:
    """Return all incidents, completed attempts included: one a line, or one JSON document.

    Raises:
        GoodputError: the store holds none.
    """
    by = "moment desc nulls last" if order == "newest" else "gpu_s desc"
    rows = records(con, f"{_LIST} order by {by}, i.incident_id", [])
    if not rows:
        raise GoodputError(
            "the store holds no incident",
            why="no attempt of any run ended in these logs",
            now="`goodput doctor LOGS` tells what each file was taken for",
        )
    if form == "json":
        return _json({"incidents": [{"at": row.pop("moment"), **row} for row in rows]})
    total = sum(round(row["gpu_s"] * 1e6) for row in rows)
    cells = [
        (
            f"{moment(row['moment'])[:19]}{time_marks(row['mark'])}"
            if row["moment"]
            else "at an unknown time",
            row["kind"],
            gpu_hours(round(row["gpu_s"] * 1e6), total),
            visible(
                f"{row['title']}{', ' + row['host'] if row['host'] and row['kind'] == 'unplanned' else ''}"
            ),
            visible(row["incident_id"]),
        )
        for row in rows
    ]
    cells.insert(0, ("when (UTC)", "kind", "GPU-hours", "cause", "incident"))
    at, kind, cost, cause = (max(len(row[n]) for row in cells) for n in range(4))
    # An id comes last and is never cut: it is there to be copied.
    return "\n".join(
        f"{row[0]:<{at}}  {row[1]:<{kind}}  {row[2]:>{cost}}  {row[3]:<{cause}}  {row[4]}" for row in cells
    )


def _json(value: object) -> str:
    """Return one JSON document; times in ISO form, UTC."""
    text = json.dumps(value, ensure_ascii=False, indent=1, default=_plain, allow_nan=False)
    # What JSON lets through, a terminal need not.
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: Any) -> str:
    """Return what JSON does not know as text."""
    if isinstance(value, datetime | date):
        return cell_text(value)
    raise TypeError(type(value).__name__)
