"""torchtitan: saves, loads and deletions of checkpoints.

No line about a save names its step: it is the step that was running. "Staging" means that the loop goes on
while another process or thread writes.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._torchtitan_head import HEAD, STAMP
from pipeline.formats.format import Pattern, Value

_IN_SECONDS = r"in (?P<seconds>[\d.]+) ?s"
#: The folder of a step, without the full stop that ends the sentence.
_FOLDER = r"(?P<path>\S*?(?:step-(?P<step>\d+))?)"

_STEP = Value(group="step", kind="int")
_PATH = Value(group="path")
_SECONDS = Value(group="seconds", kind="float")
_ALL = "2024-04 to 2026-08"


def _columns(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of one kind of line: its stamp, operation and edge, and what else it tells."""
    return {"ts": STAMP, "op": Value(const=op), "edge": Value(const=edge), **more}


SAVES = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions="2024-07 to 2026-08",
        literals=("ing the checkpoint",),
        regex=HEAD
        + r"(?:Saving the checkpoint(?: \(or staging if async is enabled\))?|Staging the checkpoint)\.",
        columns=_columns("save", "begin"),
        note="Since 2026 the wait for the save before lies in front of this line, without any of its own.",
    ),
    Pattern(
        name="save_or_stage_end",
        table="checkpoints",
        versions="2024-07 to 0.2.2",
        literals=(" - Finished saving the checkpoint (or staging if async is enabled)",),
        regex=HEAD + rf"Finished saving the checkpoint \(or staging if async is enabled\) ?{_IN_SECONDS}",
        columns=_columns("save", "blocked", blocking_s=_SECONDS),
        note="The loop goes on. Whether the checkpoint is durable depends on the mode: with asynchronous "
        "saves only a later load, or the next save, which waits for this one, proves it.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="2024-04 and 2026-08",
        literals=(" - Finished saving the checkpoint in ", " - Last step checkpoint completed in "),
        regex=HEAD + rf"(?:Finished saving the checkpoint|Last step checkpoint completed) {_IN_SECONDS}",
        columns=_columns("save", "end", blocking_s=_SECONDS, ok=Value(const=True)),
    ),
    Pattern(
        name="stage_end",
        table="checkpoints",
        versions="2026-08",
        literals=(" - Finished staging the checkpoint in ",),
        regex=HEAD + rf"Finished staging the checkpoint {_IN_SECONDS}",
        columns=_columns("save", "blocked", blocking_s=_SECONDS),
        note="Not durable, and no line says when it will be.",
    ),
    Pattern(
        name="save_background_end",
        table="checkpoints",
        versions="2024-07 to 0.1.0",
        literals=(" - Finish saving the checkpoint in the background process in ",),
        regex=HEAD + rf"Finish saving the checkpoint in the background process {_IN_SECONDS}",
        columns=_columns("save", "end", background_s=_SECONDS, ok=Value(const=True)),
    ),
    Pattern(
        name="delete_begin",
        table="checkpoints",
        versions="2024-07 to 2026-08",
        literals=(" - Checkpointer is deleting ", " - Deleting old checkpoint "),
        regex=HEAD + rf"(?:Checkpointer is deleting|Deleting old checkpoint) {_FOLDER}\.?\s*$",
        columns=_columns("delete", "begin", step=_STEP, path=_PATH),
        note="In a thread of its own: no stall.",
    ),
    Pattern(
        name="delete_end",
        table="checkpoints",
        versions="0.1.0 to 2026-08",
        literals=(" - Checkpointer deleted ",),
        regex=HEAD + rf"Checkpointer deleted {_FOLDER} {_IN_SECONDS}",
        columns=_columns(
            "delete", "end", step=_STEP, path=_PATH, background_s=_SECONDS, ok=Value(const=True)
        ),
    ),
    Pattern(
        name="delete_failed",
        table="checkpoints",
        versions="2026-08",
        literals=(" - Checkpointer failed to delete ",),
        regex=HEAD + rf"Checkpointer failed to delete {_FOLDER}: ",
        columns=_columns("delete", "end", step=_STEP, path=_PATH, ok=Value(const=False)),
    ),
)

LOADS = (
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions="2025-04 to 2026-08",
        literals=(" - Loading the checkpoint from ",),
        regex=HEAD + rf"Loading the checkpoint from {_FOLDER}/?\.?\s*$",
        columns=_columns("load", "begin", step=_STEP, path=_PATH),
        note="Weights of another run are loaded by the same words: the step at which the training starts "
        "decides.",
    ),
    Pattern(
        name="load_begin_step",
        table="checkpoints",
        versions="2024-04 to 2025-03",
        literals=(" - Loading the checkpoint at step ", " - Loading the FT checkpoint at step "),
        regex=HEAD + r"Loading the (?:FT )?checkpoint at step (?P<step>\d+)",
        columns=_columns("load", "begin", step=_STEP),
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_ALL,
        literals=(" - Finished loading the ",),
        regex=HEAD + rf"Finished loading the (?:ft )?checkpoint {_IN_SECONDS}",
        columns=_columns("load", "end", blocking_s=_SECONDS, ok=Value(const=True)),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions="2026-08",
        literals=(" - No checkpoint was provided, this is a fresh start",),
        regex=HEAD + r"No checkpoint was provided, this is a fresh start",
        columns=_columns("load", "none"),
    ),
)

CHECKPOINTS = (*SAVES, *LOADS)
