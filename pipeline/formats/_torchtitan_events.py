"""torchtitan: start, validation, pauses and end of a process."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._torchtitan_head import HEAD, STAMP
from pipeline.formats.format import Pattern, Value

_STEP = Value(group="step", kind="int")
_SECONDS = Value(group="seconds", kind="float")
_ALL = "2024-04 to 2026-08"


def _columns(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of one kind of line: its stamp, phase and edge, and what else it tells."""
    return {"ts": STAMP, "phase": Value(const=phase), "edge": Value(const=edge), **more}


START = (
    Pattern(
        name="process_start",
        table="phases",
        versions="2024-04 to 0.2.2",
        literals=(" - Starting job: ",),
        regex=HEAD + r"Starting job: (?P<detail>.*)",
        columns=_columns("process_start", "point", detail=Value(group="detail")),
    ),
    Pattern(
        name="process_version",
        table="phases",
        versions="0.2.2 to 2026-08",
        literals=(" - torchtitan version: ",),
        regex=HEAD + r"(?P<detail>torchtitan version: \S+)",
        columns=_columns("process_start", "point", detail=Value(group="detail")),
    ),
    Pattern(
        name="initialized",
        table="phases",
        versions=_ALL,
        literals=(" - Building ",),
        # A blank is missing before "with" in 0.2.2; device meshes are built too, and come earlier.
        regex=HEAD + r"Building (?P<detail>\S+ \S+?)(?: with [A-Z]\w*\(|with \{|\s*$)",
        columns=_columns("init", "end", detail=Value(group="detail")),
        note="Processes and device mesh are up; the model is built from here on.",
    ),
    Pattern(
        name="compile",
        table="phases",
        versions=_ALL,
        literals=(" - Compiling ",),
        regex=HEAD + r"Compiling (?P<detail>.*) with torch\.compile",
        columns=_columns("compile", "point", detail=Value(group="detail")),
        note="Only an announcement: the first step compiles.",
    ),
    Pattern(
        name="model_built",
        table="phases",
        versions=_ALL,
        literals=(" memory usage for model: ",),
        regex=HEAD + r"[A-Z]+ memory usage for model: ",
        columns=_columns("model_setup", "end"),
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions=_ALL,
        literals=(" - Training starts at step ",),
        regex=HEAD + r"Training starts at step (?P<step>\d+)",
        columns=_columns("loop", "begin", step=_STEP),
        note="The first step that will run: one more than the restored step, whatever a load line says.",
    ),
)

PAUSES = (
    Pattern(
        name="validation",
        table="phases",
        versions="0.2.0 to 2026-08",
        literals=(" - validate step: ",),
        regex=HEAD + r"validate step:\s+(?P<step>\d+)\s+loss:\s+\S+\s+memory:\s.*\stps:\s",
        columns=_columns("eval", "point", step=_STEP),
        note="Printed when the validation is over.",
    ),
    Pattern(
        name="gc",
        table="phases",
        versions="0.1.0 to 2026-08",
        literals=(" - [GC] ",),
        regex=HEAD + r"\[GC\] (?P<detail>.*?)(?: took)? (?P<seconds>[\d.]+) seconds",
        columns=_columns("gc", "end", duration_s=_SECONDS, detail=Value(group="detail")),
    ),
    Pattern(
        name="profile_begin",
        table="phases",
        versions=_ALL,
        literals=(" - Dumping ",),
        regex=HEAD + r"Dumping (?P<detail>profiler traces|traces|memory snapshot) at step (?P<step>\d+)",
        columns=_columns("profile", "begin", step=_STEP, detail=Value(group="detail")),
    ),
    Pattern(
        name="profile_end",
        table="phases",
        versions=_ALL,
        literals=(" - Finished dumping ",),
        regex=HEAD + r"Finished dumping (?P<detail>profiler traces|traces|memory snapshot) "
        r"in (?P<seconds>[\d.]+) seconds",
        columns=_columns("profile", "end", duration_s=_SECONDS, detail=Value(group="detail")),
    ),
)

END = (
    Pattern(
        name="data_exhausted",
        table="phases",
        versions="0.1.0 to 2026-08",
        literals=(" - Ran out of data; ",),
        regex=HEAD + r"Ran out of data; last step was canceled",
        columns=_columns("loop", "end", detail=Value(const="data_exhausted")),
        note="The step counter had been raised already: the last step is one less.",
    ),
    Pattern(
        name="shutdown",
        table="phases",
        versions=_ALL,
        literals=(" - Sleeping 2 seconds for other ranks to complete",),
        regex=HEAD + r"Sleeping 2 seconds for other ranks to complete",
        columns=_columns("shutdown", "begin"),
    ),
    Pattern(
        name="completed",
        table="phases",
        versions=_ALL,
        literals=(" - Training completed",),
        regex=HEAD + r"Training completed",
        columns=_columns("exit", "point", detail=Value(const="completed")),
        note="Where it is missing, the process ended otherwise.",
    ),
    Pattern(
        name="destroyed",
        table="phases",
        versions="0.1.0 to 2026-08",
        literals=(" - Process group destroyed",),
        regex=HEAD + r"Process group destroyed",
        columns=_columns("exit", "point", detail=Value(const="process group destroyed")),
    ),
)

EVENTS = (*START, *PAUSES, *END)
