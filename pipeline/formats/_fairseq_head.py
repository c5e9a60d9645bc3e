"""fairseq and metaseq: the header of their logger, and how metrics are written."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Value

#: Local time of the host in whole seconds.
STAMP = Value(group="ts", kind="stamp", stamp="iso")


def head(logger: str) -> str:
    """Return an expression for the header of lines of some loggers, up to the text."""
    return rf"(?P<ts>\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)(?:,\d+)? \| [A-Z]+ \| (?:{logger}) \| "


def told(**columns: Value) -> Mapping[str, Value]:
    """Return the columns of a line and its time."""
    return {"ts": STAMP, **columns}


def metric(name: str) -> str:
    """Return an expression for one metric, as JSON with quoted numbers or behind its name.

    At the end of an epoch names begin with that of the subset.
    """
    return rf"\b(?:train_)?{name}(?:\": \"?|=| )(?P<v>[\w.+-]+)"
