"""fairseq and metaseq: saves and loads of checkpoints; every rank that owns a shard prints them."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._fairseq_head import head, told
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "0.9.0 to 0.12.3, metaseq to 2023-06"
_ANY = head(r"(?:fair|meta)seq[\w.]*")
_STEP = Value(group="step", kind="int")
_PATH = Value(group="path")
_SECONDS = Value(group="seconds", kind="float")
_UPDATES = r"\(epoch \d+ @ (?P<step>\d+) updates"


def _columns(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a line about a checkpoint."""
    return told(op=Value(const=op), edge=Value(const=edge), **more)


CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions="0.10.0 to 0.12.3, metaseq to 2023-06",
        literals=(" | Preparing to save checkpoint for epoch ",),
        regex=_ANY + r"Preparing to save checkpoint for epoch \d+ @ (?P<step>\d+) updates",
        columns=_columns("save", "begin", step=_STEP),
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="0.9.0 to 0.12.3",
        literals=(" | Saved checkpoint ", " | saved checkpoint "),
        regex=head(r"fairseq[\w.]*")
        + rf"[Ss]aved checkpoint (?P<path>\S+) {_UPDATES}.*\) \(writing took (?P<seconds>[\d.e+-]+) seconds",
        columns=_columns("save", "end", step=_STEP, path=_PATH, blocking_s=_SECONDS, ok=Value(const=True)),
    ),
    Pattern(
        name="save_written",
        table="checkpoints",
        versions="metaseq to 2023-06",
        literals=(" | Saved checkpoint ",),
        regex=head(r"metaseq[\w.]*")
        + rf"Saved checkpoint (?P<path>\S+) {_UPDATES}.*\) \(writing took (?P<seconds>[\d.e+-]+) seconds",
        columns=_columns("save", "blocked", step=_STEP, path=_PATH, blocking_s=_SECONDS),
        note="The loop goes on; a save in the background may still be writing.",
    ),
    Pattern(
        name="save_background_end",
        table="checkpoints",
        versions="metaseq to 2023-06",
        literals=(" | Asynchronous torch.save to ",),
        regex=head(r"metaseq[\w.]*")
        + r"Asynchronous torch\.save to (?P<path>\S*?(?:checkpoint_(?:\d+_)?(?P<step>\d+)[^\s/\d]\S*)?) "
        r"complete\.",
        columns=_columns("save", "end", step=_STEP, path=_PATH, ok=Value(const=True)),
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=(" | Preparing to load checkpoint ",),
        regex=_ANY + r"Preparing to load checkpoint (?P<path>\S+)",
        columns=_columns("load", "begin", path=_PATH),
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_ALL,
        literals=(" | Loaded checkpoint ", " | loaded checkpoint "),
        regex=_ANY + rf"[Ll]oaded checkpoint (?P<path>\S+) {_UPDATES}\)",
        columns=_columns("load", "end", step=_STEP, path=_PATH, ok=Value(const=True)),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_ALL,
        literals=(" | No existing checkpoint found ", " | no existing checkpoint found "),
        regex=_ANY + r"[Nn]o existing checkpoint found ",
        columns=_columns("load", "none"),
    ),
    known_line(
        "checkpoint_texts",
        (
            " | Saving checkpoint to ",
            " | Finished saving checkpoint to ",
            " | Beginning asynchronous torch.save to ",
            " | preparing to azcopy ",
            " | Successfully copied ",
            " | attempting to load checkpoint from: ",
            " | Loaded state for ",
            " | Loaded optim_state for ",
            " | Done reading from disk",
            " | Done loading state dict",
            " is ready to be persisted with the checkpoint",
        ),
        head(r"(?:fair|meta)seq[\w.]*|\w*train")
        + r"(?:Saving checkpoint to |Finished saving checkpoint to |Beginning asynchronous torch\.save to "
        r"|preparing to azcopy |Successfully copied |attempting to load checkpoint from: |Loaded "
        r"(?:optim_)?state for |Done reading from disk|Done loading state dict|State of \w+ is ready to be "
        r"persisted)",
        _ALL,
    ),
)
