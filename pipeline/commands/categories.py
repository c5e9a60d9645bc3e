"""``goodput categories``: what a span of time can be spent on."""

from __future__ import annotations

import click

from pipeline.commands.layout import text_table
from pipeline.errors import GoodputError, nearest
from pipeline.project import read_seed


@click.command()
@click.argument("name", required=False, metavar="[NAME]")
def categories(name: str | None) -> int:
    """List what time can be spent on, by layer, or explain one category.

    Where claims about the same time contradict each other, the one with the higher precedence holds.
    Reads sql/seeds/categories.csv.

    \b
    Example:
      goodput categories
      goodput categories lost_work
    """
    rows = read_seed("categories")
    if name is None:
        shown = [[r["category"], int(r["precedence"]), r["layer"], r["title"]] for r in rows]
        click.echo(text_table(("category", "precedence", "layer", "title"), shown, right=("precedence",)))
        return 0
    row = next((r for r in rows if r["category"] == name), None)
    if row is None:
        known = [r["category"] for r in rows]
        raise GoodputError(
            f"unknown category `{name}`", now=nearest(name, known) or "see `goodput categories`"
        )
    click.echo(f"{row['category']}: {row['title']}\n  {row['meaning']}")
    click.echo(f"  layer {row['layer']}, precedence {row['precedence']}")
    return 0
