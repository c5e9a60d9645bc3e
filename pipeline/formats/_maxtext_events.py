"""MaxText: start, saves, restores, evaluations and end of a process."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value, known_line

#: What stands before the text: nothing until 2025-12, the header of absl since then.
HEAD = r"(?:^|\] |absl:)"

_STEP = Value(group="step", kind="int")
_PATH = Value(group="path")
_ALL = "2024 to 2026-08"
_HEAD_2026 = "2026-05 to 2026-08"


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a phase; its time is that of the header."""
    return {"phase": Value(const=phase), "edge": Value(const=edge), **more}


def _checkpoint(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a save or a load."""
    return {"op": Value(const=op), "edge": Value(const=edge), "step": _STEP, **more}


START = (
    Pattern(
        name="init_begin",
        table="phases",
        versions=_ALL,
        literals=("Attempting to initialize the jax distributed system for ",),
        regex=HEAD + r"Attempting to initialize the jax distributed system for (?P<detail>\w+) ",
        columns=_phase("init", "begin", detail=Value(group="detail")),
        note="The first line of a process: libraries were read before it.",
    ),
    Pattern(
        name="init_end",
        table="phases",
        versions=_ALL,
        literals=("Jax distributed system initialized",),
        regex=HEAD + r"Jax distributed system initialized(?: on (?P<detail>\w+))?.*!",
        columns=_phase("init", "end", detail=Value(group="detail")),
    ),
    Pattern(
        name="manager_begin",
        table="phases",
        versions=_ALL,
        literals=("Creating checkpoint manager", "Creating emergency "),
        regex=HEAD + r"(?P<detail>Creating (?:emergency )?(?:replicator )?checkpoint manager)\b",
        columns=_phase("model_setup", "begin", detail=Value(group="detail")),
    ),
    Pattern(
        name="manager_end",
        table="phases",
        versions=_ALL,
        literals=("heckpoint manager created!",),
        regex=HEAD + r"(?P<detail>(?:Emergency (?:replicator )?c|C)heckpoint manager created)!",
        columns=_phase("model_setup", "point", detail=Value(group="detail")),
    ),
    Pattern(
        name="compiled",
        table="phases",
        versions="2024-08 to 2026-08",
        literals=("Total estimated memory size: ",),
        regex=HEAD + r"Total estimated memory size: [\d.]+ GB, estimated output",
        columns=_phase("compile", "end"),
        note="The step is compiled before the loop; no line tells when that began.",
    ),
    Pattern(
        name="compiled_loading",
        table="phases",
        versions=_ALL,
        literals=("Loading the compiled function...", "Loaded compiled function!"),
        regex=HEAD + r"(?P<edge>Loading the compiled function\.\.\.|Loaded compiled function!)",
        columns={
            **_phase("compile", "", detail=Value(const="compiled beforehand")),
            "edge": Value(group="edge", mapping={"Loading the compiled function...": "begin", "*": "end"}),
        },
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions=_ALL,
        literals=("number parameters: ",),
        regex=HEAD + r"(?P<detail>number parameters: [\d.]+ billion)",
        columns=_phase("loop", "begin", detail=Value(group="detail")),
        note="The last line before the first step.",
    ),
)

SAVES = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions="2026-02 to 2026-08",
        literals=(" to finish before starting checkpointing.",),
        regex=HEAD
        + r"Waited [\d.e+-]+ seconds for step (?P<step>\d+) to finish before starting checkpointing\.",
        columns=_checkpoint("save", "begin"),
        note="What was waited for is the step itself: time of training.",
    ),
    Pattern(
        name="save_blocked",
        table="checkpoints",
        versions=_ALL,
        literals=("Started an asynchronous checkpoint save for step ",),
        regex=HEAD + r"Started an asynchronous checkpoint save for step (?P<step>\d+)",
        columns=_checkpoint("save", "blocked"),
        note="The loop goes on; the lines of Orbax tell when the save is durable.",
    ),
    Pattern(
        name="save_returned",
        table="checkpoints",
        versions="2023 to 2024",
        literals=("saved a checkpoint at step ",),
        regex=HEAD + r"saved a checkpoint at step (?P<step>\d+)\s*$",
        columns=_checkpoint("save", "blocked"),
        note="Printed when the loop goes on, whether the save is done or not.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions=_ALL,
        literals=("Saved a checkpoint at step ",),
        regex=HEAD + r"Saved a checkpoint at step (?P<step>\d+)\.?\s*$",
        columns=_checkpoint("save", "end", ok=Value(const=True)),
    ),
)

LOADS = (
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("restoring from this run's directory ",),
        regex=HEAD + r"restoring from this run's directory step (?P<step>\d+)",
        columns=_checkpoint("load", "begin"),
        note="Steps count from 0, and the checkpoint of step n holds step n: the next one is n + 1.",
    ),
    Pattern(
        name="load_other",
        table="checkpoints",
        versions=_ALL,
        literals=("Loading full state from path: ",),
        regex=HEAD + r"Loading full state from path: (?P<path>\S*?(?:/(?P<step>\d+)(?:/items)?)?)/?\s*$",
        columns=_checkpoint("load", "begin", path=_PATH),
        note="The state of another run, its step counter included.",
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_ALL,
        literals=("No existing checkpoints found, not restoring checkpoint.",),
        regex=HEAD + r"No existing checkpoints found, not restoring checkpoint\.",
        columns={"op": Value(const="load"), "edge": Value(const="none")},
    ),
    known_line(
        "load_parameters",
        ("restoring params from ",),
        HEAD + r"restoring params from ",
        versions=_ALL,
        note="Weights alone: the training begins at step 0.",
    ),
)

EVALUATIONS = (
    Pattern(
        name="evaluation_begin",
        table="phases",
        versions=_HEAD_2026,
        literals=("Starting eval after train step ",),
        regex=HEAD + r"Starting eval after train step (?P<step>\d+)",
        columns=_phase("eval", "begin", step=_STEP),
        note="The line of the step before comes after it: step lines are printed one step late.",
    ),
    Pattern(
        name="evaluation_end",
        table="phases",
        versions=_HEAD_2026,
        literals=("Completed eval after train step ",),
        regex=HEAD + r"Completed eval after train step (?P<step>\d+), loss=",
        columns=_phase("eval", "end", step=_STEP),
    ),
    Pattern(
        name="evaluation",
        table="phases",
        versions="2024 to 2026-05",
        literals=("eval metrics after step: ",),
        regex=HEAD + r"eval metrics after step: (?P<step>\d+), loss=",
        columns=_phase("eval", "point", step=_STEP),
        note="Printed when the evaluation is over.",
    ),
    known_line(
        "evaluation_step",
        ("Completed eval step",),
        HEAD + r"Completed eval step:? \d+",
        versions=_ALL,
    ),
)

END = (
    Pattern(
        name="stopped_data",
        table="phases",
        versions=_ALL,
        literals=("Training stopped: You may have run out of training data.",),
        regex=HEAD + r"Training stopped: You may have run out of training data\.",
        columns=_phase("exit", "point", detail=Value(const="data_exhausted")),
    ),
    Pattern(
        name="stopped_target",
        table="phases",
        versions=_ALL,
        literals=("Training stopped: Target loss ",),
        regex=HEAD + r"Training stopped: Target loss .* is achieved\.",
        columns=_phase("exit", "point", detail=Value(const="completed: target loss reached")),
    ),
    Pattern(
        name="stopped",
        table="phases",
        versions=_ALL,
        literals=("Training stopped: ",),
        regex=HEAD + r"Training stopped: (?P<detail>(?:[^YT]|You? [^m]|Th|Tr).*)",
        columns=_phase("exit", "point", detail=Value(group="detail")),
        note="A signal to end, or a batch or a save that failed. No line tells of an ordinary end.",
    ),
    Pattern(
        name="aborted",
        table="phases",
        versions="2025-09 to 2026-08",
        literals=("Aborting training due to ",),
        regex=HEAD + r"(?P<detail>Aborting training due to (?:NaN|Inf) loss)\.",
        columns=_phase("exit", "point", detail=Value(group="detail")),
    ),
    Pattern(
        name="elastic_interrupt",
        table="phases",
        versions="2026",
        literals=("Checkpoint save completed. Interrupting",),
        regex=HEAD + r"Checkpoint save completed\. Interrupting",
        columns=_phase("custom", "point", detail=Value(const="interrupted: a slice came back")),
    ),
)

EVENTS = (*START, *SAVES, *LOADS, *EVALUATIONS, *END)
