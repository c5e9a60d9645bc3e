"""An incident out of the ledger: its story, with the lines of the logs around its evidence."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import duckdb

from pipeline.ledger.phrases import records
from pipeline.ledger.story import Advice, Cost, Evidence, Head, LogLine, Look, Phase, Story, Verdict
from pipeline.ledger.story_why import build_why

_HEAD = """
select
    i.*,
    coalesce(c.title, i.cause) as title,
    -- a run of which no source tells the size is counted as one accelerator: how many it had is not known
    coalesce(a.gpus, case when not starts_with(r.gpus_source, 'not known') then r.gpus end) as gpus,
    i.total_gpu_s as gpu_s,
    i.total_gpu_s / 3600 * p.gpu_hour as price,
    p.currency,
    c.meaning,
    c.first_action,
    c.reference,
    e.kind as kind_by_evidence,
    e.says_done,
    e.at_target,
    e.job_end_us is not null as job_end_told,
    e.signal_id,
    e.state,
    e.state_by,
    k.action as for_signal,
    k.benign_when,
    b.title as title_by_evidence,
    v.owner as verdict_owner,
    v.date as verdict_date,
    v.role as verdict_role,
    u.title as runner_up_title
from ledger.incidents as i
inner join ledger.ends as e on e.run_id = i.run_id and e.attempt = i.attempt
left join seeds.causes as c on c.code = i.cause
left join seeds.causes as b on b.code = i.cause_by_evidence
left join seeds.causes as u on u.code = i.runner_up_cause
-- what is advised for a kind of line is advised for the fault that it tells of
left join seeds.signals as k
    on e.by_line and e.kind <> 'completed' and i.cause = i.cause_by_evidence and k.signal_id = e.signal_id
left join config.verdicts as v using (incident_id)
left join ledger.attempts as a on a.run_id = i.run_id and a.attempt = i.attempt
left join ledger.runs as r on r.run_id = i.run_id
left join config.price as p on true
where i.incident_id = ?
"""

_EVIDENCE = """
select
    e.*,
    coalesce(c.title, e.cause) as title,
    coalesce(k.source in ('slurm', 'lsf', 'pbs', 'k8s'), false) as by_scheduler
