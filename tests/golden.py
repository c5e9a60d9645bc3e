"""Rewrites the golden ``events.jsonl`` of formats from their samples, and the stories of incidents.

``python -m tests.golden [FORMAT]`` rewrites all of them, or those of one format; ``explain`` means stories.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import Format
from pipeline.ingest.labels import find_labels
from pipeline.ingest.match import Found, match_format
from pipeline.ingest.peel import strip_escapes
from pipeline.ingest.sample import lines_of

FOLDER = Path(__file__).parent / "formats"


def samples(name: str, stem: str = "sample") -> list[Path]:
    """Return the files of a format's folder whose name begins with ``stem``, in name order."""
    return sorted(path for path in (FOLDER / name).glob(f"{stem}*") if path.is_file())


def read_lines(path: Path) -> pl.Series:
    """Return the lines of a sample."""
    text = path.read_bytes().decode()
    lines = text.split("\n")
    return pl.Series("text", lines[:-1] if lines[-1] == "" else lines, dtype=pl.String)


def label_of(lines: pl.Series) -> str:
    """Return the expression for the labels of the lines of a sample; empty where they have none."""
    return find_labels(lines_of([strip_escapes(lines)]), 1)[0]


def match_sample(fmt: Format, lines: pl.Series) -> Found:
    """Return what a format finds in the lines of a sample."""
    return match_format(fmt, lines, label_of(lines))


def render_events(fmt: Format) -> str:
    """Return the events of a format's samples: one JSON object per row, without empty columns."""
    return "".join(
        json.dumps(row, ensure_ascii=False) + "\n" for path in samples(fmt.name) for row in _events(fmt, path)
    )


def _events(fmt: Format, path: Path) -> Iterator[dict[str, object]]:
    """Yield the rows of one sample in line order."""
    found = match_sample(fmt, read_lines(path))
    rows = []
    for table, frame in found.tables.items():
        texts = frame.with_columns(
            pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
            for name, dtype in frame.schema.items()
            if isinstance(dtype, pl.Datetime)
        )
        for row in texts.drop("format").iter_rows(named=True):
            head = {"sample": path.name, "line": row.pop("line"), "table": table}
            rows.append(head | {key: value for key, value in row.items() if value not in (None, [])})
    for row in rows:
        if row.get("segment") == 0:
            del row["segment"]
    rows.sort(key=lambda row: (row["line"], row.get("segment", 0)))
    yield from rows


def main(names: list[str]) -> None:
    """Rewrite the goldens that are named, or all."""
    for fmt in registry().values():
        if (not names or fmt.name in names) and samples(fmt.name):
            path = FOLDER / fmt.name / "events.jsonl"
            path.write_text(render_events(fmt), encoding="utf-8")
            print(path.relative_to(FOLDER.parent.parent))
    if not names or "explain" in names:
        from tests.explained import write_goldens

        write_goldens()


if __name__ == "__main__":
    main(sys.argv[1:])
