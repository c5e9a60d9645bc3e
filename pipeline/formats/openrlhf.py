"""OpenRLHF: what the driver of a reinforcement-learning run prints, with stamps that lack the year."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Format, Pattern, Value, known_line

#: `INFO 06-21 18:44:09 ppo_trainer.py:547] `
_HEAD = r"^[A-Z]+ (?P<ts>\d\d-\d\d \d\d:\d\d:\d\d) \w+\.py:\d+\] "
_STAMP = Value(group="ts", kind="stamp", stamp="glog")
_STEP = Value(group="step", kind="int")
_FLOAT = Value(kind="float")
_SYNC = "0.8 to 0.11"
_LOGGED = "0.9 to 0.11"


def _key(names: str) -> str:
    """Return the expression of the value of one entry of a printed dictionary."""
    return rf"'(?:{names})': (?:np\.\w+\(|tensor\()?(?P<v>-?[\d.]+(?:e[+-]?\d+)?)"


def _line(
    name: str,
    literal: str,
    regex: str,
    table: str,
    columns: Mapping[str, Value],
    versions: str = _LOGGED,
    note: str = "",
) -> Pattern:
    """Return the pattern of a line of the logger."""
    return Pattern(
        name,
        table,
        {"ts": _STAMP, **columns},
        (literal,),
        _HEAD + regex,
        versions=versions,
        note=note,
    )


def _phase(phase: str, edge: str, **more: Value) -> dict[str, Value]:
    """Return the columns of a phase."""
    return {"phase": Value(const=phase), "edge": Value(const=edge), **more}


def _checkpoint(op: str, edge: str, **more: Value) -> dict[str, Value]:
    """Return the columns of a save or a load."""
    return {"op": Value(const=op), "edge": Value(const=edge), **more}


_SECONDS = Value(group="spent", kind="seconds")

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_LOGGED,
        literals=("Global step ",),
        # The asynchronous trainer prints no star.
        regex=_HEAD + r"(?:✨ )?Global step (?P<step>\d+): \{",
        columns={"ts": _STAMP, "step_last": _STEP, "ts_edge": Value(const="end")},
        extras={
            "step_time_s": (_key("timing/step_total"), _FLOAT),
            "loss": (_key("policy_loss|actor_loss"), _FLOAT),
            "grad_norm": (_key("actor_grad_norm"), _FLOAT),
        },
    ),
    Pattern(
        name="timing",
        table="timers",
        beside=True,
        versions=_LOGGED,
        literals=("Global step ",),
        regex=_HEAD + r"(?:✨ )?Global step (?P<step>\d+): \{",
        each=r"'(?P<component>timing/\w+)': (?P<seconds>\d[\d.]*(?:e[+-]?\d+)?)",
        columns={
            "ts": _STAMP,
            "step": _STEP,
            "component": Value(group="component"),
            "mean_s": Value("seconds", "float"),
        },
        note="The phases of the step that the same line tells of. Of an asynchronous run they overlap.",
    ),
)

PHASES = (
    Pattern(
        name="eval_begin",
        table="phases",
        versions=_SYNC,
        literals=("Evaluation start time: ",),
        regex=r"Evaluation start time: (?P<full>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)",
        columns={"ts": Value(group="full", kind="stamp", stamp="iso"), **_phase("eval", "begin")},
        note="The only line with a whole date.",
    ),
    _line(
        "eval_end",
        "Evaluation completed in ",
        r"✨ Evaluation completed in (?P<spent>[\d:]+)(?:, global_step (?P<step>\d+))?",
        "phases",
        versions=_SYNC,
        columns=_phase("eval", "end", step=_STEP, duration_s=_SECONDS),
    ),
    _line(
        "eval_async_begin",
        "Starting async evaluation",
        r"Starting async evaluation",
        "phases",
        versions="0.9.9 to 0.11",
        note="Runs beside the steps of an asynchronous run, whose clock it sets to zero.",
        columns=_phase("custom", "point", detail=Value(const="async evaluation")),
    ),
    _line(
        "experience_end",
        "Experience making completed in ",
        r"✨ Experience making completed in (?P<spent>[\d:]+)",
        "timers",
        {"component": Value(const="experience"), "mean_s": _SECONDS},
        _SYNC,
    ),
)

CHECKPOINTS = (
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_SYNC,
        literals=("Loading the checkpoint: ",),
        regex=r"^Loading the checkpoint: (?P<path>\S+)",
        columns=_checkpoint("load", "begin", path=Value(group="path")),
        note="Printed by actor and critic, without a time.",
    ),
    _line(
        "load_end",
        "checkpoint_states: {",
        r"checkpoint_states: \{.*'global_step': (?P<step>\d+)",
        "checkpoints",
        columns=_checkpoint("load", "end", step=_STEP),
    ),
    _line(
        "save_best",
        "Saved best checkpoint: ",
        r"Saved best checkpoint: (?P<path>best_global_step(?P<step>\d+))",
        "checkpoints",
        versions="0.9.9 to 0.11",
        columns=_checkpoint("save", "end", step=_STEP, path=Value(group="path")),
    ),
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_SYNC,
        literals=(" is about to be saved!",),
        regex=r"\[Torch\] Checkpoint (?P<path>(?:best_)?global_step(?P<step>\d+)) is about to be saved!",
        columns=_checkpoint("save", "begin", step=_STEP, path=Value(group="path")),
        note="Printed by DeepSpeed below it: the driver says nothing of a regular save.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions=_SYNC,
        literals=(" is ready now!",),
        regex=r"\[Torch\] Checkpoint (?P<path>(?:best_)?global_step(?P<step>\d+)) is ready now!",
        columns=_checkpoint("save", "end", step=_STEP, path=Value(group="path")),
    ),
)

KNOWN = (
    known_line(
        "experience_begin", ("Starting experience making with ",), _HEAD + r"🚀 Starting experience", _SYNC
    ),
    known_line("sample", ("Sample: ",), _HEAD + r"Sample: ", "0.9.9 to 0.11"),
    known_line(
        "queue", ("queue_size=", "Queue is full, "), _HEAD + r"(?:queue_size=\d+|Queue is full, )", _LOGGED
    ),
    known_line("best", ("New best eval metric: ",), _HEAD + r"New best eval metric: ", "0.11"),
    known_line(
        "eval_result",
        ("Async evaluation completed: ", "Eval at step "),
        _HEAD + r"(?:Async evaluation completed: |Eval at step \d+: )",
        "0.9.9 to 0.11",
    ),
    known_line("episode", ("Episode [",), r"^Episode \[\d+/\d+\]:\s+\d+%\|", _SYNC),
)

FORMAT = Format(
    name="openrlhf",
    title="OpenRLHF, console",
    link="https://github.com/OpenRLHF/OpenRLHF/blob/main/openrlhf/trainer/ppo_trainer.py",
    role="trainer",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *KNOWN),
    step_time="`timing/step_total`: of a synchronous run the sum of its parts, generation included; "
    "saves, evaluations and the wait for data are outside. Of an asynchronous run it is wall time, in which "
    "these overlap.",
    deciding=("step", "eval_end", "experience_end"),
    versions=_SYNC,
    unrendered="Regular saves are told by DeepSpeed alone, so that no whole story can be told from this log.",
)
