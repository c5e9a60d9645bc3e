"""Comma-separated tables with a header, quoted as RFC 4180 says: one record a line.

Names may be anything, so that a header is known by the format's own names alone. A comma may be a tab or a
semicolon. Columns of monitors stand apart by blanks, and the header comes again after some rows; they are
brought into the same shape first.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache

import polars as pl

from pipeline.formats import fields_of, registry
from pipeline.formats.format import Format
from pipeline.ingest.delimited import Delimited, Header
from pipeline.ingest.derive import derived_fields

_DELIMITERS = (",", "\t", ";")

#: Lines in the beginning of a file among which the header is; comments may stand before it.
HEAD_LINES = 50

#: What is put for the delimiters inside of quotation marks while fields are counted.
_QUOTED = r'"[^"]*"'

#: A row of which each cell is quoted as a whole or not at all; `D` stands for the delimiter.
_SOUND = r'^(?:"(?:[^"]|"")*"|[^"D]*)(?:D(?:"(?:[^"]|"")*"|[^"D]*))*$'

#: What stands apart by a blank in one cell of columns: the kind of a device and its number, a day and a time.
_ENTITY = (r"^(\s*)(GPU|GPU-I|GPU-CI|Switch|Link|CPU|Core) (\d+)\b", "${1}${2}:${3}")
_DAY = (r"^(\s*)(\d{4})(\d\d)(\d\d)\s+(\d\d:\d\d:\d\d)\b", "${1}${2}-${3}-${4}T${5}")
_DAY_NAMES = (r"^\s*#\s*Date\s+Time\b", "#Time")

#: A line of columns that is no row: a header that came again, or the units below it.
_MARKS = r"^\s*(?:#|ID\b)"


def to_cells(lines: pl.Series) -> pl.Series:
    """Return lines of columns as lines of cells with tabs between them."""
    for regex, text in (_DAY_NAMES, _ENTITY, _DAY):
        lines = lines.str.replace(regex, text)
    return lines.str.replace(r"^\s*#\s*", "").str.strip_chars().str.replace_all(r"\s+", "\t")


def find_csv_header(lines: pl.Series, fmt: Format) -> tuple[int, Header] | None:
    """Return position and content of the header of a table, or None: at least ``header_min`` known names."""
    known = {name.lower() for name in fmt.header}
    head = lines.head(HEAD_LINES)
    for at, text in enumerate((to_cells(head) if fmt.shape == "columns" else head).to_list()):
        for delimiter in _DELIMITERS:
            names = _cells(text or "", delimiter)
            if len(names) > 1 and len(known & {name.lower() for name in names}) >= fmt.header_min:
                return at, Header(tuple(names), delimiter, trailing=False)
    return None


def may_be_headers(lines: pl.Series) -> pl.Series:
    """Return for each line whether it has enough names of some table to be its header."""
    text = pl.col("text").str.to_lowercase()
    split = pl.DataFrame({"text": lines.alias("text")}).with_row_index("line")
    # Names stand between delimiters, or apart by blanks.
    cells = split.select(
        "line", name=text.str.replace_all(f"[{''.join(_DELIMITERS)}]", "\t").str.split("\t")
    ).explode("name")
    words = split.select("line", name=text.str.replace_all(r"\s+", " ").str.split(" ")).explode("name")
    known = pl.concat([cells.with_columns(pl.col("name").str.strip_chars(' \t"')), words])
    known = (
        known.join(_known_names(), on="name")
        .group_by("line", "format", "least")
        .agg(pl.col("name").n_unique())
    )
    found = known.filter(pl.col("name") >= pl.col("least"))["line"]
    return split["line"].is_in(found.implode())


@cache
def _known_names() -> pl.DataFrame:
    """Return ``format, least, name``: the names of each table, and how many of them a header has at least."""
    formats = [fmt for fmt in registry().values() if fmt.shape in ("csv", "columns")]
    rows = [(fmt.name, fmt.header_min, name.lower()) for fmt in formats for name in fmt.header]
    return pl.DataFrame(
        rows, schema={"format": pl.String, "least": pl.Int64, "name": pl.String}, orient="row"
    )


def read_csv(lines: pl.Series, fmt: Format, header: Header | None = None) -> Delimited:
    """Read a column of lines as the table that ``fmt`` describes.

    ``header`` serves lines that come without one because it stood in an earlier part of the file. A row with
    too few or too many cells, or with a quotation mark that is not closed, is bad.
    """
    wanted = fields_of(fmt, fmt.patterns)
    marks = pl.lit(None, pl.Boolean)
    if fmt.shape == "columns":
        marks, lines = pl.lit(lines.str.contains(_MARKS)), to_cells(lines)
    found = find_csv_header(lines, fmt)
    at, head = found if found is not None else (-1, header)
    empty = pl.DataFrame(schema={"line": pl.Int64, "last_line": pl.Int64, **dict.fromkeys(wanted, pl.String)})
    if head is None:
        return Delimited(empty.with_columns(derived_fields(fmt)), [], [])
    rows = pl.DataFrame({"text": lines}).with_columns(mark=marks).with_row_index("line", 1)
    rows = rows.cast({"line": pl.Int64}).slice(at + 1)
    rows = rows.with_columns(pl.col("text").str.strip_chars_end("\r")).filter(
        pl.col("text").str.contains(r"\S")
    )
    bare = pl.col("text").str.replace_all(_QUOTED, "")
    cells = bare.str.count_matches(head.delimiter, literal=True) + 1
    again = pl.col("text").str.strip_chars() == lines[at].strip() if found is not None else pl.lit(False)
    again |= pl.col("mark").fill_null(False)
    headers = rows.filter(again)["line"].to_list()
    rows = rows.filter(~again)
    # A mark inside of a cell that does not begin with one is no quotation, and the reader stops at it.
    sound = ~pl.col("text").str.contains('"', literal=True) | pl.col("text").str.contains(
        _SOUND.replace("D", head.delimiter)
    )
    fits = rows.select(fits=(cells == len(head.names)) & sound)["fits"]
    good = rows.filter(fits)
    columns = _columns(good["text"].to_list(), head, wanted)
    fields = good.select("line", last_line="line").hstack(columns) if good.height else empty
    bad = rows["line"].filter(~fits).to_list()
    return Delimited(fields.with_columns(derived_fields(fmt)), bad, ([at + 1] if found else []) + headers)


def _columns(texts: Sequence[str], head: Header, wanted: Sequence[str]) -> pl.DataFrame:
    """Return the wanted columns as text; empty cells and absent columns are null."""
    places = {name.lower(): place for place, name in reversed(list(enumerate(head.names)))}
    if not texts:
        return pl.DataFrame(schema=dict.fromkeys(wanted, pl.String))
    table = pl.read_csv(
        "\n".join(texts).encode(),
        has_header=False,
        separator=head.delimiter,
        infer_schema=False,
        new_columns=[str(place) for place in range(len(head.names))],
    )
    blank = pl.lit(None, pl.String)
    return table.select(
        (
            pl.col(str(places[name.lower()])).str.strip_chars().replace("", None)
            if name.lower() in places
            else blank
        ).alias(name)
        for name in wanted
    )


def _cells(text: str, delimiter: str) -> list[str]:
    """Return the cells of one line."""
    try:
        cells = next(csv.reader([text.lstrip("\ufeff").strip()], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in cells]
