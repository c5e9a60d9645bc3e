"""``goodput doctor``: what each file is taken for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.layout import counted, text_table
from pipeline.commands.options import config_option, logs_argument, read_config, workers_option
from pipeline.commands.progress import Progress
from pipeline.commands.stages import need_logs
from pipeline.plain import visible
from pipeline.tables import PLACEHOLDER_YEAR

if TYPE_CHECKING:
    from pipeline.ingest.doctor import SourceReport

#: What a set of logs can lack, and what a review cannot say then.
LACKS = {
    "trainer": "no log of a trainer: without step lines no time is productive",
    "scheduler": "no accounting: allocations are inferred from first and last lines, and queues are not seen",
    "node": "no kernel logs: a fault of the hardware is told only by what the trainer says of it",
}


@click.command()
@logs_argument
@click.option(
    "--top", type=click.IntRange(min=0), default=3, show_default=True, help="Unknown shapes shown per file."
)
@config_option
@workers_option
def doctor(logs: tuple[str, ...], top: int, config_file: Path | None, workers: int) -> int:
    """Show what each file is taken for, and what is not understood in it.

    LOGS are files, folders, archives or URLs of a store. For each file: the format and the share of lines
    that it knows, the next best format, its lines (parsed, unknown, bad: torn or undecodable), the zone
    of its stamps and whether that is assumed, the longest silence, and the most frequent shapes of lines
    that nothing knows.

    Writes nothing.

    \b
    Example:
      goodput doctor data/samples/fallen-gpu
    """
    from pipeline.ingest.doctor import diagnose

    need_logs(logs, "goodput doctor data/samples/fallen-gpu")
    config = read_config(logs, config_file)
    with Progress() as progress:
        reports = diagnose(logs, config, workers=workers, top=top, progress=progress)
    click.echo("\n".join(_told(reports)))
    return 2 if all(report.error and not report.lines for report in reports) else 0


def _told(reports: Sequence[SourceReport]) -> Iterator[str]:
    """Yield the findings line by line: a table of files, what is odd in each, and the sums."""
    numbers = ("score", "lines", "parsed", "unknown", "bad", "silence")
    header = ("file", "format", "score", "next best", *numbers[1:5], "first time (UTC)", "zone", "silence")
    yield text_table(header, [_row(report) for report in reports], right=numbers)
    yield ""
    for report in reports:
        yield from _oddities(report)
    yield from _sums(reports)


def _row(report: SourceReport) -> tuple[object, ...]:
    """Return one file as a row of the table."""
    known = f"{100 * report.score:.0f} %" if report.lines else None
    counts = (report.lines, report.parsed, report.unknown, report.bad)
    silence = None if report.gap_s is None else f"{report.gap_s:,.0f} s"
    taken_for = (report.path, report.format, known, report.runner_up)
    return (*taken_for, *counts, _time(report.first_ts), report.zone, silence)


def _time(at: datetime | None) -> str | None:
    """Return a time to the second; without a year where the lines print none."""
    if at is None:
        return None
    return at.strftime("%m-%d %H:%M:%S, no year" if at.year == PLACEHOLDER_YEAR else "%Y-%m-%d %H:%M:%S")


def _oddities(report: SourceReport) -> Iterator[str]:
    """Yield what a reader should know of one file beside its row."""
    if report.error:
        yield visible(f"{report.path}: {report.error}")
    if report.duplicate_of:
        yield visible(f"{report.path}: the same content as {report.duplicate_of}, and read only there")
    if report.templates:
        yield visible(f"{report.path}: shapes of its unknown lines")
        for shape in report.templates:
            yield f"  {shape.count:>7,}  {visible(shape.example[:120])}  (line {shape.line:,})"


def _sums(reports: Sequence[SourceReport]) -> Iterator[str]:
    """Yield what the logs lack, and the account of all lines; a content that is there twice counts once."""
    for role, told in LACKS.items():
        if not any(report.role == role for report in reports):
            yield f"note: {told}"
    own = [report for report in reports if not report.duplicate_of]
    lines, parsed, unknown, bad = (
        sum(getattr(report, name) for report in own) for name in ("lines", "parsed", "unknown", "bad")
    )
    unread = sum(bool(report.error) for report in reports)
    again = len(reports) - len(own)
    yield (
        f"{counted(len(reports), 'file')}, {unread:,} not readable, {again:,} read elsewhere; "
        f"{counted(lines, 'line')} = {parsed:,} parsed + {unknown:,} unknown + {bad:,} bad"
    )
