"""``goodput ingest``: from logs to event tables."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.commands.options import config_option, logs_argument, read_config, store_option, workers_option
from pipeline.commands.stages import hold_folders, ingest_logs, need_logs


@click.command()
@logs_argument
@store_option("Folder to write the event tables into.")
@config_option
@workers_option
def ingest(logs: tuple[str, ...], store: Path, config_file: Path | None, workers: int) -> int:
    """Read logs into event tables, and decide nothing.

    LOGS are files, folders, archives or URLs of a store. Files that have not changed since the last time
    are not read again, and a command that was interrupted goes on where it was.

    Writes DIR/events/ (Parquet, one table per kind of event) and DIR/manifest.json. `classify` or
    `report --store` come next.

    \b
    Example:
      goodput ingest data/samples/fallen-gpu --store reports/fallen-gpu
    """
    need_logs(logs, "goodput ingest data/samples/fallen-gpu --store reports/fallen-gpu")
    config = read_config(logs, config_file)
    with hold_folders(store):
        click.echo(ingest_logs(logs, store, config, workers))
    return 0
