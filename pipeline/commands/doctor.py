"""``goodput doctor``: what each file is taken for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
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
    from pipeline.ledger.clocks import Clock

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
    of its stamps, how far its clock is ahead, the longest silence, and the most frequent shapes of lines
    that nothing knows; then which zones and years are inferred or assumed, and from what.

    Writes nothing.

    \b
    Example:
      goodput doctor data/samples/fallen-gpu
    """
    from pipeline.ingest.doctor import diagnose
    from pipeline.ledger.clocks import read_clocks

    need_logs(logs, "goodput doctor data/samples/fallen-gpu")
    config = read_config(logs, config_file)
    with TemporaryDirectory(prefix="goodput-") as store:
        with Progress() as progress:
            reports = diagnose(logs, config, workers=workers, top=top, progress=progress, clocks=Path(store))
        clocks = read_clocks(Path(store), config)
    click.echo("\n".join(_told(reports, clocks)))
    return 2 if all(report.error and not report.lines for report in reports) else 0


def _told(reports: Sequence[SourceReport], clocks: Mapping[str, Clock]) -> Iterator[str]:
    """Yield the findings line by line: a table of files, what is odd in each, their clocks, and the sums."""
    numbers = ("score", "lines", "parsed", "unknown", "bad", "clock", "silence")
    header = ("file", "format", "score", "next best", *numbers[1:5], "first time (UTC)", "zone", *numbers[5:])
    yield text_table(header, [_row(report, clocks.get(report.path)) for report in reports], right=numbers)
    yield ""
    for report in reports:
        yield from _oddities(report)
    yield from _clocks(reports, clocks)
    yield from _sums(reports)


def _row(report: SourceReport, clock: Clock | None) -> tuple[object, ...]:
    """Return one file as a row of the table."""
    known = f"{100 * report.score:.0f} %" if report.lines else None
    counts = (report.lines, report.parsed, report.unknown, report.bad)
    silence = None if report.gap_s is None else f"{report.gap_s:,.0f} s"
    taken_for = (report.path, report.format, known, report.runner_up)
    first = report.first_ts if clock is None or clock.first_ts is None else clock.first_ts
    offset = None if clock is None or clock.offset_s is None else f"{clock.offset_s:+,.1f} s"
    return (*taken_for, *counts, _time(first), _zone(report, clock), offset, silence)


def _time(at: datetime | None) -> str | None:
    """Return a time to the second; without a year where the lines print none and nothing tells which."""
    if at is None:
        return None
    return at.strftime("%m-%d %H:%M:%S, no year" if at.year == PLACEHOLDER_YEAR else "%Y-%m-%d %H:%M:%S")


def _zone(report: SourceReport, clock: Clock | None) -> str | None:
    """Return the zone of a file in few words; what says so stands below the table."""
    if clock is None or not _needs_zone(report):
        return report.zone
    name, bracket, _ = clock.zone_told.partition(" (")
    how = {"assumed": "assumed", "printed": "printed"}.get(clock.zone_from, "inferred")
    return f"{name} ({how})" if bracket else name


def _needs_zone(report: SourceReport) -> bool:
    """Return whether a file prints a time without an offset."""
    return report.zone not in (None, "logged")


def _clocks(reports: Sequence[SourceReport], clocks: Mapping[str, Clock]) -> Iterator[str]:
    """Yield which zones and years were inferred or assumed, and from what; files of one answer together."""
    answers: dict[str, list[str]] = {}
    for report in reports:
        clock = clocks.get(report.path)
        if clock is None or report.duplicate_of:
            continue
        if _needs_zone(report) and clock.zone_from != "configuration":
            zone = f"are read in {clock.zone_told}"
            if clock.zone_from == "assumed":
                zone = "are assumed to be of UTC, where nothing tells more ([zones] in goodput.toml can)"
                if name := clock.zone_told.partition(" is called ")[2].removesuffix(")"):
                    zone += f"; more than one zone is called {name}"
            answers.setdefault(f"stamps without a zone {zone}", []).append(report.path)
        if clock.year_from is not None:
            answers.setdefault(f"stamps without a year are {_year(clock)}", []).append(report.path)
        if clock.moves:
            ahead = "ahead of" if (clock.offset_s or 0) > 0 else "behind"
            answers.setdefault(
                f"a host in it is {abs(clock.offset_s or 0):,.1f} s {ahead} the one that told most steps, by "
                f"{clock.pairs:,} steps that both printed, and its stamps are corrected",
                [],
            ).append(report.path)
    for answer, paths in answers.items():
        shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3:,} more" if len(paths) > 3 else "")
        yield visible(f"clock: {answer}: {shown}")


def _year(clock: Clock) -> str:
    """Return of which year the stamps of a file are that print none, and what says so."""
    if clock.first_year is None:
        return (
            "of no known year, and so no times: nothing dated is near, or what is dated is of several years"
        )
    years = f"of {clock.first_year}"
    if clock.last_year != clock.first_year:
        years += f" to {clock.last_year}, which turns where they fall back to January"
    near = {
        "log": "as the dated lines of the log itself",
        "job": f"as accounting of job {clock.year_near}",
        "folder": f"as {clock.year_near or 'the dated files'} beside it",
        "everything": f"as {clock.year_near or 'all dated files, which agree'}",
    }
    return f"{years}, {near[clock.year_from or 'everything']}"


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
