"""OLMo: step lines, checkpoints and events; the module `_olmo_setup` holds the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._olmo_head import head, told
from pipeline.formats._olmo_setup import SETUP
from pipeline.formats.format import Format, Pattern, Value

_TRAINER = head(r"olmo\.train")
_SCRIPT = head("train")
_BOTH = head(r"(?:olmo\.)?train")
_ALL = "0.2.4 to 2025-09"
_DETAIL = Value(group="detail")


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a line about a phase."""
    return told(phase=Value(const=phase), edge=Value(const=edge), **more)


def _checkpoint(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a line about a checkpoint."""
    return told(op=Value(const=op), edge=Value(const=edge), **more)


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_ALL,
        literals=("[step=",),
        regex=rf"{_TRAINER}\[step=(?P<step>\d+)/(?P<target>\d+)(?:,epoch=\d+)?\]",
        columns=told(
            step_last=Value(group="step", kind="int"),
            step_target=Value(group="target", kind="int"),
            ts_edge=Value(const="end"),
        ),
        note="Every `console_log_interval` steps, with metrics below it on rank 0.",
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_ALL,
        literals=(" checkpoint...", "Saving checkpoint..."),
        regex=_BOTH + r"Saving (?:ephemeral |unsharded |pre-train |final |final unsharded model "
        r")?checkpoint\.\.\.",
        columns=_checkpoint("save", "begin"),
        note="Names no step: it is the one that was printed last.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions=_ALL,
        literals=("heckpoint saved to ",),
        regex=_BOTH + r"(?:Unsharded checkpoint|Checkpoint) saved to "
        r"(?P<path>\S*?(?:step(?P<step>\d+)\S*)?)$",
        columns=_checkpoint(
            "save",
            "end",
            step=Value(group="step", kind="int"),
            path=Value(group="path"),
            ok=Value(const=True),
        ),
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Loading checkpoint from ",),
        regex=_SCRIPT + r"Loading checkpoint from (?P<path>\S*?(?:step(?P<step>\d+)\S*?)?)\.\.\.",
        columns=_checkpoint("load", "begin", step=Value(group="step", kind="int"), path=Value(group="path")),
        note="The step is in the name of the folder; a run that sets the trainer back begins at step 0 for "
        "all that.",
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_ALL,
        literals=("Checkpoint successfully loaded",),
        regex=_SCRIPT + r"Checkpoint successfully loaded",
        columns=_checkpoint("load", "end", ok=Value(const=True)),
    ),
)

EVENTS = (
    Pattern(
        name="initialized",
        table="phases",
        versions=_ALL,
        literals=("CLI environment prepared",),
        regex=head(r"(?:train|__main__)") + r"CLI environment prepared",
        columns=_phase("init", "end"),
        note="The first line of a process: before it the ranks have met.",
    ),
    Pattern(
        name="data_built",
        table="phases",
        versions=_ALL,
        literals=("Building model...",),
        regex=_SCRIPT + r"Building model\.\.\.",
        columns=_phase("data_setup", "end"),
        note="Data loaders and evaluators are built before the model.",
    ),
    Pattern(
        name="model_built",
        table="phases",
        versions=_ALL,
        literals=("Peak GPU Memory (MB) after ",),
        regex=_SCRIPT + r"Peak GPU Memory \(MB\) after \w+: ",
        columns=_phase("model_setup", "end"),
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions=_ALL,
        literals=("Starting training...",),
        regex=_SCRIPT + r"Starting training\.\.\.",
        columns=_phase("loop", "begin"),
    ),
    Pattern(
        name="eval_begin",
        table="phases",
        versions=_ALL,
        literals=("Running evaluation for '",),
        regex=_TRAINER + r"Running evaluation for '(?P<detail>[^']*)'",
        columns=_phase("eval", "begin", detail=_DETAIL),
    ),
    Pattern(
        name="eval_end",
        table="phases",
        versions=_ALL,
        literals=("\tolmo.train:", "[olmo.train"),
        regex=_TRAINER + r"(?P<detail>[\w./-]+)$",
        columns=_phase("eval", "end", detail=_DETAIL),
        note="The line above the metrics of an evaluation is its name alone.",
    ),
    Pattern(
        name="canceled",
        table="phases",
        versions=_ALL,
        literals=("Run canceled",),
        regex=_TRAINER + r"(?P<detail>Run canceled.*)",
        columns=_phase("exit", "point", detail=_DETAIL),
        note="A last checkpoint is saved; a few more steps may follow.",
    ),
    Pattern(
        name="ended",
        table="phases",
        versions=_ALL,
        literals=("Training complete",),
        regex=_SCRIPT + r"(?P<detail>Training complete)$",
        columns=_phase("exit", "point", detail=_DETAIL),
        note="Printed by a run that was canceled as well: only the last step tells whether it is finished.",
    ),
)

FORMAT = Format(
    name="olmo",
    title="OLMo",
    link="https://github.com/allenai/OLMo/blob/main/olmo/train.py",
    role="trainer",
    patterns=(*STEPS, *CHECKPOINTS, *EVENTS, *SETUP),
    step_time="No step time is printed. The throughput below a step is a mean over at most the last 100 "
    "steps, waiting for data included. It begins anew after each save and each evaluation, so that neither "
    "is inside, and the first step of a process is left out.",
    step_time_excludes_stalls=True,
    deciding=(
        "step",
        "save_begin",
        "load_begin",
        "eval_begin",
        "initialized",
        "data_built",
        "loop_begin",
        "load_end",
    ),
    versions="0.2.4 to 2025-09",
)
