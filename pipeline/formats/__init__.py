"""The registry: every module of this package that has a ``FORMAT``, found by import, never listed by hand."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import polars as pl

from pipeline.errors import nearest
from pipeline.formats.format import Format, Pattern
from pipeline.tables import EVENT_TABLES

__all__ = ["BadFormatError", "check_format", "registry"]


class BadFormatError(Exception):
    """A format module breaks a rule of the house. A mistake of its author, never of a user."""


@cache
def registry() -> dict[str, Format]:
    """Return every format by name, in name order.

    Raises:
        BadFormatError: a module whose format has another name, or a format that ``check_format`` refuses.
    """
    found: dict[str, Format] = {}
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        fmt = getattr(import_module(f"{__name__}.{name}"), "FORMAT", None)
        if fmt is None:
            continue
        if fmt.name != name:
            raise BadFormatError(f"module `{name}` calls its format `{fmt.name}`: both need one name")
        problems = list(check_format(fmt))
        if problems:
            raise BadFormatError("\n".join(problems))
        found[name] = fmt
    return found


def check_format(fmt: Format) -> Iterator[str]:
    """Yield what is wrong with a format, one sentence each; nothing when it may be registered."""
    names = [pattern.name for pattern in fmt.patterns]
    yield from (
        f"{fmt.name}: two patterns are called `{n}`" for n in sorted({n for n in names if names.count(n) > 1})
    )
    yield from (
        f"{fmt.name}: deciding pattern `{n}` does not exist; {nearest(n, names)}"
        for n in fmt.deciding
        if n not in names
    )
    for pattern in fmt.patterns:
        where = f"{fmt.name}.{pattern.name}"
        yield from (f"{where}: {problem}" for problem in _check_pattern(fmt, pattern))


def _check_pattern(fmt: Format, pattern: Pattern) -> Iterator[str]:
    """Yield what is wrong with one pattern."""
    table = EVENT_TABLES.get(pattern.table)
    if pattern.table and (table is None or not table.provenance):
        yield f"no event table `{pattern.table}`; {nearest(pattern.table, EVENT_TABLES)}"
    filled = (*pattern.columns, *pattern.extras, *pattern.bars)
    known = [column.name for column in table.columns] if table else []
    yield from (
        f"`{pattern.table}` has no column `{c}`; {nearest(c, known)}" for c in filled if c not in known
    )
    if fmt.shape == "lines":
        if not pattern.literals or not all(pattern.literals):
            yield "needs literals that are not empty"
        if not pattern.regex:
            yield "needs a regular expression"
    groups: set[str] = set()
    for regex in filter(None, (pattern.regex, pattern.each)):
        found, problem = groups_of(regex)
        groups.update(found)
        if problem:
            yield problem
    for column, (regex, _) in pattern.extras.items():
        found, problem = groups_of(regex)
        if problem or found != ("v",):
            yield problem or f"the expression of `{column}` needs exactly one group, named `v`"
    if fmt.shape == "lines":
        wanted = {name for value in pattern.columns.values() for name in group_names(value.group)}
        yield from (f"no group `{name}`; {nearest(name, groups)}" for name in sorted(wanted - groups))


def group_names(group: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a ``Value.group`` as a tuple; empty for a constant."""
    return group if isinstance(group, tuple) else (group,) if group else ()


def groups_of(regex: str) -> tuple[tuple[str, ...], str]:
    """Return the named groups of a Rust regular expression, and why it does not compile or an empty text."""
    try:
        fields = pl.Series([""]).str.extract_groups(regex).struct.fields
    except pl.exceptions.ComputeError as error:
        reason = [line for line in str(error).splitlines() if line.startswith("error:")] or [str(error)]
        return (), f"regular expression does not compile: {reason[-1].removeprefix('error: ')}"
    return tuple(name for name in fields if not name.isdigit()), ""
