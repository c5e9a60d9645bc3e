"""``goodput explain``: the evidence behind an incident or a moment."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.commands.options import store_option


@click.command()
@click.argument("token", metavar="ID|TIME")
@store_option("The store that `classify` or `report` wrote.")
def explain(token: str, store: Path) -> int:
    """Show the lines of the logs behind an incident, or behind a moment.

    ID is an incident as the review prints it: its phases, its cause with the evidence, why not the
    runner-up, what it cost, what to do first. TIME is a moment in UTC: what each run was doing then,
    which line says so, and which other claims lost.

    \b
    Example:
      goodput explain --store reports/fallen-gpu 2026-03-03T08:10
      goodput explain --store reports/fallen-gpu heron-70b/41207.0/1
    """
    from pipeline.ledger.explain import explain as explain_token
    from pipeline.ledger.query import open_store

    with open_store(store) as con:
        click.echo(explain_token(con, token))
    return 0
