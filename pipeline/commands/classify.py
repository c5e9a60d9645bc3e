"""``goodput classify``: from event tables to the ledger."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import click

from pipeline.commands.options import config_option, read_config, store_option, window_of, window_options
from pipeline.commands.stages import classify_store, kept_config


@click.command()
@store_option("The store that `ingest` wrote.")
@window_options
@config_option
def classify(
    store: Path,
    window: timedelta | None,
    start: datetime | None,
    end: datetime | None,
    week: str | None,
    config_file: Path | None,
) -> int:
    """Decide what every GPU-second was spent on, and check the result.

    Reads the event tables of a store and runs the SELECT statements of sql/ over them. The checks of
    sql/checks come last; one that returns rows ends the command with exit code 1, and the ledger is
    written nevertheless.

    Writes DIR/goodput.duckdb, which `goodput sql` and any DuckDB client can read.

    \b
    Example:
      goodput classify --store reports/fallen-gpu --window 1h
    """
    config = read_config([str(kept_config(store))], config_file)
    built, code = classify_store(store, config, window_of(config, window, start, end, week))
    click.echo(built)
    return code
