"""Lines of other formats inside of a file: two logs in one, a printed table, records in a console.

A guest has to prove itself as a file has to: by a deciding line, or by a header. Only lines that the file's
own format does not know are asked, and where no line proves a guest it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from pipeline.formats.format import Format
from pipeline.ingest.match import RECORD_BEGINS, Found, match_fields, match_format, table_header
from pipeline.ingest.peel import strip_prefixes
from pipeline.ingest.regexes import to_ascii
from pipeline.ingest.rules import alternation, guest_formats, guest_literals, marks_of

#: Lines that are asked for proof.
MAX_EVIDENCE = 5000


@dataclass(frozen=True, slots=True)
class Guests:
    """What other formats know of lines.

    Attributes:
        tables: event rows by table, with the line numbers that were given.
        known: numbers of the lines that they know.
    """

    tables: dict[str, list[pl.DataFrame]]
    known: pl.Series


def read_guests(unknown: pl.DataFrame, own: str, label: str) -> Guests:
    """Return what formats that prove themselves know of lines (``line``, ``text``) unknown to their own.

    ``label`` matches the label of the lines, and is empty where they have none.
    """
    tables: dict[str, list[pl.DataFrame]] = {}
    known = [unknown["line"].head(0)]
    hits = unknown.filter(unknown["text"].str.contains(alternation(guest_literals(own)))).head(MAX_EVIDENCE)
    proven = [fmt for fmt in guest_formats(own) if hits.height and _is_proven(fmt, hits["text"], label)]
    if len(proven) > 1:
        # Of lines that several programs print, the one that prints most of the others is the likeliest.
        proven.sort(key=lambda fmt: (-_found(fmt, unknown["text"], label).known.len(), fmt.name))
    for fmt in proven:
        found = _found(fmt, unknown["text"], label)
        numbers = unknown["line"]
        for table, rows in found.tables.items():
            tables.setdefault(table, []).append(
                rows.with_columns(
                    numbers[rows[name].to_numpy() - 1].alias(name)
                    for name in ("line", "last_line")
                    if name in rows.columns
                )
            )
        hit = numbers[found.known.to_numpy() - 1]
        known.append(hit)
        unknown = unknown.filter(~numbers.is_in(hit.implode()))
    return Guests(tables, pl.concat(known))


def proving_lines(unknown: pl.DataFrame, own: str, label: str) -> pl.Series:
    """Return the numbers of lines (``line``, ``text``) that may each make a guest of a format.

    What is proven in one file says nothing of another: files that were put together ask here first.
    """
    hits = unknown.filter(unknown["text"].str.contains(alternation(guest_literals(own))))
    found = [hits["line"].head(0)]
    for fmt in guest_formats(own) if hits.height else ():
        text = hits["text"]
        if fmt.shape != "lines":
            found.append(hits["line"].filter(_marked(fmt, text)))
            continue
        for pattern in fmt.patterns:
            if pattern.name in fmt.deciding:
                held = hits.filter(text.str.contains(alternation(pattern.literals)))
                if held.height:
                    proves = strip_prefixes(held["text"], label).str.contains(to_ascii(pattern.regex))
                    found.append(held["line"].filter(proves))
    return pl.concat(found).unique()


def _marked(fmt: Format, text: pl.Series) -> pl.Series:
    """Return which texts may be a record of a format, or the header of its table."""
    marked = text.str.contains(alternation(marks_of(fmt)))
    if fmt.shape == "records":
        return marked & text.str.contains(RECORD_BEGINS)
    for at in marked.arg_true():
        if table_header(fmt, text.slice(at, 1)) is None:
            marked = marked.scatter(at, False)
    return marked


def _is_proven(fmt: Format, hits: pl.Series, label: str) -> bool:
    """Return whether one of some lines proves a format, and none speaks against it."""
    if fmt.foreign and hits.str.contains(alternation(fmt.foreign)).any():
        return False
    if fmt.shape == "lines":
        decisive = [pattern for pattern in fmt.patterns if pattern.name in fmt.deciding]
        texts = strip_prefixes(
            hits.filter(hits.str.contains(alternation(lit for p in decisive for lit in p.literals))), label
        )
        return any(texts.str.contains(to_ascii(pattern.regex)).any() for pattern in decisive)
    marked = hits.filter(hits.str.contains(alternation(marks_of(fmt))))
    if not len(marked):
        return False
    if fmt.shape != "records":
        return table_header(fmt, marked) is not None
    matches = match_fields(fmt, marked).matches
    return not matches.is_empty() and (not fmt.deciding or matches["pattern"].is_in(list(fmt.deciding)).any())


def _found(fmt: Format, text: pl.Series, label: str) -> Found:
    """Return what a proven format finds in lines, numbered from 1."""
    if fmt.shape == "lines":
        return match_format(fmt, text, label)
    if fmt.shape == "records":
        asked = text.str.contains(RECORD_BEGINS) & text.str.contains(r"\}\s*,?\s*$")
    else:
        marked = text.str.contains(alternation(marks_of(fmt))).arg_true()
        asked = pl.int_range(len(text), eager=True) >= (marked[0] if len(marked) else len(text))
    return _renumbered(fmt, text, asked)


def _renumbered(fmt: Format, text: pl.Series, asked: pl.Series) -> Found:
    """Return what a format of records or tables finds in some of the lines, numbered among all."""
    places = asked.arg_true().cast(pl.Int64) + 1
    found = match_fields(fmt, text.filter(asked))

    def moved(numbers: pl.Series) -> pl.Series:
        return places[numbers.to_numpy() - 1].alias(numbers.name)

    tables = {
        table: rows.with_columns(moved(rows[name]) for name in ("line", "last_line") if name in rows.columns)
        for table, rows in found.tables.items()
    }
    return Found(tables, found.matches, moved(found.known), moved(found.torn))
