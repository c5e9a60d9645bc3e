"""Records, tables and documents → event rows, and what else may stand among their lines."""

from __future__ import annotations

import polars as pl

from pipeline.formats.format import Format
from pipeline.ingest.delimited import Header
from pipeline.ingest.extract import merge_rows
from pipeline.ingest.match import match_fields
from pipeline.ingest.rules import rules_for
from pipeline.ingest.scan import Scan, Scanner


def scan_fields(fmt: Format, lines: pl.Series, header: Header | None = None, label: str = "") -> Scan:
    """Apply a format of records, tables or documents to raw lines that are numbered from 1.

    Lines of records and tables that the format does not know are asked what may stand anywhere, behind the
    label that they bear.
    """
    found = match_fields(fmt, lines, header)
    known = pl.Series("known", [False]).new_from_index(0, len(lines)).scatter(found.known - 1, True)
    places = (~known).arg_true().cast(pl.Int64) + 1
    if fmt.shape == "document" or not len(places):
        return Scan(found.tables, found.known, found.torn)
    rest = Scanner(rules_for(""), label).scan(lines.filter(~known))
    rows: dict[str, list[pl.DataFrame]] = {table: [part] for table, part in found.tables.items()}
    for table, part in rest.tables.items():
        rows.setdefault(table, []).append(
            part.with_columns(
                places[part[name].to_numpy() - 1].alias(name)
                for name in ("line", "last_line")
                if name in part.columns
            )
        )
    also = places[rest.known.to_numpy() - 1].cast(pl.Int64)
    torn = found.torn.filter(~found.torn.is_in(also.implode()))
    return Scan(merge_rows(rows), pl.concat([found.known, also]), torn)
