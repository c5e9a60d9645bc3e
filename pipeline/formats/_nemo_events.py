"""NeMo: what its logger tells of start, saves, loads and end of a process.

A line begins `[NeMo I 2025-04-03 10:20:31 nemo_logger:145]`. The header is the clock; times in seconds since
the epoch that a message holds are not used, since the header may be of another zone.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value, known_line

_V1 = "1.0 to 2.4, NeMo 1 trainers"
_V2 = "2.0 to 2.4"
_SINCE_2_2 = "2.2 to 2.4"
ALL = "1.0 to 2.4"

BEGIN = r"\[NeMo [A-Z] (?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) [^\]]*\] *"
_STEP = Value(group="step", kind="int")
#: Lightning counts a batch as done when what follows it is over, its save included: one less than the steps.
_ITERATION = Value(group="step", kind="int", offset=1)
_PATH = Value(group="path")
_RANK = Value(group="rank", kind="int")
_SECONDS = Value(group="seconds", kind="float")


def _stamped(**columns: Value) -> Mapping[str, Value]:
    """Return columns with the time of the header."""
    return {"ts": Value(group="ts", kind="stamp", stamp="iso"), **columns}


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a phase."""
    return _stamped(phase=Value(const=phase), edge=Value(const=edge), **more)


def _checkpoint(op: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a save or a load."""
    return _stamped(op=Value(const=op), edge=Value(const=edge), **more)


START = (
    Pattern(
        name="process_start",
        table="phases",
        versions=ALL,
        literals=("] Experiments will be logged at ",),
        regex=BEGIN + r"Experiments will be logged at (?P<detail>\S+)",
        columns=_phase("process_start", "point", detail=Value(group="detail")),
        note="Libraries are loaded by then; nothing before it has a time.",
    ),
    Pattern(
        name="parallel_ready",
        table="phases",
        versions=ALL,
        literals=(" has data parallel rank: ",),
        regex=BEGIN + r"Ranks? \d+ has data parallel rank: \d",
        columns=_phase("init", "end"),
    ),
    Pattern(
        name="model_built",
        table="phases",
        versions=ALL,
        literals=("> number of parameters on (tensor, pipeline) model parallel rank ",),
        regex=BEGIN
        + r"> number of parameters on \(tensor, pipeline\) model parallel rank (?P<detail>[^:]*: \d+)",
        columns=_phase("model_setup", "end", detail=Value(group="detail")),
    ),
)

SAVES = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_V1,
        literals=("] Checkpoint save for step ",),
        regex=BEGIN + r"Checkpoint save for step (?P<step>\d+) started at [\d.]+",
        columns=_checkpoint("save", "begin", step=_STEP),
    ),
    Pattern(
        name="save_blocked",
        table="checkpoints",
        versions=_SINCE_2_2,
        literals=("Global Checkpoint Save : Rank: ",),
        regex=BEGIN + r"Global Checkpoint Save : Rank: (?P<rank>\d+) : Iteration: (?P<step>\d+) : "
        r"Start time: [\d.]+s : Save duration: (?P<seconds>[\d.]+)s",
        columns=_checkpoint("save", "blocked", step=_ITERATION, rank=_RANK, blocking_s=_SECONDS),
        note="One line for each rank that writes. Of a synchronous save no other line follows. Counted from "
        "0 as in progress lines; a save at the end of the training, after its last step, tells one more, and "
        "holds the step that `max_steps` names.",
    ),
    known_line(
        "save_without_step",
        ("Global Checkpoint Save : Rank: ",),
        BEGIN + r"Global Checkpoint Save : Rank: \d+ : Start time: ",
        versions=_SINCE_2_2,
    ),
    Pattern(
        name="save_scheduled",
        table="checkpoints",
        versions=ALL,
        literals=("] Scheduled async checkpoint save for ",),
        regex=BEGIN + r"Scheduled async checkpoint save for (?P<path>\S+)",
        columns=_checkpoint("save", "blocked", path=_PATH),
        note="The loop goes on. The step in the name of a folder counts from 0 in NeMo 2 and from 1 in NeMo "
        "1: it is left out.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="2.0 to 2.4",
        literals=("] Async checkpoint save for step ",),
        regex=BEGIN
        + r"Async checkpoint save for step (?P<step>\d+)(?: \((?P<path>.*?)\))? finalized successfully",
        columns=_checkpoint("save", "end", step=_STEP, path=_PATH, ok=Value(const=True)),
        note="Noticed at the end of a later step: a latest time. Before 2.2 without the path.",
    ),
    Pattern(
        name="save_end_of_writer",
        table="checkpoints",
        versions=_SINCE_2_2,
        literals=("] Successfully saved checkpoint from iteration ",),
        regex=BEGIN + r"Successfully saved checkpoint from iteration +(?P<step>\d+) to (?P<path>\S+)",
        columns=_checkpoint("save", "end", step=_ITERATION, path=_PATH, ok=Value(const=True)),
        note="Counted from 0.",
    ),
    Pattern(
        name="finalization",
        table="timers",
        versions=_SINCE_2_2,
        literals=("] Async finalization time took ",),
        regex=BEGIN + r"Async finalization time took (?P<seconds>[\d.]+) s",
        columns=_stamped(component=Value(const="finalization of an asynchronous save"), mean_s=_SECONDS),
    ),
    Pattern(
        name="delete",
        table="checkpoints",
        versions=ALL,
        literals=("] Removed distributed checkpoint: ", "] Removed checkpoint: "),
        regex=BEGIN + r"Removed (?:distributed )?checkpoint: (?P<path>\S+)",
        columns=_checkpoint("delete", "end", path=_PATH, ok=Value(const=True)),
    ),
)

LOADS = (
    Pattern(
        name="load_begin_v1",
        table="checkpoints",
        versions=_V1,
        literals=("] Resuming training from checkpoint: ",),
        regex=BEGIN + r"Resuming training from checkpoint: (?P<path>\S*?(?:-step=(?P<step>\d+)-\S*)?)\s*$",
        columns=_checkpoint("load", "begin", step=_STEP, path=_PATH),
        note="The step is that of the file's name, the number of steps that were done.",
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_SINCE_2_2,
        literals=("Global Checkpoint Load : Rank : ",),
        regex=BEGIN + r"Global Checkpoint Load : Rank : (?P<rank>\d+) : Start time : [\d.]+s : "
        r"Time spent in load_checkpoint: (?P<seconds>[\d.]+)s",
        columns=_checkpoint("load", "end", rank=_RANK, blocking_s=_SECONDS, ok=Value(const=True)),
        note="One line a rank, and none of them names the step.",
    ),
    Pattern(
        name="load_end_v1",
        table="checkpoints",
        versions=_V1,
        literals=("] Time elapsed loading checkpoint/optimizer states: ",),
        regex=BEGIN + r"Time elapsed loading checkpoint/optimizer states: (?P<seconds>[\d.]+) seconds",
        columns=_checkpoint("load", "end", blocking_s=_SECONDS, ok=Value(const=True)),
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=ALL,
        literals=("Training from scratch.",),
        regex=BEGIN + r".*Training from scratch\.",
        columns=_checkpoint("load", "none"),
    ),
    known_line(
        "load_of_rank",
        ("] Resuming from checkpoint ",),
        BEGIN + r"Resuming from checkpoint \S+, rank \d+",
        versions=_V1,
    ),
)

END = (
    Pattern(
        name="preempted",
        table="phases",
        versions=ALL,
        literals=("saving checkpoint and exiting", ", initiating graceful stop"),
        regex=BEGIN + r"(?P<detail>Received SIGTERM, saving checkpoint and exiting"
        r"|Preemption detected, saving checkpoint and exiting|Received signal \d+, initiating graceful stop)",
        columns=_phase("custom", "point", detail=Value(group="detail")),
        note="The save of the end comes after it.",
    ),
    Pattern(
        name="step_timing",
        table="timers",
        versions="1.8 to 2.4",
        literals=(" in s=",),
        regex=BEGIN + r"Step \d+: (?P<component>\w+_step_timing) in s=(?P<seconds>[\d.]+)",
        columns=_stamped(component=Value(group="component"), mean_s=_SECONDS),
        note="From the end of a step to the end of the next, saves and evaluations between them inside. The "
        "number of the step begins anew with each epoch and each process, so that it is left out.",
    ),
)

EVENTS = (*START, *SAVES, *LOADS, *END)
