"""Delimited tables whose values are neither quoted nor escaped: one header line, one record a line, mostly.

The delimiter is read off the header. Where a rule of dashes stands below it, columns are as wide as its
dashes, and what was cut ends in a plus. Values may hold the delimiter and even line breaks, since programs
that write such tables print them raw. So a row is believed only when its fields look as the format says they
do; a row that does not is split otherwise, or joined with the lines below it, and is bad where nothing fits.
Columns are never shifted.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.formats import fields_of
from pipeline.formats.format import Format
from pipeline.ingest.derive import derived_fields
from pipeline.ingest.realign import Realigner

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DELIMITER = re.compile(r"[A-Za-z][A-Za-z0-9_]*([^A-Za-z0-9_]+)[A-Za-z]")
#: The rule below the names of columns, and what stands for the blanks between columns once they were cut out.
_RULE = r"^ *-{2,}(?: -{2,})+ *$"
_BETWEEN = "\x1f"

#: A record over more lines than this is damage, not a comment.
MAX_RECORD_LINES = 64


@dataclass(frozen=True, slots=True)
class Header:
    """A header line: names as printed, what stands between them, and whether it ends with that, too.

    Attributes:
        columns: of columns of fixed width, begin and width of each.
    """

    names: tuple[str, ...]
    delimiter: str
    trailing: bool
    columns: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Delimited:
    """What a table holds.

    Attributes:
        fields: one row per record: ``line`` and ``last_line`` (from 1 in the lines given), then the columns
            that the format names and those that it derives, as text, null where empty or absent.
        bad_lines: lines that belong to no record that fits.
        header_lines: lines that are a header; exports that were put one behind the other have several.
    """

    fields: pl.DataFrame
    bad_lines: list[int]
    header_lines: list[int]


def parse_header(text: str, fmt: Format) -> Header | None:
    """Return the header that a line is, or None: at least ``header_min`` known names, one delimiter."""
    text = text.lstrip("\ufeff").rstrip("\r\n")
    first = _DELIMITER.match(text)
    if first is None:
        return None
    delimiter = first[1]
    if delimiter.strip(" ") == "":
        return None  # columns of fixed width: only the rule below tells how wide they are
    names = text.split(delimiter)
    trailing = names[-1].strip() == ""
    names = [name.strip() for name in (names[:-1] if trailing else names)]
    return _header(names, fmt, delimiter, trailing)


def _header(
    names: list[str], fmt: Format, delimiter: str, trailing: bool, columns: tuple[tuple[int, int], ...] = ()
) -> Header | None:
    """Return the header of some names, or None where too few of them are known."""
    if not all(_NAME.fullmatch(name) for name in names):
        return None
    known = {name.lower() for name in fmt.header}
    if len(known & {name.lower() for name in names}) < fmt.header_min:
        return None
    return Header(tuple(names), delimiter, trailing, columns)


def _ruled_header(text: str, rule: str, fmt: Format) -> Header | None:
    """Return the header whose columns are as wide as the dashes of the rule below it, or None."""
    columns = tuple((dashes.start(), len(dashes[0])) for dashes in re.finditer("-+", rule))
    names = [text.lstrip("\ufeff")[begin : begin + width].strip() for begin, width in columns]
    return _header(names, fmt, _BETWEEN, trailing=False, columns=columns)


def find_header(lines: pl.Series, fmt: Format) -> Header | None:
    """Return the first header among lines, or None."""
    return next((header for _, header in _headers(lines, fmt)), None)


def read_delimited(lines: pl.Series, fmt: Format, header: Header | None = None) -> Delimited:
    """Read a column of lines as the table that ``fmt`` describes.

    ``header`` serves lines that come without one because it stood in an earlier part of the file. Lines
    above the first header belong to nothing and are left out of all three results.
    """
    text = lines.cast(pl.String).str.strip_chars_end("\r")
    starts = list(_headers(text, fmt))
    bounds = [at for at, _ in starts] + [len(text)]
    sections = [(at + 1, end, found) for (at, found), end in zip(starts, bounds[1:], strict=True)]
    if header is not None and bounds[0] > 0:
        sections.insert(0, (0, bounds[0], header))
    frames = [_empty(fmt)]
    bad: list[int] = []
    for begin, end, found in sections:
        frame, wrong = _read_section(text.slice(begin, end - begin), begin, found, fmt)
        frames.append(frame)
        bad += wrong
    fields = pl.concat(frames).with_columns(derived_fields(fmt))
    ruled = [at + 2 for at, found in starts if found.columns]
    return Delimited(fields, bad, sorted([at + 1 for at, _ in starts] + ruled))


def _headers(text: pl.Series, fmt: Format) -> Iterator[tuple[int, Header]]:
    """Yield position and content of every header line: a line without digits that is one."""
    rules = set(text.str.contains(_RULE).arg_true().to_list())
    for at in (~text.str.contains(r"\d|^\s*$")).arg_true().to_list():
        ruled = at + 1 in rules
        header = _ruled_header(text[at], text[at + 1], fmt) if ruled else parse_header(text[at], fmt)
        if header is not None:
            yield at, header


def _empty(fmt: Format) -> pl.DataFrame:
    """Return a frame without rows, of the shape that every section has."""
    texts = dict.fromkeys(fields_of(fmt, fmt.patterns), pl.String)
    return pl.DataFrame(schema={"line": pl.Int64, "last_line": pl.Int64, **texts})


def _read_section(
    text: pl.Series, offset: int, header: Header, fmt: Format
) -> tuple[pl.DataFrame, list[int]]:
    """Read the lines below one header: whole columns for rows that fit, one by one for the others."""
    places = {name.lower(): at for at, name in reversed(list(enumerate(header.names)))}
    wanted = {name: places.get(name.lower()) for name in fields_of(fmt, fmt.patterns)}
    shapes = {places[name.lower()]: shape for name, shape in fmt.shapes.items() if name.lower() in places}
    rows = (
        pl.DataFrame({"text": text})
        .with_row_index("line", offset + 1)
        .cast({"line": pl.Int64})
        .filter(pl.col("text").str.contains(r"\S"))
    )
    if header.columns:
        cells = [pl.col("text").str.slice(begin, width).str.strip_chars() for begin, width in header.columns]
        rows = rows.filter(~pl.col("text").str.contains(_RULE)).with_columns(
            text=pl.concat_str(cells, separator=_BETWEEN)
        )
    rows = rows.with_columns(parts=pl.col("text").str.split(header.delimiter))
    # Rows may end with the delimiter although the header does not; where it does, a row without is torn.
    length, last = pl.col("parts").list.len(), pl.col("parts").list.last().str.strip_chars()
    fits = (length == len(header.names) + 1) & (last == "")
    if not header.trailing:
        fits |= length == len(header.names)
    for column, shape in shapes.items():
        fits &= pl.col("parts").list.get(column, null_on_oob=True).str.contains(f"^(?:{shape})$")
    rows = rows.with_columns(fits=fits.fill_null(False))
    plain = rows.filter("fits").select(
        "line",
        last_line="line",
        **{name: _field(place) for name, place in wanted.items()},
    )
    if rows["fits"].all():
        return plain, []
    free = {at for name in fmt.free if (at := places.get(name.lower())) is not None}
    repaired, bad = _repair(
        rows, Realigner(header.delimiter, len(header.names), header.trailing, shapes, free)
    )
    others = [
        {
            "line": line,
            "last_line": last,
            **{name: None if place is None else values[place] for name, place in wanted.items()},
        }
        for line, last, values in repaired
    ]
    return pl.concat([plain, pl.DataFrame(others, schema=plain.schema)]).sort("line"), bad


def _field(at: int | None) -> pl.Expr:
    """Return the field at a place of the row, null where it is empty or the table has no such column."""
    if at is None:
        return pl.lit(None, dtype=pl.String)
    value = pl.col("parts").list.get(at, null_on_oob=True).str.strip_chars()
    return pl.when(value != "").then(value)


def _repair(
    rows: pl.DataFrame, realigner: Realigner
) -> tuple[list[tuple[int, int, Sequence[str | None]]], list[int]]:
    """Align the rows that do not fit: each alone, else with the lines above it that do not fit either.

    A line that fits, alone or split otherwise, ends what stood open above it: that was torn.
    """
    records: list[tuple[int, int, Sequence[str | None]]] = []
    bad: list[int] = []
    open_rows: deque[tuple[int, str]] = deque()
    for line, text, fits in rows.select("line", "text", "fits").iter_rows():
        if fits:
            bad += [row for row, _ in open_rows]
            open_rows.clear()
            continue
        open_rows.append((line, text))
        taken, values = _longest_fit(open_rows, realigner)
        if values is not None:
            lines = [row for row, _ in open_rows]
            bad += lines[:-taken]
            records.append((lines[-taken], line, values))
            open_rows.clear()
        elif len(open_rows) == MAX_RECORD_LINES:
            bad.append(open_rows.popleft()[0])
    return records, bad + [row for row, _ in open_rows]


def _longest_fit(
    open_rows: deque[tuple[int, str]], realigner: Realigner
) -> tuple[int, Sequence[str | None] | None]:
    """Return how many of the last open lines make one record, and that record; the most that fit.

    The last line alone comes first: a whole record is never the tail of a torn one.
    """
    texts = [text for _, text in open_rows]
    alone = realigner.align(texts[-1])
    if alone is not None:
        return 1, alone
    best: tuple[int, Sequence[str | None] | None] = (0, None)
    delimiters = 0
    for taken, text in enumerate(reversed(texts), start=1):
        delimiters += realigner.count(text)
        if taken > 1 and realigner.may_join(delimiters):
            values = realigner.align("\n".join(texts[-taken:]))
            best = best if values is None else (taken, values)
    return best
