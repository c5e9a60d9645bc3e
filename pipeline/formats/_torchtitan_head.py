"""torchtitan: the header of every line of its logger, and its stamp."""

from __future__ import annotations

from pipeline.formats.format import Value

#: `[titan] 2026-03-03 04:12:10,077 - root - INFO - `; the name in brackets came in 2025-02, and what stands
#: before the stamp does not matter. Written for both kinds of expression: blanks are escaped.
HEAD = r"(?P<ts>\d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d,\d{3})\ -\ \S+\ -\ [A-Z]+\ -\ "

#: Local time of the host, in milliseconds, when the line was printed.
STAMP = Value(group="ts", kind="stamp", stamp="iso")
