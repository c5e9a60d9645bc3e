"""What a table of events is made of, and the columns that all of them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Types of columns: ``timestamp`` is UTC in microseconds, ``strings`` a list of texts.
Type = Literal["string", "int64", "int32", "double", "bool", "timestamp", "strings"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type and what a value means, with its unit."""

    name: str
    type: Type
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """One event table: what a row is, and its columns after the provenance columns."""

    name: str
    grain: str
    own: tuple[Column, ...]
    provenance: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns in order, provenance first."""
        return (*PROVENANCE, *self.own) if self.provenance else self.own


PROVENANCE = (
    Column("source_id", "string", "file the row was read from; key of `sources`"),
    Column("line", "int64", "physical line in that file, from 1 (record number for record files)"),
    Column("segment", "int32", "part of the line between carriage returns, from 0"),
    Column("format", "string", "format whose pattern matched"),
    Column("pattern", "string", "name of that pattern"),
    Column("ts_raw", "string", "time as printed; null when the line carries none"),
    Column("ts", "timestamp", "time as printed, read as UTC; see ts_quality"),
    Column("ts_quality", "string", "how the time is known"),
    Column("host", "string", "host that printed the line, where the line tells"),
    Column("rank", "int32", "rank or task that printed the line, where the line tells"),
)
