"""``goodput sql``: read-only questions to the ledger."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pipeline.commands.options import store_option
from pipeline.errors import GoodputError


@click.command()
@click.argument("query", required=False, metavar="QUERY")
@store_option("The store that `classify` or `report` wrote.")
@click.option(
    "-f",
    "--file",
    "query_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read QUERY from a file.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    show_default=True,
    help="How rows are printed; parquet is binary, for a file or a pipe.",
)
def sql(query: str | None, store: Path, query_file: Path | None, form: str) -> int:
    """Ask the ledger a question in SQL.

    QUERY is one SELECT; nothing can be changed, and neither files nor the network can be reached. Times are
    UTC. Useful relations: marts.goodput, marts.losses, ledger.intervals, ledger.incidents; `describe
    marts.goodput` shows columns, docs/tables.md says what they mean, sql/queries holds examples.

    \b
    Example:
      goodput sql --store reports/fallen-gpu "select category, sum(gpu_s) from marts.losses group by all"
      goodput sql --store reports/fallen-gpu -f sql/queries/worst_incidents.sql --format csv
    """
    from pipeline.ledger.query import open_store, run_sql

    text = _query_text(query, query_file)
    if form == "parquet" and sys.stdout.isatty():
        raise GoodputError(
            "parquet is not for a terminal", now="write `goodput sql … --format parquet > FILE`"
        )
    with open_store(store) as con:
        result = run_sql(con, text, form)
    sys.stdout.buffer.write(result if isinstance(result, bytes) else result.encode(errors="replace"))
    return 0


def _query_text(query: str | None, query_file: Path | None) -> str:
    """Return the query from the one place in which it was given."""
    if (query is None) == (query_file is None):
        raise GoodputError(
            "no query was given" if query is None else "two queries were given",
            why="a query is the argument, or the file of `-f`",
            now='write for example `goodput sql --store DIR "select * from marts.goodput"`',
        )
    if query_file is None:
        return query or ""
    try:
        return query_file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise GoodputError("the query is not UTF-8 text", where=str(query_file)) from None
