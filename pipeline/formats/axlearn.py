"""axlearn, console: lines of absl, of which those of the trainer name process and step."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "2023 to 2026-07"

#: The end of the header of absl, whose stamp is found by itself.
_HEAD = r"(?:^|\] )"
#: `gpt_trainer process   0 step     3100] `; the step is -1 or missing before the loop.
_TRAINER = rf"{_HEAD}[A-Za-z][\w.]* process +(?P<rank>\d+) step +(?P<step>-?\d+)\] "
#: `…/checkpoints/step_00003100/index`
_FOLDER = r"(?P<path>\S*/step_0*(?P<step>\d+))(?:/index)?"

_STEP = Value(group="step", kind="int")
_RANK = Value(group="rank", kind="int")
_PATH = Value(group="path")


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a phase; its time is that of the header."""
    return {"phase": Value(const=phase), "edge": Value(const=edge), **more}


def _checkpoint(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a save or a load."""
    return {"op": Value(const=op), "edge": Value(const=edge), "step": _STEP, **more}


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_ALL,
        literals=("] loss=",),
        regex=_TRAINER + r"loss=(?P<loss>-?[\d.]+(?:e[+-]?\d+)?|nan|inf) aux=",
        columns={
            "rank": _RANK,
            "step_last": _STEP,
            "ts_edge": Value(const="end"),
            "loss": Value(group="loss", kind="float"),
        },
        extras={
            "grad_norm": (
                r"'(?:learner/)?gradient_norm': (?P<v>[\d.]+(?:e[+-]?\d+)?|nan|inf)",
                Value(group="v", kind="float"),
            )
        },
        note="Printed at steps 1 to 5 and at every hundredth, by every process, when the loss is there: the "
        "end of the step. Saves and evaluations of the step come after it.",
    ),
    Pattern(
        name="step_time",
        table="timers",
        versions=_ALL,
        literals=("] Average step time: ",),
        regex=_TRAINER + r"Average step time: (?P<seconds>[\d.]+(?:e[+-]?\d+)?) seconds",
        columns={
            "rank": _RANK,
            "step": _STEP,
            "component": Value(const="average step time"),
            "mean_s": Value(group="seconds", kind="float"),
        },
        note="Over the last hundred steps of the process, with everything that the loop did meanwhile.",
    ),
)

PHASES = (
    Pattern(
        name="process_start",
        table="phases",
        versions=_ALL,
        literals=("] LIBTPU_INIT_ARGS='", "] LIBTPU_INIT_FLAGS was not set."),
        regex=r"\blaunch\.py:\d+\] LIBTPU_INIT_(?:ARGS='|FLAGS was not set\.)",
        columns=_phase("process_start", "point"),
    ),
    Pattern(
        name="initialized",
        table="phases",
        versions=_ALL,
        literals=("] Local Devices: [",),
        regex=_HEAD + r"Local Devices: \[",
        columns=_phase("init", "end"),
    ),
    Pattern(
        name="mesh",
        table="phases",
        versions=_ALL,
        literals=("] Mesh shape: ",),
        regex=_TRAINER + r"(?P<detail>Mesh shape: .*)",
        columns=_phase("model_setup", "begin", rank=_RANK, detail=Value(group="detail")),
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions=_ALL,
        literals=("] Starting loop...",),
        regex=_HEAD + r"Starting loop\.\.\.\s*$",
        columns=_phase("loop", "begin"),
        note="The state is there, and the first step will compile.",
    ),
    Pattern(
        name="loop_end",
        table="phases",
        versions=_ALL,
        literals=("eached max_step=",),
        regex=_TRAINER + r"(?:Already r|R)eached max_step=\d+\. Stopping",
        columns=_phase("loop", "end", rank=_RANK, step=_STEP, detail=Value(const="completed")),
    ),
    Pattern(
        name="data_exhausted",
        table="phases",
        versions=_ALL,
        literals=("] Reached end of inputs. Stopping",),
        regex=_TRAINER + r"Reached end of inputs\. Stopping",
        columns=_phase("loop", "end", rank=_RANK, step=_STEP, detail=Value(const="data_exhausted")),
    ),
    Pattern(
        name="flushed",
        table="phases",
        versions=_ALL,
        literals=("] Checkpointer flushed.",),
        regex=_TRAINER + r"Checkpointer flushed\.",
        columns=_phase("shutdown", "begin", rank=_RANK, step=_STEP),
        note="The loop was left in order, and saves in the background are durable.",
    ),
    Pattern(
        name="gave_up",
        table="phases",
        versions="2024 to 2026-07",
        literals=("] Exit due to no progress during training.",),
        regex=_HEAD + r"Exit due to no progress during training\.",
        columns=_phase("exit", "point", detail=Value(const="no progress during training")),
    ),
    Pattern(
        name="profile",
        table="phases",
        versions=_ALL,
        literals=(" profiler tracing",),
        regex=_TRAINER + r"(?P<edge>Start|Stopped) profiler tracing",
        columns={
            **_phase("profile", "", rank=_RANK, step=_STEP),
            "edge": Value(group="edge", mapping={"Start": "begin", "Stopped": "end"}),
        },
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_index",
        table="checkpoints",
        versions=_ALL,
        literals=("] Writing index file to ",),
        regex=_HEAD + rf"Writing index file to {_FOLDER}\s*$",
        columns=_checkpoint("save", "end", path=_PATH, ok=Value(const=True)),
        note="The last file of a checkpoint. For how long the loop stood still no line tells.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="2024 to 2026-07",
        literals=("] Serialization of ",),
        regex=_HEAD + rf"Serialization of {_FOLDER} completed in [\d.]+ seconds\.",
        columns=_checkpoint("save", "end", path=_PATH, ok=Value(const=True)),
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("] Restoring checkpoint from directory ",),
        regex=_HEAD + rf"Restoring checkpoint from directory {_FOLDER}/?\s*$",
        columns=_checkpoint("load", "begin", path=_PATH),
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_ALL,
        literals=("] Restored state from ckpt at step ",),
        regex=_HEAD + r"Restored state from ckpt at step (?P<step>\d+)",
        columns=_checkpoint("load", "end", ok=Value(const=True)),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_ALL,
        literals=("] Could not find any completed checkpoints under ",),
        regex=_HEAD + r"Could not find any completed checkpoints under (?P<path>\S+)",
        columns={"op": Value(const="load"), "edge": Value(const="none"), "path": _PATH},
    ),
    Pattern(
        name="delete",
        table="checkpoints",
        versions=_ALL,
        literals=("] Removing ",),
        regex=_HEAD + rf"Removing {_FOLDER}/?\s*$",
        columns=_checkpoint("delete", "begin", path=_PATH),
    ),
)

FACTS = (
    Pattern(
        name="devices",
        table="facts",
        versions=_ALL,
        literals=("] Devices: global=",),
        regex=_TRAINER + r"Devices: global=(?P<value>\d+) local=",
        columns={"rank": _RANK, "key": Value(const="world_size"), "value": Value(group="value")},
    ),
    Pattern(
        name="parameters",
        table="facts",
        versions=_ALL,
        literals=("] Total number of model params: ",),
        regex=_TRAINER + r"Total number of model params: (?P<value>[\d,]+)",
        columns={
            "rank": _RANK,
            "key": Value(const="params"),
            "value": Value(group="value", kind="int"),
        },
    ),
)

KNOWN = (
    known_line(
        "watchdog",
        ("Watchdog triggered because step has not incremented in the last ", "NOTE: this is not an error "),
        r"Watchdog triggered because step has not incremented in the last |^\s*NOTE: this is not an error ",
        versions=_ALL,
        note="A help for people who look for a hang: the program may go on.",
    ),
    known_line(
        "trainer_texts",
        (
            "] Model param spec: ",
            "] Learner state spec: ",
            "] Global mesh: ",
            "] State: ",
            "] ## ",
            "] Training state size: ",
            "] #########",
            "] Initializing trainer state.",
            "] Restored checkpoint at ",
        ),
        _TRAINER
        + r"(?:Model param spec: |Learner state spec: |Global mesh: |State: |## |Training state size: "
        r"|#{9}|Initializing trainer state\.|Restored checkpoint at )",
        versions=_ALL,
    ),
    known_line(
        "texts",
        (
            "] Creating directories: [",
            "] All directories created",
            "] Garbage collection done on ",
            "] Successfully built trainer state: ",
            "] host_input_batch=",
            "] Devices: [",
            "] DATA_DIR=",
            "atchdog_thread",
            "gc_thread",
        ),
        _HEAD + r"(?:Creating directories: \[|All directories created|Garbage collection done on "
        r"|Successfully built trainer state: |host_input_batch=|Devices: \[|DATA_DIR="
        r"|(?:Waiting for )?(?:watchdog|gc)_thread (?:to finish|finished))",
        versions=_ALL,
    ),
)

FORMAT = Format(
    name="axlearn",
    title="axlearn, console",
    link="https://github.com/apple/axlearn/blob/main/axlearn/common/trainer.py",
    role="trainer",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *FACTS, *KNOWN),
    step_time="No time of a step is printed, but every hundred steps the mean of the last hundred rounds of "
    "the loop: waiting for data, the blocking part of saves and evaluations are inside.",
    step_time_excludes_stalls=False,
    deciding=("step", "step_time", "process_start", "devices", "loop_end", "flushed"),
    versions=_ALL,
)
