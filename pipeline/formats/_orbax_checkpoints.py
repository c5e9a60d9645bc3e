"""Orbax: saves and loads, in the words of its three generations."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value, known_line

#: What stands before the text: nothing, or the header of a logger.
HEAD = r"(?:^|\] |absl:)"
#: Process, thread and step, of which older releases and some lines print a part.
_MARKS = r"(?:\[process=(?P<rank>\d+)\])?(?:\[thread=[^\]]*\])?(?:\[step=(?P<marked>\d+)\])? ?"
PROCESS = rf"{HEAD}{_MARKS}"
_SECONDS = r"(?P<seconds>[\d.]+) ?s(?:econds)?"
#: The folder of a step, perhaps with the name of an item in it; a full stop ends the sentence.
_FOLDER = (
    r"`?(?P<path>\S*/(?:(?:step|ckpt|checkpoint)[_-])?(?P<step>\d+)(?:/[A-Za-z_][A-Za-z_.]*?)?|\S+?)`?\.?\s*$"
)

_A = "to 0.11.0"
_B = "0.11.20 to 0.11.33"
_C = "0.12"
ALL = "to 0.12"


def columns_of(op: str, edge: str, *more: Mapping[str, Value], step: str = "step") -> Mapping[str, Value]:
    """Return the columns of one kind of line; its time is that of the header."""
    return {
        "op": Value(const=op),
        "edge": Value(const=edge),
        "step": Value(group=step, kind="int"),
        **{name: value for told in more for name, value in told.items()},
    }


RANK: Mapping[str, Value] = {"rank": Value(group="rank", kind="int")}
PATH: Mapping[str, Value] = {"path": Value(group="path")}
BLOCKING: Mapping[str, Value] = {"blocking_s": Value(group="seconds", kind="float")}
OK: Mapping[str, Value] = {"ok": Value(const=True)}

SAVES = (
    Pattern(
        name="save_of_step",
        table="checkpoints",
        versions=ALL,
        literals=("Saving checkpoint at step ",),
        regex=PROCESS + r"Saving checkpoint at step (?P<step>\d+)(?: due to preemption\.)?\s*$",
        columns=columns_of("save", "begin", RANK),
        note="Printed when the save before has ended: the wait for it lies before this line.",
    ),
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=f"{_A}, {_B}",
        literals=("Started saving checkpoint to ", "Started async saving checkpoint to "),
        regex=PROCESS + rf"Started (?:async )?saving checkpoint to {_FOLDER}",
        columns=columns_of("save", "begin", RANK, PATH),
        note="The first generation prints nothing when the loop goes on: only its trainer may tell.",
    ),
    Pattern(
        name="operation_begin",
        table="checkpoints",
        versions=_C,
        literals=("] Started save checkpoint @ ", "] Started load checkpoint @ "),
        regex=PROCESS + rf"\[a?sync\] Started (?P<op>save|load) checkpoint @ {_FOLDER}",
        columns={**columns_of("", "begin", RANK, PATH), "op": Value(group="op")},
    ),
    Pattern(
        name="save_blocked",
        table="checkpoints",
        versions=_B,
        literals=("Continuing background save to ", "Continuing to write to "),
        regex=PROCESS
        + rf"Finished blocking save(?:\. Time taken:| in) {_SECONDS}\. "
        + rf"Continuing (?:background save|to write) to {_FOLDER}",
        columns=columns_of("save", "blocked", RANK, PATH, BLOCKING),
    ),
    Pattern(
        name="operation_blocked",
        table="checkpoints",
        versions=_C,
        literals=("] Finished blocking save in ",),
        regex=PROCESS + rf"\[async\] Finished blocking save in {_SECONDS}\. Continuing save @ {_FOLDER}",
        columns=columns_of("save", "blocked", RANK, PATH, BLOCKING),
    ),
    known_line(
        "operation_prepared",
        ("] Finished blocking load in ", "[sync] Finished blocking save in "),
        PROCESS + r"\[(?:a?sync\] Finished blocking load|sync\] Finished blocking save) in ",
        versions=_C,
        note="Of an operation that nothing runs beside: its end comes later.",
    ),
    Pattern(
        name="save_finalized",
        table="checkpoints",
        versions=ALL,
        literals=("Finished saving checkpoint (finalized tmp dir) to ",),
        regex=PROCESS + rf"Finished saving checkpoint \(finalized tmp dir\) to {_FOLDER}",
        columns=columns_of("save", "end", RANK, PATH, OK),
        note="Durable. With several hosts the last one counts.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions=_B,
        literals=("Finished async_save (blocking + background)", "Finished asynchronous save (blocking + ba"),
        regex=PROCESS
        + r"Finished (?:async_save|asynchronous save) \(blocking \+ background\)(?:\. Time taken:| in) "
        + rf"{_SECONDS}\.? (?:directory=|to ){_FOLDER}",
        columns=columns_of("save", "end", RANK, PATH, OK),
        note="The time that is told covers both parts, so that it is neither.",
    ),
    Pattern(
        name="save_end_synchronous",
        table="checkpoints",
        versions=_B,
        literals=("Finished synchronous save in ",),
        regex=PROCESS + rf"Finished synchronous save in {_SECONDS} to {_FOLDER}",
        columns=columns_of("save", "end", RANK, PATH, BLOCKING, OK),
    ),
    Pattern(
        name="operation_end_async",
        table="checkpoints",
        versions=_C,
        literals=("[async] Finished save (blocking + background) in ",),
        regex=PROCESS + rf"\[async\] Finished save \(blocking \+ background\) in {_SECONDS} @ {_FOLDER}",
        columns=columns_of("save", "end", RANK, PATH, OK),
    ),
    Pattern(
        name="operation_end",
        table="checkpoints",
        versions=_C,
        literals=("[sync] Finished save in ", "ync] Finished load in ", "] Finished load (blocking + "),
        regex=PROCESS + r"\[(?:sync\] Finished (?P<save>save)|a?sync\] Finished (?P<load>load)"
        rf"(?: \(blocking \+ background\))?) in {_SECONDS} @ {_FOLDER}",
        columns={
            **columns_of("", "end", RANK, PATH, BLOCKING, OK),
            "op": Value(group=("save", "load")),
        },
    ),
    Pattern(
        name="save_done_everywhere",
        table="checkpoints",
        versions=ALL,
        literals=("CheckpointManager Save Finalize is done on all hosts.",),
        regex=PROCESS + r"CheckpointManager Save Finalize is done on all hosts\.",
        columns=columns_of("save", "end", RANK, OK, step="marked"),
        note="Durable on every host.",
    ),
    Pattern(
        name="save_waited",
        table="timers",
        versions=ALL,
        literals=("Waiting for previous save to complete took ",),
        regex=PROCESS + r"Waiting for previous save to complete took (?P<seconds>[\d.]+) seconds\. ",
        columns={
            "component": Value(const="wait for the save before"),
            "mean_s": Value(group="seconds", kind="float"),
        },
        note="A stall right before the begin of the save, of which the line is the end.",
    ),
)

LOADS = (
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=ALL,
        literals=("Restoring checkpoint from ",),
        regex=PROCESS + rf"Restoring checkpoint from {_FOLDER}",
        columns=columns_of("load", "begin", RANK, PATH),
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=f"{_A}, {_B}",
        literals=("Finished restoring checkpoint ",),
        regex=PROCESS + rf"Finished restoring checkpoint (?:in {_SECONDS} )?from {_FOLDER}",
        columns=columns_of("load", "end", RANK, PATH, BLOCKING, OK),
    ),
)

CHECKPOINTS = (*SAVES, *LOADS)
