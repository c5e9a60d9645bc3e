"""The registry: every module of this package that has a ``FORMAT``, found by import, never listed by hand."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module

import polars as pl

from pipeline.errors import nearest
from pipeline.formats.format import Format, Head, Pattern, Value
from pipeline.tables import EVENT_TABLES

__all__ = ["BadFormatError", "check_format", "fields_of", "group_names", "names_of", "registry"]


#: Names of the groups of an expression.
_GROUP = re.compile(r"\(\?P?<(\w+)>")


class BadFormatError(Exception):
    """A format module breaks a rule of the house. A mistake of its author, never of a user."""


@cache
def registry() -> dict[str, Format]:
    """Return every format by name, in name order.

    The rules of the house are not checked here, which would cost every start: the tests do it.

    Raises:
        BadFormatError: a module whose format has another name.
    """
    found: dict[str, Format] = {}
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        fmt = getattr(import_module(f"{__name__}.{name}"), "FORMAT", None)
        if fmt is None:
            continue
        if fmt.name != name:
            raise BadFormatError(f"module `{name}` calls its format `{fmt.name}`: both need one name")
        found[name] = fmt
    return found


def check_format(fmt: Format) -> Iterator[str]:
    """Yield what is wrong with a format, one sentence each; nothing when it keeps the rules of the house."""
    names = [pattern.name for pattern in fmt.patterns]
    yield from (
        f"{fmt.name}: two patterns are called `{n}`" for n in sorted({n for n in names if names.count(n) > 1})
    )
    yield from (
        f"{fmt.name}: deciding pattern `{n}` does not exist; {nearest(n, names)}"
        for n in fmt.deciding
        if n not in names
    )
    yield from (
        f"{fmt.name}: head `{head.regex}`: {problem}"
        for head in fmt.heads
        for problem in (_check_head(head), *_refused((head.regex,)))
        if problem
    )
    for pattern in fmt.patterns:
        where = f"{fmt.name}.{pattern.name}"
        problems = [*_check_pattern(fmt, pattern), *_check_regexes(pattern)]
        yield from (f"{where}: {problem}" for problem in problems)


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
        groups = {name for regex in (pattern.regex, pattern.each) for name in _GROUP.findall(regex)}
        wanted = {name for value in pattern.columns.values() for name in names_of(value)}
        yield from (f"no group `{name}`; {nearest(name, groups)}" for name in sorted(wanted - groups))
    for column, (regex, _) in pattern.extras.items():
        if _GROUP.findall(regex) != ["v"]:
            yield f"the expression of `{column}` needs exactly one group, named `v`"


def _check_head(head: Head) -> str:
    """Return what is wrong with the head of a line; empty where nothing is."""
    if re.search(r"(?<!\\)\((?!\?:)", head.regex):
        return "only groups that take nothing, `(?:…)`, may stand in it"
    return "" if head.regex.strip("^$") == head.regex else "it is looked for anywhere, so no anchor helps"


def _check_regexes(pattern: Pattern) -> Iterator[str]:
    """Yield which regular expressions of a pattern do not compile, and why."""
    return _refused((pattern.regex, pattern.each, *(extra for extra, _ in pattern.extras.values())))


def _refused(expressions: Iterable[str]) -> Iterator[str]:
    """Yield which regular expressions do not compile, and why; empty ones do."""
    for regex in filter(None, expressions):
        try:
            pl.Series([""]).str.contains(regex)
        except pl.exceptions.ComputeError as error:
            reason = [line for line in str(error).splitlines() if line.startswith("error:")] or [str(error)]
            yield f"regular expression does not compile: {reason[-1].removeprefix('error: ')}"


def names_of(value: Value) -> tuple[str, ...]:
    """Return the names of all groups or fields that a value reads."""
    return (
        *group_names(value.group),
        *group_names(value.less),
        *group_names(value.times),
        *group_names(value.index),
        *(value.plus or ()),
    )


def group_names(group: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a ``Value.group`` as a tuple; empty for a constant."""
    return group if isinstance(group, tuple) else (group,) if group else ()


def fields_of(fmt: Format, patterns: Iterable[Pattern]) -> tuple[str, ...]:
    """Return the fields of records that patterns of a format read, or that others are cut out of.

    In order of their first use, without those that are cut out of others.
    """
    names: dict[str, None] = {}
    for pattern in patterns:
        for value in pattern.columns.values():
            names |= dict.fromkeys(names_of(value))
        names |= dict.fromkeys((*pattern.when, *pattern.where))
    for derived in fmt.derive.values():
        names |= dict.fromkeys(derived.fields)
    return tuple(name for name in names if name not in fmt.derive)
