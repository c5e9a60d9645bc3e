"""The catalogue of fault signals × lines → rows of ``signals``: of each line its most specific signal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

import pipeline
from pipeline.errors import GoodputError
from pipeline.formats.format import Format, Pattern, Value
from pipeline.ingest.extract import build_rows
from pipeline.ingest.regexes import to_ascii
from pipeline.ingest.search import match_groups

CATALOGUE = Path(pipeline.__file__).parent.parent / "sql" / "seeds" / "signals.csv"

#: Rows that know a line only by its general shape; they count where no other row knows it.
FALLBACKS = frozenset({"exception_line", "traceback_header", "conn_reset", "grpc_deadline"})

#: Length at which the text of a line is cut.
TEXT_LENGTH = 500

#: Columns of ``signals`` and the named groups that fill them, the first that is there.
_GROUPS: dict[str, Value] = {
    "pci": Value("pci", "pci"),
    "code": Value(("xid", "sxid", "exitcode", "code", "status", "signo", "sig")),
    "gpu": Value("gpu"),
    "fault_rank": Value(("from_rank", "rank"), "int"),
    "node": Value(("node", "nodes", "host")),
    "job_id": Value("job"),
    "device": Value(("hca", "dev", "port", "path", "server", "switch")),
}
_WAITS: tuple[Value, ...] = (
    Value(("waited_s", "secs", "stuck_s", "open_s"), "seconds"),
    Value("ran_ms", "float", scale=1e-3),
    Value("mins", "float", scale=60.0),
)


@dataclass(frozen=True, slots=True)
class Signal:
    """A row of the catalogue: how a line of it is recognised, and how specific it is."""

    signal_id: str
    literal: str
    regex: str
    causal_rank: int

    @property
    def fallback(self) -> bool:
        """Whether any other signal of the same line is the better one."""
        return self.signal_id in FALLBACKS or self.signal_id.endswith("_any")


@cache
def load_signals(path: Path = CATALOGUE) -> tuple[Signal, ...]:
    """Return the catalogue, most specific first: no fallback, then the smallest causal rank, then its order.

    Raises:
        GoodputError: the file cannot be read, or lacks a column.
    """
    try:
        table = pl.read_csv(path, infer_schema=False)
        rows = table.select("signal_id", "literal", "regex", pl.col("causal_rank").cast(pl.Int64)).rows()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise GoodputError(
            "the catalogue of signals cannot be read", where=str(path), why=str(error).splitlines()[0]
        ) from None
    signals = [Signal(*row) for row in rows]
    return tuple(sorted(signals, key=lambda signal: (signal.fallback, signal.causal_rank)))


_FORMAT = Format("signals", "the catalogue of signals", "", "any", ())


def build_signal_rows(signal: Signal, lines: pl.DataFrame) -> tuple[pl.Series, pl.DataFrame | None]:
    """Return which of the lines a signal matches, and its rows of ``signals`` for them."""
    hit = lines["text"].str.contains(to_ascii(signal.regex))
    if not hit.any():
        return hit, None
    lines = lines.filter(hit)
    groups = match_groups(lines["text"], to_ascii(signal.regex))[0]
    columns = {
        "signal_id": Value(const=signal.signal_id),
        "repeats": Value(const=1),
        **{name: value for name, value in _GROUPS.items() if _is_filled(value, groups)},
    }
    waits = [value for value in _WAITS if _is_filled(value, groups)]
    if waits:
        columns["waited_s"] = waits[0]
    rows = build_rows(_FORMAT, Pattern(signal.signal_id, "signals", columns), lines, groups)
    text, last = lines["text"].str.head(TEXT_LENGTH), lines["line"]
    told = [text.alias("text"), last.alias("last_line")]
    told += [lines[name] for name in ("task", "uncaught") if name in lines.columns]
    return hit, rows.with_columns(told)


def _is_filled(value: Value, groups: pl.DataFrame) -> bool:
    """Return whether the expression has one of the groups that a value reads."""
    names = value.group if isinstance(value.group, tuple) else (value.group,)
    return any(name in groups.columns for name in names)


def limit_signals(rows: pl.DataFrame, kept: dict[str, int], limit: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows within the limit of each signal of a file, and the rows beyond it.

    ``kept`` holds how many rows of each signal were kept before, and is brought up to date.
    """
    numbered = rows.with_columns(
        number=pl.int_range(1, pl.len() + 1).over("signal_id")
        + pl.col("signal_id").replace_strict(kept, default=0, return_dtype=pl.Int64)
    )
    inside = numbered.filter(pl.col("number") <= limit).drop("number")
    for name, number in inside.group_by("signal_id").len().rows():
        kept[name] = kept.get(name, 0) + number
    return inside, numbered.filter(pl.col("number") > limit).drop("number")


def fold_signals(rest: list[pl.DataFrame]) -> pl.DataFrame | None:
    """Return one row per signal that stands for all rows beyond the limit: the first, counted and ended."""
    if not rest:
        return None
    rows = pl.concat(rest)
    firsts = pl.all().exclude("signal_id", "repeats", "last_line").first()
    folded = rows.group_by("signal_id", maintain_order=True).agg(
        firsts, pl.col("repeats").sum(), pl.col("last_line").max()
    )
    return folded.select(rows.columns)
