"""``goodput signals``: what counts as evidence of a fault."""

from __future__ import annotations

from collections.abc import Mapping

import click

from pipeline.commands.layout import text_table
from pipeline.errors import GoodputError, nearest
from pipeline.project import read_seed


@click.command()
@click.argument("name", required=False, metavar="[NAME]")
def signals(name: str | None) -> int:
    """List the signals of faults, or explain one, or a cause.

    NAME is a signal or a cause. An incident gets the cause of the signal with the smallest rank; a signal
    of weight `symptom` counts only where no `cause` was seen, one of weight `noise` never.
    Reads sql/seeds/signals.csv and sql/seeds/causes.csv.

    \b
    Example:
      goodput signals
      goodput signals gpu_fell_off_bus
    """
    rows, causes = read_seed("signals"), {row["code"]: row for row in read_seed("causes")}
    if name is None:
        click.echo(_listed(rows))
        return 0
    signal = next((row for row in rows if row["signal_id"] == name), None)
    if signal is not None:
        click.echo(_signal(signal))
    cause = causes.get(signal["cause"] if signal is not None else name)
    if cause is None and signal is None:
        hint = nearest(name, [*causes, *(row["signal_id"] for row in rows)])
        raise GoodputError(f"unknown signal `{name}`", now=hint or "see `goodput signals`")
    if cause is not None:
        click.echo(_cause(cause))
        if signal is None:
            click.echo(_listed([row for row in rows if row["cause"] == name]))
    return 0


def _listed(rows: list[Mapping[str, str]] | tuple[Mapping[str, str], ...]) -> str:
    """Return signals as a table, strongest evidence first."""
    ordered = sorted(rows, key=lambda row: (int(row["causal_rank"]), row["signal_id"]))
    header = ("signal", "rank", "weight", "cause", "seen in", "literal")
    keys = ("signal_id", "causal_rank", "weight", "cause", "source", "literal")
    return text_table(header, [[row[key] for key in keys] for row in ordered])


def _signal(row: Mapping[str, str]) -> str:
    """Return what is known of a signal."""
    labels = {
        "seen in": "source",
        "regex": "regex",
        "example": "example",
        "rank": "causal_rank",
        "weight": "weight",
        "benign": "benign_when",
        "action": "action",
        "verified": "verified",
    }
    lines = [f"  {label:<9} {row[key]}" for label, key in labels.items() if row[key]]
    return "\n".join([f"{row['signal_id']} -> {row['cause']}", *lines])


def _cause(row: Mapping[str, str]) -> str:
    """Return what is known of a cause."""
    return (
        f"{row['code']}: {row['title']}\n  {row['meaning']}\n"
        f"  domain {row['domain']}, layer {row['layer']}, owner {row['owner']}\n"
        f"  first: {row['first_action']}"
    )
