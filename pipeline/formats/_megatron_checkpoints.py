"""Megatron-LM: saves, loads and deletions of checkpoints."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value

#: Since core 0.16 lines about saves carry a stamp; those about loads never do.
_TS = r"\[(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\] "
_MAYBE_TS = rf"(?:{_TS})?"
_STEP = r"iteration\s+(?P<step>\d+)"
#: Release 1.0 names a file per rank instead of a step and a folder.
_V1_FILE = r"(?P<path>\S*iter_0*(?P<step>\d+)/\S+)"
_SINCE_V2 = "2.0 to core 0.19"


def _columns(op: str, edge: str, *named: str, **constants: str | bool) -> Mapping[str, Value]:
    """Return the columns of one kind of line: constants, the step, and the groups that it names."""
    fixed = {name: Value(const=value) for name, value in {"op": op, "edge": edge, **constants}.items()}
    return {**fixed, "step": Value(group="step", kind="int"), **{name: _GROUPS[name] for name in named}}


_GROUPS: Mapping[str, Value] = {
    "ts": Value(group="ts", kind="stamp", stamp="iso"),
    "rank": Value(group="rank", kind="int"),
    "path": Value(group="path"),
}

SAVES = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_SINCE_V2,
        literals=("saving checkpoint at iteration ",),
        regex=rf"(?:^\s*|{_TS})saving checkpoint at {_STEP} to (?P<path>\S+)",
        columns=_columns("save", "begin", "ts", "path"),
        note="Stamped since core 0.16; the storage format stands at its end since core 0.6.",
    ),
    Pattern(
        name="save_begin_v1",
        table="checkpoints",
        versions="1.0",
        literals=(" is saving checkpoint at iteration ",),
        regex=rf"global rank (?P<rank>\d+) is saving checkpoint at {_STEP} to (?P<path>\S+)",
        columns=_columns("save", "begin", "rank", "path"),
        note="One line for each rank that writes.",
    ),
    Pattern(
        name="save_scheduled",
        table="checkpoints",
        versions="core 0.8 to 0.19",
        literals=("scheduled an async checkpoint save at iteration ",),
        regex=rf"{_MAYBE_TS}scheduled an async checkpoint save at {_STEP} to (?P<path>\S+)",
        columns=_columns("save", "blocked", "ts", "path"),
        note="The loop goes on; nothing is durable yet.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions=_SINCE_V2,
        literals=("successfully saved checkpoint ",),
        regex=rf"{_MAYBE_TS}successfully saved checkpoint (?:at|from) {_STEP} to (?P<path>\S+)",
        columns=_columns("save", "end", "ts", "path", ok=True, tier="persistent"),
        note="Durable. An asynchronous save says so at a later step, once all ranks agree: a latest time.",
    ),
    Pattern(
        name="save_end_v1",
        table="checkpoints",
        versions="1.0",
        literals=("successfully saved ",),
        regex=rf"successfully saved {_V1_FILE}",
        columns=_columns("save", "end", "path", ok=True, tier="persistent"),
        note="One line for each rank that writes: the last one makes the save durable.",
    ),
    Pattern(
        name="save_end_local",
        table="checkpoints",
        versions="core 0.10 to 0.19",
        literals=("successfully saved local checkpoint from iteration ",),
        regex=rf"{_MAYBE_TS}successfully saved local checkpoint from {_STEP}",
        columns=_columns("save", "end", "ts", ok=True, tier="local"),
        note="Lost with its node.",
    ),
    Pattern(
        name="delete",
        table="checkpoints",
        versions="core 0.14 to 0.19",
        literals=("successfully deleted checkpoint from iteration ",),
        regex=rf"successfully deleted checkpoint from {_STEP} at (?P<path>\S+)",
        columns=_columns("delete", "end", "path", ok=True),
    ),
)

LOADS = (
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_SINCE_V2,
        literals=("loading checkpoint from ", "loading release ", "loading distributed checkpoint from "),
        regex=r"(?:^|\s)loading (?:release )?(?:distributed )?checkpoint from (?P<path>\S+)"
        rf"(?: at {_STEP})?\s*$",
        columns=_columns("load", "begin", "path"),
        note="A release checkpoint has no step: weights only.",
    ),
    Pattern(
        name="load_begin_local",
        table="checkpoints",
        versions="core 0.10 to 0.19",
        literals=("Loading from a non-persistent checkpoint (non-persistent iter ",),
        regex=r"Loading from a non-persistent checkpoint \(non-persistent iter (?P<step>\d+)\)",
        columns=_columns("load", "begin", tier="local"),
    ),
    Pattern(
        name="load_begin_v1",
        table="checkpoints",
        versions="1.0",
        literals=(" is loading checkpoint ",),
        regex=rf"global rank (?P<rank>\d+) is loading checkpoint {_V1_FILE}",
        columns=_columns("load", "begin", "rank", "path"),
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_SINCE_V2,
        literals=("successfully loaded checkpoint from ",),
        regex=rf"successfully loaded checkpoint from (?P<path>\S+)(?: \[[^\]]*\])?\s+at {_STEP}",
        columns=_columns("load", "end", "path", ok=True),
        note="When: the `load-checkpoint` timer and the `datetime` line after it tell.",
    ),
    Pattern(
        name="load_end_v1",
        table="checkpoints",
        versions="1.0",
        literals=("successfully loaded ",),
        regex=rf"successfully loaded {_V1_FILE}",
        columns=_columns("load", "end", "path", ok=True),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions="1.0 to core 0.19",
        literals=("will not load any checkpoints and will start from random",),
        regex=r"^\s*will not load any checkpoints and will start from random",
        columns={"op": Value(const="load"), "edge": Value(const="none")},
        note="A cold start. The line before it names the file that was missing.",
    ),
)

CHECKPOINTS = (*SAVES, *LOADS)
