"""axlearn: start and end of a process, saves and loads."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value

ALL = "2023 to 2026-07"

#: The end of the header of absl, whose stamp is found by itself.
HEAD = r"(?:^|\] )"
#: `gpt_trainer process   0 step     3100] `; the step is -1 or missing before the loop.
TRAINER = rf"{HEAD}[A-Za-z][\w.]* process +(?P<rank>\d+) step +(?P<step>-?\d+)\] "
#: `…/checkpoints/step_00003100/index`
_FOLDER = r"(?P<path>\S*/step_0*(?P<step>\d+))(?:/index)?"

STEP = Value(group="step", kind="int")
RANK = Value(group="rank", kind="int")
_PATH = Value(group="path")


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a phase; its time is that of the header."""
    return {"phase": Value(const=phase), "edge": Value(const=edge), **more}


def _checkpoint(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a save or a load."""
    return {"op": Value(const=op), "edge": Value(const=edge), "step": STEP, **more}


PHASES = (
    Pattern(
        name="process_start",
        table="phases",
        versions=ALL,
        literals=("] LIBTPU_INIT_ARGS='", "] LIBTPU_INIT_FLAGS was not set."),
        regex=r"\blaunch\.py:\d+\] LIBTPU_INIT_(?:ARGS='|FLAGS was not set\.)",
        columns=_phase("process_start", "point"),
    ),
    Pattern(
        name="initialized",
        table="phases",
        versions=ALL,
        literals=("] Local Devices: [",),
        regex=HEAD + r"Local Devices: \[",
        columns=_phase("init", "end"),
    ),
    Pattern(
        name="mesh",
        table="phases",
        versions=ALL,
        literals=("] Mesh shape: ",),
        regex=TRAINER + r"(?P<detail>Mesh shape: .*)",
        columns=_phase("model_setup", "begin", rank=RANK, detail=Value(group="detail")),
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions=ALL,
        literals=("] Starting loop...",),
        regex=HEAD + r"Starting loop\.\.\.\s*$",
        columns=_phase("loop", "begin"),
        note="The state is there, and the first step will compile.",
    ),
    Pattern(
        name="loop_end",
        table="phases",
        versions=ALL,
        literals=("eached max_step=",),
        regex=TRAINER + r"(?:Already r|R)eached max_step=\d+\. Stopping",
        columns=_phase("loop", "end", rank=RANK, step=STEP, detail=Value(const="completed")),
    ),
    Pattern(
        name="data_exhausted",
        table="phases",
        versions=ALL,
        literals=("] Reached end of inputs. Stopping",),
        regex=TRAINER + r"Reached end of inputs\. Stopping",
        columns=_phase("loop", "end", rank=RANK, step=STEP, detail=Value(const="data_exhausted")),
    ),
    Pattern(
        name="flushed",
        table="phases",
        versions=ALL,
        literals=("] Checkpointer flushed.",),
        regex=TRAINER + r"Checkpointer flushed\.",
        columns=_phase("shutdown", "begin", rank=RANK, step=STEP),
        note="The loop was left in order, and saves in the background are durable.",
    ),
    Pattern(
        name="gave_up",
        table="phases",
        versions="2024 to 2026-07",
        literals=("] Exit due to no progress during training.",),
        regex=HEAD + r"Exit due to no progress during training\.",
        columns=_phase("exit", "point", detail=Value(const="no progress during training")),
    ),
    Pattern(
        name="profile",
        table="phases",
        versions=ALL,
        literals=(" profiler tracing",),
        regex=TRAINER + r"(?P<edge>Start|Stopped) profiler tracing",
        columns={
            **_phase("profile", "", rank=RANK, step=STEP),
            "edge": Value(group="edge", mapping={"Start": "begin", "Stopped": "end"}),
        },
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_index",
        table="checkpoints",
        versions=ALL,
        literals=("] Writing index file to ",),
        regex=HEAD + rf"Writing index file to {_FOLDER}\s*$",
        columns=_checkpoint("save", "end", path=_PATH, ok=Value(const=True)),
        note="The last file of a checkpoint. For how long the loop stood still no line tells.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="2024 to 2026-07",
        literals=("] Serialization of ",),
        regex=HEAD + rf"Serialization of {_FOLDER} completed in [\d.]+ seconds\.",
        columns=_checkpoint("save", "end", path=_PATH, ok=Value(const=True)),
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=ALL,
        literals=("] Restoring checkpoint from directory ",),
        regex=HEAD + rf"Restoring checkpoint from directory {_FOLDER}/?\s*$",
        columns=_checkpoint("load", "begin", path=_PATH),
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=ALL,
        literals=("] Restored state from ckpt at step ",),
        regex=HEAD + r"Restored state from ckpt at step (?P<step>\d+)",
        columns=_checkpoint("load", "end", ok=Value(const=True)),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=ALL,
        literals=("] Could not find any completed checkpoints under ",),
        regex=HEAD + r"Could not find any completed checkpoints under (?P<path>\S+)",
        columns={"op": Value(const="load"), "edge": Value(const="none"), "path": _PATH},
    ),
    Pattern(
        name="delete",
        table="checkpoints",
        versions=ALL,
        literals=("] Removing ",),
        regex=HEAD + rf"Removing {_FOLDER}/?\s*$",
        columns=_checkpoint("delete", "begin", path=_PATH),
    ),
)

EVENTS = (*PHASES, *CHECKPOINTS)
