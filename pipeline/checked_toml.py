"""TOML with opinions: every key that is read is known, everything else is an error that names its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, cast

from pipeline.errors import GoodputError, nearest
from pipeline.windows import as_utc

#: More than anybody owns; numbers of the ledger stay far below 64 bits.
MAX_INTEGER = 10**9

_HEADER = re.compile(r"\s*\[")


def read_toml(path: Path, text: str) -> Section:
    """Return the root section of a TOML text; ``path`` is only named in errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise GoodputError(
            "the configuration is not valid TOML",
            where=f"{path}:{line[1]}" if line else str(path),
            why=str(error)[:1].lower() + str(error)[1:],
            now="mend that line; texts need quotes, and a table begins with its name in brackets",
        ) from None
    return Section(data, (), path, text)


class Section:
    """One table of the file. Each ``take_…`` makes its key known; ``close`` refuses the keys nobody took."""

    def __init__(self, data: Mapping[str, Any], name: tuple[str, ...], path: Path, text: str) -> None:
        self.data, self.name, self.path, self.text = data, name, path, text
        self.known: dict[str, None] = {}

    def _take(self, key: str, expected: str, types: tuple[type, ...]) -> Any:
        """Return the value of a key if it has one of the types; None where the key is absent."""
        self.known[key] = None
        value = self.data.get(key)
        # bool is an int for Python, and never what a number of GPUs means.
        if value is None or (isinstance(value, types) and (bool in types or not isinstance(value, bool))):
            return value
        raise self.error(key, f"`{key}` is {_describe(value)}", f"expected {expected}")

    def take_text(self, key: str) -> str | None:
        """Return a text."""
        return cast(str | None, self._take(key, "a text in quotes", (str,)))

    def take_flag(self, key: str) -> bool | None:
        """Return true or false."""
        return cast(bool | None, self._take(key, "true or false", (bool,)))

    def take_integer(self, key: str) -> int | None:
        """Return a positive whole number; ``1e3`` counts as one."""
        value = self.take_number(key)
        if value is not None and value != int(value):
            raise self.error(key, f"`{key}` is {value}", "expected a whole number")
        if value is not None and value > MAX_INTEGER:
            raise self.error(key, f"`{key}` is {value:.15g}", f"expected at most {MAX_INTEGER:,}")
        return None if value is None else int(value)

    def take_number(self, key: str) -> float | None:
        """Return a positive, finite number."""
        value = self._take(key, "a number", (int, float))
        if value is not None and not 0 < value < float("inf"):
            raise self.error(key, f"`{key}` is {value}", "expected a number above zero")
        return None if value is None else float(value)

    def take_choice(self, key: str, allowed: Collection[str]) -> str | None:
        """Return a text that is one of the allowed ones."""
        value = self.take_text(key)
        if value is not None and value not in allowed:
            raise self.error(
                key,
                f"`{key}` is `{value}`",
                f"expected {', '.join(f'`{a}`' for a in allowed)}",
                nearest(value, allowed),
            )
        return value

    def take_texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one, an absent key an empty one."""
        value = self._take(key, "a list of texts", (str, list))
        if isinstance(value, list) and not all(isinstance(v, str) for v in value):
            raise self.error(key, f"`{key}` holds {_describe(value)}", "expected a list of texts in quotes")
        return (value,) if isinstance(value, str) else tuple(value or ())

    def take_moment(self, key: str) -> datetime | None:
        """Return a time in UTC; a date is its midnight, a time without offset is read as UTC."""
        value = self._take(key, "a date or a time such as 2026-10-05T03:00:00Z, without quotes", (date,))
        if value is None or isinstance(value, datetime):
            return None if value is None else as_utc(value)
        return datetime.combine(value, time(), UTC)

    def take_span(self, key: str) -> tuple[datetime, datetime] | None:
        """Return the begin and the end of a day in UTC; of a time, that moment twice."""
        moment = self.take_moment(key)
        if moment is None:
            return None
        return moment, moment if isinstance(self.data[key], datetime) else moment + timedelta(days=1)

    def take_section(self, key: str) -> Section:
        """Return a table below this one; an empty one where the key is absent."""
        value = self._take(key, f"a table: [{'.'.join((*self.name, key))}]", (dict,))
        return Section(value or {}, (*self.name, key), self.path, self.text)

    def take_sections(self, key: str) -> tuple[Section, ...]:
        """Return the tables of an array of tables; one table is an array of one."""
        name = (*self.name, key)
        value = self._take(key, f"tables: [[{'.'.join(name)}]]", (dict, list))
        rows = [value] if isinstance(value, dict) else value or []
        if not all(isinstance(row, dict) for row in rows):
            raise self.error(
                key, f"`{key}` holds {_describe(value)}", f"expected tables: [[{'.'.join(name)}]]"
            )
        return tuple(Section(row, name, self.path, self.text) for row in rows)

    def close(self) -> None:
        """Refuse the first key that nobody asked for."""
        for key in self.data:
            if key not in self.known:
                where = f" in [{'.'.join(self.name)}]" if self.name else ""
                known = f"known here: {', '.join(f'`{k}`' for k in self.known)}"
                raise self.error(key, f"unknown key `{key}`{where}", known, nearest(key, self.known))

    def error(self, key: str, what: str, why: str = "", now: str = "") -> GoodputError:
        """Return an error about a key of this section, with its file and line."""
        line = self._line_of(key)
        return GoodputError(what, where=f"{self.path}:{line}" if line else str(self.path), why=why, now=now)

    def _line_of(self, key: str) -> int | None:
        """Return the line that names the key in this section, or that opens the section of its name."""
        assignment = re.compile(rf"""\s*(["']?){re.escape(key)}\1\s*[=.]""")
        for number, name, row in _with_headers(self.text):
            opens = _HEADER.match(row) is not None and name[: len(self.name) + 1] == (*self.name, key)
            if opens or (name == self.name and assignment.match(row)):
                return number
        return None


def _with_headers(text: str) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """Yield line number, name of the table that the line is in, and the line."""
    name: tuple[str, ...] = ()
    for number, row in enumerate(text.splitlines(), 1):
        if _HEADER.match(row):
            with suppress(tomllib.TOMLDecodeError):  # a line of a multi-line array may begin with a bracket
                name = _path_of(tomllib.loads(row))
        yield number, name, row


def _path_of(nested: object) -> tuple[str, ...]:
    """Return the keys of a table header that was read on its own."""
    if isinstance(nested, list):
        return _path_of(nested[0])
    if isinstance(nested, dict) and nested:
        ((key, below),) = nested.items()
        return (str(key), *_path_of(below))
    return ()


def _describe(value: object) -> str:
    """Return what a value is, for an error message."""
    kinds = {bool: "true or false", str: "a text", dict: "a table", list: "a list"}
    named = kinds.get(type(value))
    if named is None:
        named = "a date or time" if isinstance(value, date | time) else "a number"
    shown = repr(value) if isinstance(value, str | int | float) else ""
    return f"{named} ({shown})" if shown else named