from marts.incident_evidence as e
left join seeds.signals as k using (signal_id)
left join seeds.causes as c on c.code = e.cause
where e.incident_id = ?
order by e.place_in_time
"""

_COSTS = """
select k.*, coalesce(c.title, k.category) as title
from marts.incident_costs as k
left join seeds.categories as c using (category)
where k.incident_id = ?
order by k.gpu_s desc, k.category
"""

#: When a line means nothing, as the catalogue of signals says it, in words.
BENIGN = {
    "after_end": "where it is printed after the program had ended well",
    "after_kill": "where the process had been killed before",
    "alone": "where nothing else goes wrong beside it",
    "at_boot": "where the host has just booted",
    "other_xid": "where another Xid of the same GPU stands beside it, which then tells the cause",
    "process_goes_on": "where the process goes on after it",
    "restored": "where the connection was back within seconds",
}

#: Lines after the last step that are shown where nothing says why the attempt ended: its last words.
_LAST_WORDS = 8


def load_story(con: duckdb.DuckDBPyConnection, incident_id: str, look: Look | None, most: int) -> Story:
    """Return the story of an incident that exists.

    Args:
        con: a classified store.
        incident_id: of ``ledger.incidents``.
        look: reads lines of the logs; None where nobody shall open them.
        most: lines before and after each line of evidence.
    """
    head = records(con, _HEAD, [incident_id])[0]
    evidence = tuple(_evidence(row) for row in records(con, _EVIDENCE, [incident_id]))
    reach = records(con, "from marts.incident_reach where incident_id = ?", [incident_id])
    if look is not None and most > 0:
        evidence = _look_around(evidence, look, most, last_words=head["confidence"] == "unknown")
    return Story(
        incident=_head(head, evidence),
        phases=_phases(con, incident_id),
        evidence=evidence,
        why=build_why(head, evidence, reach[0] if reach else {}, _count_signals(con)),
        costs=_costs(con, incident_id),
        verdict=_verdict(head),
        advice=_advice(head),
    )


def _head(row: dict[str, Any], evidence: Sequence[Evidence]) -> Head:
    """Return the columns of the first query that are told as they are."""
    deciding = next((one for one in evidence if one.role == "cause"), None)
    rank = row["rank"]
    # Who times out has waited for another rank, which it does not name; who lost another one names that
    # one, if any.
    if rank is None and deciding is not None and deciding.taken_for != "collective_timeout":
        rank = deciding.rank if deciding.taken_for != "peer_lost" else None
        rank = rank if deciding.fault_rank is None else deciding.fault_rank
    apart = {
        "at": row["at_ts"],
        "rank": rank,
        "cascade": tuple(re.findall(r"\w+", row["cascade"] or "")),
    }
    told = {name: row[name] for name in Head.__dataclass_fields__.keys() - apart.keys()}
    return Head(**apart, **told)


def _phases(con: duckdb.DuckDBPyConnection, incident_id: str) -> tuple[Phase, ...]:
    rows = records(con, "from marts.incident_phases where incident_id = ? order by point_no", [incident_id])
    return tuple(
        Phase(
            point=row["point"],
            at=row["ts"],
            known=row["known"],
            estimated=row["estimated"],
            seconds=row["seconds"],
            gpu_s=row["gpu_s"],
            categories=tuple(row["categories"] or ()),
        )
        for row in rows
    )


def _costs(con: duckdb.DuckDBPyConnection, incident_id: str) -> tuple[Cost, ...]:
    return tuple(
        Cost(
            category=row["category"],
            title=row["title"],
            seconds=row["seconds"],
            gpu_s=row["gpu_s"],
            detected_at_once_gpu_s=row["detected_at_once_gpu_s"],
            saved_before_gpu_s=row["saved_before_gpu_s"],
        )
        for row in records(con, _COSTS, [incident_id])
    )


def _evidence(row: dict[str, Any]) -> Evidence:
    """Return a row of ``marts.incident_evidence`` as a value."""
    return Evidence(
        role=row["role"],
        signal_id=row["signal_id"],
        taken_for=row["cause"],
        title=row["title"],
        weight=row["weight"],
        causal_rank=row["causal_rank"],
        planned=bool(row["planned"]),
        own=row["own"],
        by_scheduler=row["by_scheduler"],
        dated_after_progress=row["placed_after_progress"],
        in_doubt=row["in_doubt"],
        at=row["ts"],
        near=row["near_ts"],
        host=row["host"],
        gpu=row["gpu"],
        rank=row["rank"],
        fault_rank=row["fault_rank"],
        waited_s=None if row["waited_us"] is None else row["waited_us"] / 1e6,
        source_id=row["source_id"],
        path=row["path"],
        line=row["line"],
        text=row["text"] or "",
        rows=row["rows"],
        counted_rows=row["counted_rows"],
        files=row["files"],
        ranks=row["ranks"],
        last_at=row["last_ts"],
    )


def _look_around(
    evidence: Sequence[Evidence], look: Look, most: int, *, last_words: bool
) -> tuple[Evidence, ...]:
    """Return the lines of evidence with their neighbours; every file is opened once."""
    numbers: dict[str, set[int]] = {}
    texts: dict[str, dict[int, str]] = {}
    windows: list[range] = []
    for one in evidence:
        line = one.line or 0
        after = _LAST_WORDS if last_words and one.role == "last_step" else most
        windows.append(range(max(1, line - most), line + after + 1) if line else range(0))
        numbers.setdefault(one.source_id, set()).update(windows[-1])
        if one.signal_id is not None and line:
            texts.setdefault(one.source_id, {})[line] = one.text
    seen = {
        source: look(source, frozenset(wanted), texts.get(source, {})) for source, wanted in numbers.items()
    }
    shown = []
    for one, window in zip(evidence, windows, strict=True):
        around = seen[one.source_id]
        # In a changed file only what still reads as it did is a neighbour of anything.
        good = around.state != "changed" or one.line in around.lines
        lines = tuple(LogLine(n, around.lines[n]) for n in window if good and n in around.lines)
        shown.append(replace(one, log=around.state, log_note=around.why, lines=lines))
    return tuple(shown)


def _count_signals(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many kinds of line the catalogue knows that speak of an end."""
    found = records(con, "select count(*) as n from seeds.signals where weight in ('cause', 'symptom')", [])
    return int(found[0]["n"])


def _verdict(head: dict[str, Any]) -> Verdict | None:
    """Return what a person decided, or None."""
    if not head["has_verdict"]:
        return None
    return Verdict(
        cause=head["cause"],
        title=head["title"],
        owner=head["verdict_owner"],
        reason=head["verdict_reason"],
        date=head["verdict_date"],
        role=head["verdict_role"],
        cause_by_evidence=head["cause_by_evidence"],
        title_by_evidence=head["title_by_evidence"] or head["cause_by_evidence"],
        fit=head["verdict_fit"],
    )


def _advice(head: dict[str, Any]) -> Advice:
    """Return what the taxonomy advises, and the row that overrules it."""
    columns = ("incident_id", "cause", "owner", "reason", "date", "role")
    other = head["runner_up_cause"] or head["cause"]
    return Advice(
        meaning=head["meaning"],
        first_action=head["first_action"],
        for_signal=head["for_signal"],
        benign_when=BENIGN.get(head["benign_when"] or "", head["benign_when"]) or None,
        reference=head["reference"],
        owner=head["owner"],
        verdict_head=_csv(columns),
        # An empty owner is that of the cause; a date that nobody wrote is not made up.
        verdict_line=_csv((head["incident_id"], other, "", "why you say so", "", "your role")),
    )


def _csv(cells: Sequence[str]) -> str:
    """Return cells as one line of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()
