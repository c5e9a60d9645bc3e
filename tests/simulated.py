"""Simulated stories for tests: written, read back, and compared with their truth."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

import duckdb

from pipeline.cli import run as command
from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.check import Slack, Span, differences
from pipeline.simulate.lines import Style
from pipeline.simulate.slack import slack_of
from pipeline.simulate.story import Story
from pipeline.simulate.write import write_story

_INTERVALS = """
    select epoch_us(i.start_ts), epoch_us(i.end_ts), i.category, i.incident_id,
        coalesce(s.path || ':' || i.line, '')
    from ledger.intervals as i
    left join events.sources as s using (source_id)
    where i.run_id = ? and i.part = 'active'
"""


def violations(
    story: Story,
    out: Path,
    style: Style,
    exact: frozenset[str] | None = None,
    blemishes: Blemishes = CLEAN,
) -> list[str]:
    """Write a story, read its logs, and return a sentence for each difference from its truth.

    ``exact`` are the categories whose boundaries are stamped, those of the trainer where nothing is said.
    """
    shutil.rmtree(out, ignore_errors=True)
    truth = write_story(story, out, style, blemishes)
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        codes = [
            command(["ingest", str(out / "logs"), "--store", str(out / "store")]),
            command(["classify", "--store", str(out / "store")]),
        ]
    found = [] if codes == [0, 0] else [f"exit codes {codes}: {told.getvalue()}"]
    with duckdb.connect(str(out / "store" / "goodput.duckdb"), read_only=True) as con:
        for run in story.runs:
            rows = con.execute(
                "select attempt, incident_id, kind, cause, coalesce(host, ''), lost_steps"
                " from ledger.incidents where run_id = ?",
                [run.name],
            ).fetchall()
            numbers = {row[1]: row[0] for row in rows}
            ledger = [
                Span(start, end, category, numbers.get(incident, 0), evidence)
                for start, end, category, incident, evidence in con.execute(_INTERVALS, [run.name]).fetchall()
            ]
            true = [
                Span(piece.start_us, piece.end_us, piece.category, piece.incident or 0)
                for piece in truth.pieces
                if piece.run == run.name and piece.part == "active"
            ]
            known = slack_of(run, style, blemishes)
            slack = Slack(known.boundary_us, known.stamp_us, known.stamped if exact is None else exact)
            for gap in differences(run.name, true, ledger, slack):
                found.append(
                    f"{(gap.end_us - gap.start_us) / 1e6:.3f} s at {gap.start_us}: {gap.truth} | {gap.ledger}"
                )
            told_of = {row[0]: row for row in rows}
            for incident in truth.incidents:
                if incident.run != run.name:
                    continue
                _, _, kind, cause, host, lost = told_of.get(incident.attempt, (0, "", "", "", "", 0))
                expected = (incident.kind, incident.cause, incident.host)
                if (kind, cause) != expected[:2] or (incident.host and host not in ("", incident.host)):
                    found.append(f"attempt {incident.attempt}: {expected} | {(kind, cause, host)}")
                if abs(lost - incident.lost_steps) >= style.log_interval * known.intervals:
                    found.append(f"attempt {incident.attempt}: lost {incident.lost_steps} | {lost}")
    return found
