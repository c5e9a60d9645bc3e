"""Levanter: checkpoints, evaluations, start and end of a process, and lines that carry nothing."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._levanter_head import HEAD, told
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "1.1 to 2025-09"
_STEP = Value(group="step", kind="int")
_PATH = Value(group="path")
_FOLDER = r"(?P<path>\S*?(?:step-(?P<step>\d+)/?)?)"


def _checkpoint(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a line about a checkpoint."""
    return told(op=Value(const=op), edge=Value(const=edge), step=_STEP, **more)


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a line about a phase."""
    return told(phase=Value(const=phase), edge=Value(const=edge), **more)


CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Saving checkpoint at step ", "Saving temporary checkpoint at step "),
        regex=HEAD + r"Saving (?:temporary )?checkpoint at step (?P<step>\d+)\.$",
        columns=_checkpoint("save", "begin"),
        note="Steps count from 0: this one is inside of the checkpoint.",
    ),
    Pattern(
        name="save_submitted",
        table="checkpoints",
        versions=_ALL,
        literals=("Saving checkpoint to ",),
        regex=HEAD + r"Saving checkpoint to (?P<path>\S+) for step (?P<step>\d+)",
        columns=_checkpoint("save", "blocked", path=_PATH),
        note="The copy off the devices follows. The loop goes on when the record of `throughput/hook_time` "
        "is printed, and no line tells where a save ends that an evaluation follows.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions=_ALL,
        literals=("Saved checkpoint to ",),
        regex=HEAD + r"Saved checkpoint to (?P<path>\S+) for step (?P<step>\d+)",
        columns=_checkpoint("save", "end", path=_PATH, ok=Value(const=True)),
    ),
    Pattern(
        name="removal",
        table="checkpoints",
        versions=_ALL,
        literals=("Deleting old checkpoint ", "Deleted old checkpoint "),
        regex=HEAD + r"Delet(?:ing|ed) old checkpoint (?P<path>\S*?(?:step-(?P<step>\d+))?) from ",
        columns=_checkpoint("delete", "begin", path=_PATH),
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Loading checkpoint from ",),
        regex=HEAD + rf"Loading checkpoint from {_FOLDER}$",
        columns=_checkpoint("load", "begin", path=_PATH),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_ALL,
        literals=("No checkpoint found. Starting from scratch.", "Initializing from scratch."),
        regex=HEAD + r"(?:No checkpoint found\. Starting from scratch|Checkpoint not found at \S+ "
        r"Initializing from s)",
        columns=told(op=Value(const="load"), edge=Value(const="none")),
    ),
)

PHASES = (
    Pattern(
        name="loop_begin",
        table="phases",
        versions=_ALL,
        literals=("Resuming training from step ",),
        regex=HEAD + r"Resuming training from step (?P<step>\d+)",
        columns=_phase("loop", "begin", step=_STEP),
        note="The first step that will run, counted from 0. A cold start has no such line.",
    ),
    Pattern(
        name="validation",
        table="phases",
        versions=_ALL,
        literals=("validation loss: ", " loss: "),
        regex=HEAD + r"(?P<detail>(?:[\w/.-]+ )?validation|[\w/.-]+) loss: [\d.nai]+$",
        columns=_phase("eval", "point", detail=Value(group="detail")),
        note="Printed when the evaluation is over.",
    ),
    Pattern(
        name="harness_begin",
        table="phases",
        versions=_ALL,
        literals=("Running eval harness...", "Running LM eval harness...."),
        regex=HEAD + r"Running (?:LM )?eval harness\.\.\.",
        columns=_phase("eval", "begin", detail=Value(const="harness")),
    ),
    Pattern(
        name="harness_end",
        table="phases",
        versions=_ALL,
        literals=("Finished running eval harness", "Finished running LM eval harness"),
        regex=HEAD + r"Finished running (?:LM )?eval harness",
        columns=_phase("eval", "end", detail=Value(const="harness")),
    ),
    Pattern(
        name="profile_begin",
        table="phases",
        versions=_ALL,
        literals=("Starting profiler",),
        regex=HEAD + r"Starting profiler(?: until step \d+)?\.",
        columns=_phase("profile", "begin"),
    ),
    Pattern(
        name="profile_end",
        table="phases",
        versions=_ALL,
        literals=("Stopping profiler.",),
        regex=HEAD + r"Stopping profiler\.",
        columns=_phase("profile", "end"),
    ),
    Pattern(
        name="data_exhausted",
        table="phases",
        versions=_ALL,
        literals=("Reached end of training data loader",),
        regex=HEAD + r"Reached end of training data loader",
        columns=_phase("loop", "end", detail=Value(const="data_exhausted")),
    ),
    Pattern(
        name="prefetch_wait",
        table="timers",
        versions=_ALL,
        literals=("Prefetch wasn't fast enough: ",),
        regex=HEAD + r"Prefetch wasn't fast enough: (?P<s>[\d.]+)\.",
        columns=told(component=Value(const="prefetch wait"), mean_s=Value(group="s", kind="float")),
        note="Seconds that the loop waited for a batch.",
    ),
)

KNOWN = (
    known_line(
        "checkpoint_texts",
        (
            "Discovered latest checkpoint from ",
            "Found prior temporary checkpoint ",
            "Deleting old temporary checkpoint ",
            "Not deleting old temporary checkpoint ",
            "Removing checkpoint ",
            "No checkpoints found in ",
            " to gs://",
        ),
        HEAD + r"(?:Discovered latest checkpoint from |Found prior temporary checkpoint "
        r"|(?:Deleting|Not deleting) old temporary checkpoint |Removing checkpoint |No checkpoints found in "
        r"|Saving checkpoint at step \d+ to )",
        _ALL,
    ),
    known_line(
        "progress_texts",
        ("Progress on:", " macro loss: ", " micro loss: ", "Building cache for "),
        HEAD + r"(?:Progress on:(?:eval|[^t]|t[^r])|\S+ (?:macro|micro) loss: |Building cache for )",
        _ALL,
    ),
)

EVENTS = (*CHECKPOINTS, *PHASES, *KNOWN)
