"""``goodput formats``: which logs are understood."""

from __future__ import annotations

import click

from pipeline.commands.layout import text_table
from pipeline.errors import GoodputError, nearest
from pipeline.formats.format import Format, Pattern


@click.command()
@click.argument("name", required=False, metavar="[NAME]")
def formats(name: str | None) -> int:
    """List the log formats, or show what is read from one of them.

    A file gets the format that knows most of its lines. Formats that name no file are read inside the
    output of other programs. A file of no format is `unknown`: its lines are counted and nothing is guessed.

    \b
    Example:
      goodput formats
      goodput formats megatron
    """
    from pipeline.formats import registry

    known = registry()
    if name is None:
        header = ("format", "read from", "role", "names a file", "versions")
        rows = [(f.name, f.title, f.role, "yes" if f.primary else "no", f.versions) for f in known.values()]
        click.echo(text_table(header, rows))
        return 0
    if name not in known:
        raise GoodputError(f"unknown format `{name}`", now=nearest(name, known) or "see `goodput formats`")
    click.echo(describe(known[name]))
    return 0


def describe(fmt: Format) -> str:
    """Return what is read from a format: its patterns, the columns they fill, what its step time includes."""
    head = [f"{fmt.name}: {fmt.title}", f"  {fmt.link}", f"  role {fmt.role}, {fmt.shape}"]
    if fmt.versions:
        head.append(f"  versions: {fmt.versions}")
    if fmt.step_time:
        head.append(f"  step time: {fmt.step_time}")
    if told := name_habits(fmt):
        head.append(f"  habits: {told}")
    if fmt.unrendered:
        head.append(f"  not simulated: {fmt.unrendered}")
    return "\n".join([*head, "", *(_pattern(pattern) for pattern in fmt.patterns)])


def name_habits(fmt: Format) -> str:
    """Return the habits of a format's program, as `goodput sql` finds them in `events.formats`."""
    from pipeline.ingest.habits import habits_of

    told = ((name, value) for name, value in habits_of(fmt).items() if value and name != "format")
    return ", ".join(name if value is True else f"{name} {_value(value)}" for name, value in told)


def _value(value: object) -> str:
    """Return the value of a habit: the keys of a product with dots between them, a number as it is."""
    return " · ".join(value) if isinstance(value, list) else str(value)


def _pattern(pattern: Pattern) -> str:
    """Return a pattern as a few indented lines."""
    title = f"{pattern.name} -> {pattern.table or 'nothing: the line is known, and carries no event'}"
    lines = [
        title,
        f"  columns   {', '.join((*pattern.columns, *pattern.extras))}" if pattern.columns else "",
    ]
    lines.append(f"  versions  {pattern.versions}" if pattern.versions else "")
    if pattern.regex:
        lines += ["  regex", *(f"    {row.strip()}" for row in pattern.regex.splitlines() if row.strip())]
    lines.append(
        f"  fields    {', '.join((*pattern.when, *pattern.where))}" if pattern.when or pattern.where else ""
    )
    lines.append(f"  note      {pattern.note}" if pattern.note else "")
    return "\n".join(line for line in lines if line)
