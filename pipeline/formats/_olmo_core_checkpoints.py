"""OLMo-core: saves, loads and deletions of checkpoints."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._olmo_head import head, told
from pipeline.formats.format import Pattern, Value

_TRAINER = head(r"olmo_core\.train\.trainer")
_CHECKPOINTER = head(r"olmo_core\.train\.callbacks\.\w*checkpointer")
#: In the beginning a callback told of saves, and the trainer since.
_SAVER = head(r"olmo_core\.train\.(?:trainer|callbacks\.checkpointer)")
_STEP = Value(group="step", kind="int")
_PATH = Value(group="path")


def _columns(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of one kind of line: its operation and edge, and what else it tells."""
    return told(op=Value(const=op), edge=Value(const=edge), **more)


SAVES = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions="1.0.0 to 2.5.0",
        literals=("Saving checkpoint for step ",),
        regex=_SAVER + r"Saving checkpoint for step (?P<step>\d+) to '?(?P<path>[^']*?)'?\.\.\.$",
        columns=_columns("save", "begin", step=_STEP, path=_PATH),
        note="Comes before the line of its step. In 1.0.0 saves in the background begin with this line as "
        "well.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="1.0.0 to 2.5.0",
        literals=("Checkpoint saved",),
        regex=_SAVER + r"Checkpoint saved$",
        columns=_columns("save", "end", ok=Value(const=True)),
        note="Names no step: it is that of the line before that began to save.",
    ),
    Pattern(
        name="save_async_begin",
        table="checkpoints",
        versions="1.8.0 to 2.5.0",
        literals=("Saving checkpoint for step ",),
        regex=_SAVER + r"Saving checkpoint for step (?P<step>\d+) to '(?P<path>[^']*)' asynchronously\.\.\.",
        columns=_columns("save", "blocked", step=_STEP, path=_PATH),
        note="The loop stands still while the state is copied; the line of the step comes when it goes on.",
    ),
    Pattern(
        name="save_async_end",
        table="checkpoints",
        versions="1.0.0 to 2.5.0",
        literals=(" saved successfully",),
        regex=_SAVER + r"Checkpoint for step (?P<step>[\d,]+) saved successfully",
        columns=_columns("save", "end", step=_STEP, ok=Value(const=True)),
    ),
    Pattern(
        name="removal",
        table="checkpoints",
        versions="1.0.0 to 2.5.0",
        literals=("Removing old checkpoint at ",),
        regex=_CHECKPOINTER + r"Removing old checkpoint at '(?P<path>[^']*?(?:step(?P<step>\d+)/?)?)'",
        columns=_columns("delete", "begin", step=_STEP, path=_PATH),
    ),
)

LOADS = (
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions="1.0.0 to 2.5.0",
        literals=("Loading checkpoint from '",),
        regex=_TRAINER + r"Loading checkpoint from '(?P<path>[^']*)'",
        columns=_columns("load", "begin", path=_PATH),
        note="The number in the path is not the step of a resume where only the model is read.",
    ),
    Pattern(
        name="load_step",
        table="checkpoints",
        versions="1.8.0 to 2.5.0",
        literals=("Will resume training from step ",),
        regex=_TRAINER + r"Will resume training from step (?P<step>\d+), epoch \d+",
        columns=_columns("load", "end", step=_STEP),
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions="1.0.0 to 2.5.0",
        literals=("Checkpoint successfully loaded",),
        regex=_TRAINER + r"Checkpoint successfully loaded",
        columns=_columns("load", "end", ok=Value(const=True)),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions="1.8.0 to 2.5.0",
        literals=("No checkpoint found in save folder ",),
        regex=_TRAINER + r"No checkpoint found in save folder .*will train from scratch",
        columns=_columns("load", "none"),
        note="A warning, so that every rank prints it.",
    ),
)

CHECKPOINTS = (*SAVES, *LOADS)
