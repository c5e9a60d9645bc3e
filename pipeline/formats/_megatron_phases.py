"""Megatron-LM: lines with a clock of their own, durations of the start, and results of evaluations."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value

_TS = r"(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)"
_STAMP = Value(group="ts", kind="stamp", stamp="iso")
_STEP = Value(group="step", kind="int")
_SECONDS = Value(group="seconds", kind="float")
_SINCE_V2 = "2.0 to core 0.19"

#: `print_datetime` puts a barrier first.
_BARRIER = "The time of the slowest rank, printed by rank 0."


def _anchor(
    name: str, text: str, phase: str, edge: str, *, versions: str = _SINCE_V2, note: str = _BARRIER
) -> Pattern:
    """Return the pattern of one ``[text] datetime: time`` line, in which ``text`` is also the detail."""
    return Pattern(
        name=name,
        table="phases",
        versions=versions,
        literals=("] datetime: ",),
        regex=rf"\[(?P<detail>{text})\] datetime: {_TS}",
        columns={
            "ts": _STAMP,
            "phase": Value(const=phase),
            "edge": Value(const=edge),
            "detail": Value(group="detail"),
        },
        note=note,
    )


ANCHORS = (
    _anchor(
        "process_start",
        "before library-setup",
        "process_start",
        "point",
        versions="core 0.16 to 0.19",
        note="The time is that of the process, not of the line, which stands below later ones.",
    ),
    _anchor(
        "program_start",
        "before megatron-init",
        "process_start",
        "point",
        versions="core 0.16 to 0.19",
        note="Libraries are loaded; the process has run for a while.",
    ),
    _anchor("library_setup", "after library-setup", "library_setup", "end", versions="core 0.16 to 0.19"),
    _anchor("initialized", "after megatron is initialized", "init", "end"),
    _anchor(
        "model_built",
        "after model, optimizer, and learning rate scheduler are built",
        "model_setup",
        "end",
        note=f"{_BARRIER} A load lies before it.",
    ),
    _anchor("data_built", "after dataloaders are built", "data_setup", "end"),
    _anchor("loop_begin", "before the start of training step", "loop", "begin"),
    _anchor("loop_end", "after training is done", "loop", "end"),
    Pattern(
        name="start_marks",
        table="",
        versions="core 0.16 to 0.19",
        literals=(" setup and before initialize_megatron] datetime: ",),
        regex=r"\[after in-(?:process|job) setup and before initialize_megatron\] datetime: ",
    ),
    Pattern(
        name="sniff_test",
        table="phases",
        versions="core 0.18 to 0.19",
        literals=(" GPU sniff test (",),
        regex=rf"\[(?P<edge>running|finished) GPU sniff test \(.*\)\] datetime: {_TS}",
        columns={
            "ts": _STAMP,
            "phase": Value(const="custom"),
            "edge": Value(group="edge", mapping={"running": "begin", "finished": "end"}),
            "detail": Value(const="GPU sniff test"),
        },
    ),
)

EXITS = (
    Pattern(
        name="exit",
        table="phases",
        versions=_SINCE_V2,
        literals=("[exiting program a",),
        regex=r"\[exiting program (?P<detail>after receiving \w+\.?|after [\d.]+ minutes"
        rf"|at iteration\s+(?P<step>\d+))\] datetime: {_TS}",
        columns={
            "ts": _STAMP,
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "step": _STEP,
            "detail": Value(group="detail"),
        },
        note="The save of an exit comes before it.",
    ),
    Pattern(
        name="exit_data_exhausted",
        table="phases",
        versions="forks of core 0.16",
        literals=("[exiting program after consuming all available data",),
        regex=r"\[exiting program after consuming all available data at iteration\s+(?P<step>\d+)\] "
        rf"datetime: {_TS}",
        columns={
            "ts": _STAMP,
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "step": _STEP,
            "detail": Value(const="data_exhausted"),
        },
    ),
    Pattern(
        name="exit_v1",
        table="phases",
        versions="1.0",
        literals=(" | exiting the program at iteration ",),
        regex=rf"rank: (?P<rank>\d+) \| time: {_TS} \| exiting the program "
        r"(?P<detail>at iteration (?P<step>\d+))",
        columns={
            "ts": _STAMP,
            "rank": Value(group="rank", kind="int"),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "step": _STEP,
            "detail": Value(group="detail"),
        },
    ),
)

DURATIONS = (
    Pattern(
        name="init_seconds",
        table="phases",
        versions=_SINCE_V2,
        literals=("time to initialize megatron (seconds): ",),
        regex=r"^\s*time to initialize megatron \(seconds\): (?P<seconds>\d[\d.]*)",
        columns={"phase": Value(const="init"), "edge": Value(const="end"), "duration_s": _SECONDS},
        note="Printed at its end, at `after megatron is initialized`; began when Python had read the module.",
    ),
    Pattern(
        name="init_seconds_negative",
        table="",
        versions="2.0 to 2.6",
        literals=("time to initialize megatron (seconds): -",),
        regex=r"^\s*time to initialize megatron \(seconds\): -",
        note="The clock was set back meanwhile: no duration.",
    ),
    Pattern(
        name="compiled",
        table="phases",
        versions="2.0 to core 0.16",
        literals=(">>> done with ",),
        regex=r">>> done with (?P<detail>dataset index builder|compiling and loading fused kernels)\. "
        r"Compilation time: (?P<seconds>[\d.]+) seconds",
        columns={
            "phase": Value(const="compile"),
            "edge": Value(const="end"),
            "duration_s": _SECONDS,
            "detail": Value(group="detail"),
        },
    ),
    Pattern(
        name="evaluation",
        table="phases",
        versions="1.0 to core 0.19",
        literals=(" loss at ",),
        regex=r"(?:^|\s)validation(?:-\S+)? loss at (?:iteration (?P<step>\d+)(?: on (?P<set>\w+) set)?"
        r"|the end of training for (?P<data>\w+) data) \| .*value: ",
        columns={
            "phase": Value(const="eval"),
            "edge": Value(const="point"),
            "step": _STEP,
            "detail": Value(group=("set", "data")),
        },
        note="Printed without a time when the evaluation is over; the `evaluate` timer tells its length.",
    ),
)

PHASES = (*ANCHORS, *EXITS, *DURATIONS)
