"""Hugging Face Trainer and accelerate: saves, loads and deletions of checkpoints.

The Trainer prints when a save begins and never when it is over.
"""

from __future__ import annotations

from pipeline.formats._hf_trainer_head import FOLDER, HEAD, STAMP
from pipeline.formats.format import Pattern, Value

_ALL = "4.0 to 5.24"
_NEW = "5.0 to 5.24"
_ACCELERATE = "accelerate to 1.14"
_STEP = Value("step", "int")
_PATH = Value("path")


def _line(
    name: str,
    op: str,
    edge: str,
    literal: str,
    regex: str,
    versions: str = _ALL,
    note: str = "",
    **more: Value,
) -> Pattern:
    """Return the pattern of a logger's line about a checkpoint."""
    return Pattern(
        name=name,
        table="checkpoints",
        versions=versions,
        literals=(literal,),
        regex=HEAD + regex,
        columns={"ts": STAMP, "op": Value(const=op), "edge": Value(const=edge), **more},
        note=note,
    )


SAVES = (
    _line(
        "save_begin",
        "save",
        "begin",
        "Saving model checkpoint to ",
        r"Saving model checkpoint to (?P<path>\S*checkpoint-(?P<step>\d+))/?\.?$",
        step=_STEP,
        path=_PATH,
        note="No line says when it was over: a later load of the step proves that it was durable.",
    ),
    Pattern(
        name="model_saved",
        table="phases",
        versions=_ALL,
        literals=("Saving model checkpoint to ",),
        regex=HEAD + r"Saving model checkpoint to \S*?(?:[^\d\s/]|[^\d\s-]\d+|[^t]-\d+)/?$",
        columns={
            "ts": STAMP,
            "phase": Value(const="custom"),
            "edge": Value(const="point"),
            "detail": Value(const="model saved"),
        },
        note="The weights alone, mostly when the training is over: no checkpoint to go on from.",
    ),
    _line(
        "jit_begin",
        "save",
        "begin",
        "Saving JIT checkpoint at step ",
        r"Saving JIT checkpoint at step (?P<step>\d+)",
        _NEW,
        step=_STEP,
    ),
    _line(
        "jit_end",
        "save",
        "end",
        "Immediate JIT checkpoint completed successfully",
        r"Immediate JIT checkpoint completed successfully",
        _NEW,
        ok=Value(const=True),
    ),
    _line(
        "jit_failed",
        "save",
        "end",
        "Failed to save JIT checkpoint: ",
        r"Failed to save JIT checkpoint: ",
        _NEW,
        ok=Value(const=False),
    ),
    _line(
        "state_begin",
        "save",
        "begin",
        "Saving current state to ",
        rf"Saving current state to {FOLDER}/?$",
        _ACCELERATE,
        step=_STEP,
        path=_PATH,
    ),
    _line(
        "state_end",
        "save",
        "end",
        "Random states saved in ",
        rf"Random states saved in {FOLDER}/random_states_\d+\.pkl$",
        _ACCELERATE,
        step=_STEP,
        path=_PATH,
        ok=Value(const=True),
        note="The last part of a state that every script saves.",
    ),
    _line(
        "delete",
        "delete",
        "begin",
        "Deleting older checkpoint [",
        rf"Deleting older checkpoint \[{FOLDER}\] due to args\.save_total_limit",
        step=_STEP,
        path=_PATH,
    ),
)

LOADS = (
    _line(
        "load_begin",
        "load",
        "begin",
        "Loading model from ",
        r"Loading model from (?P<path>\S*checkpoint-(?P<step>\d+))/?\.?$",
        step=_STEP,
        path=_PATH,
    ),
    _line(
        "load_begin_deepspeed",
        "load",
        "begin",
        "Attempting to resume from ",
        r"Attempting to resume from (?P<path>\S*checkpoint-(?P<step>\d+))/?$",
        step=_STEP,
        path=_PATH,
    ),
    _line(
        "load_end",
        "load",
        "end",
        "Continuing training from global step ",
        r"Continuing training from global step (?P<step>\d+)",
        "4.0 to 4.57",
        step=_STEP,
        ok=Value(const=True),
    ),
    _line(
        "load_end_5",
        "load",
        "end",
        "Resuming training from checkpoint with epoch ",
        r"Resuming training from checkpoint with epoch \d+ and global step (?P<step>\d+)",
        _NEW,
        step=_STEP,
        ok=Value(const=True),
    ),
    _line(
        "state_load_begin",
        "load",
        "begin",
        "Loading states from ",
        rf"Loading states from {FOLDER}/?$",
        _ACCELERATE,
        step=_STEP,
        path=_PATH,
    ),
    _line(
        "state_load_end",
        "load",
        "end",
        "All random states loaded successfully",
        r"All random states loaded successfully",
        _ACCELERATE,
        ok=Value(const=True),
    ),
)

CHECKPOINTS = (*SAVES, *LOADS)
