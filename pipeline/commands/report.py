"""``goodput report``: from logs to the review."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import click

from pipeline.commands.options import (
    config_option,
    logs_argument,
    read_config,
    store_option,
    window_of,
    window_options,
    workers_option,
)
from pipeline.commands.stages import classify_store, hold_folders, ingest_logs, kept_config
from pipeline.errors import GoodputError


@click.command()
@logs_argument
@store_option("Report from a store that was built before, instead of from logs.", required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", required=True, help="Folder to write into."
)
@click.option(
    "--previous",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="model.json of an earlier review, to print changes against.",
)
@window_options
@config_option
@workers_option
def report(
    logs: tuple[str, ...],
    store: Path | None,
    out: Path,
    previous: Path | None,
    window: timedelta | None,
    start: datetime | None,
    end: datetime | None,
    week: str | None,
    config_file: Path | None,
    workers: int,
) -> int:
    """Read logs and write the review: what every GPU-second was spent on.

    LOGS are files, folders, archives or URLs of a store; what each file is, is found out. `--store` takes
    the place of LOGS where they were read before. Nothing is written outside of `--out` (and of the
    store).

    Writes review.pdf, review.html, model.json (every number of the review), charts/, goodput.duckdb (the
    ledger, for SQL) and events/ (what each line said).

    \b
    Example:
      goodput report data/samples/fallen-gpu --out reports/fallen-gpu
      goodput report --store reports/one-week --out reports/monday --from 2026-10-05 --to 2026-10-06
    """
    from pipeline.report.review import write_review

    if bool(logs) == (store is not None):
        raise GoodputError(
            "logs and a store were both given" if logs else "neither logs nor a store were given",
            why="a review is made from LOGS, or from a store that was built from them before",
            now="write `goodput report LOGS... --out DIR`, or `goodput report --store DIR --out DIR`",
        )
    config = read_config(logs or [str(kept_config(store or out))], config_file)
    windows = window_of(config, window, start, end, week)
    with hold_folders(out, store or out):
        if logs:
            click.echo(ingest_logs(logs, out, config, workers))
        built, code = classify_store(store or out, config, windows)
        click.echo(built)
        summary = write_review(store or out, out, config, previous=previous)
    click.echo(f"\n{summary.headline}\n{summary.second}\n")
    for path in summary.files:
        if path.parent == out:
            click.echo(path)
    return code
