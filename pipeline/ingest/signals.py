"""The catalogue of fault signals × lines → rows of ``signals``: of each line its most specific signal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

import pipeline
from pipeline.errors import GoodputError
from pipeline.formats import registry
from pipeline.formats.format import Format, Pattern, Value
from pipeline.ingest.extract import build_rows
from pipeline.ingest.regexes import to_ascii
from pipeline.ingest.search import match_groups
from pipeline.ingest.secrets import mask_text

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


#: Sources of rows that only a kernel says: what others quote of it has words of their own before it.
_OF_KERNEL = ("dmesg", "rocm")


@dataclass(frozen=True, slots=True)
class Signal:
    """A row of the catalogue: how a line of it is recognised, and how specific it is.

    Attributes:
        regex: what a line of it holds.
        source: who prints it.
        example: a whole line of it.
    """

    signal_id: str
    literal: str
    regex: str
    causal_rank: int
    source: str = ""
    example: str = ""

    @property
    def fallback(self) -> bool:
        """Whether any other signal of the same line is the better one."""
        return self.signal_id in FALLBACKS or self.signal_id.endswith("_any")

    def matches(self, text: pl.Series) -> pl.Series:
        """Return which lines, without the prefixes of launchers, are of the signal.

        What only a kernel says counts in its own words: behind one of its stamps, at the head of the line, or
        as the message of a record. In an exception or a sentence that quotes it, it is somebody else's word.
        """
        hit = text.str.contains(to_ascii(self.regex))
        if self.source not in _OF_KERNEL or not hit.any():
            return hit
        front = _front(self.regex, self.example)
        if front is None:
            return hit
        own = rf"(?:{_STAMPS}|^\s*|(?i:\bmessage\\?\"?: ?\\?\")){front}(?:{self.regex})"
        held = text.filter(hit)
        spoken = held.str.contains(to_ascii(own)) | held.str.contains(_dressed())
        return hit.scatter(hit.arg_true(), spoken)


#: A stamp of a kernel, wherever it stands: `dmesg` in three dresses, and syslog.
_STAMPS = (
    r"\[ *\d+\.\d{6}\] ?|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] |\b\d+,\d+,\d+,[-c+];"
    r"|\bkernel(?:\[\d+\])?: "
)

#: Names of drivers and their devices before a message: `pcieport 0000:12:00.0: `.
_DRIVERS = r"(?:[a-z][\w.-]*(?: [0-9a-f:.]+)?: )*"


@cache
def _dressed() -> str:
    """Return an expression of the beginnings of lines of a kernel or of a daemon of a host."""
    patterns = [pattern for name in ("kernel", "syslog") for pattern in registry()[name].patterns]
    return "|".join(f"(?:{to_ascii(pattern.regex)})" for pattern in patterns if not pattern.table)


@cache
def _front(regex: str, example: str) -> str | None:
    """Return what the example has before the words of a kernel, whatever its numbers, or None."""
    found = re.search(regex, example)
    if found is None:
        return None
    head = re.sub(rf"^(?:{_STAMPS})", "", example[: found.start()])
    if not head:
        return ""
    return rf"(?:{re.sub(r'[0-9a-f]*[0-9][0-9a-f]*', '[0-9a-f]+', re.escape(head))}|{_DRIVERS})"


@cache
def load_signals(path: Path = CATALOGUE) -> tuple[Signal, ...]:
    """Return the catalogue, most specific first: no fallback, then the smallest causal rank, then its order.

    Raises:
        GoodputError: the file cannot be read, or lacks a column.
    """
    try:
        table = pl.read_csv(path, infer_schema=False)
        rows = table.select(
            *("signal_id", "literal", "regex", "source", "example"), pl.col("causal_rank").cast(pl.Int64)
        ).rows()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise GoodputError(
            "the catalogue of signals cannot be read", where=str(path), why=str(error).splitlines()[0]
        ) from None
    signals = [
        Signal(name, literal, regex, rank, source, example)
        for name, literal, regex, source, example, rank in rows
    ]
    return tuple(sorted(signals, key=lambda signal: (signal.fallback, signal.causal_rank)))


_FORMAT = Format("signals", "the catalogue of signals", "", "any", ())


def build_signal_rows(signal: Signal, lines: pl.DataFrame) -> tuple[pl.Series, pl.DataFrame | None]:
    """Return which of the lines a signal matches, and its rows of ``signals`` for them."""
    hit = signal.matches(lines["text"])
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
    # Masked before it is cut: half of a secret is not known for one.
    text, last = mask_text(lines["text"].str.head(2 * TEXT_LENGTH)).str.head(TEXT_LENGTH), lines["line"]
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
