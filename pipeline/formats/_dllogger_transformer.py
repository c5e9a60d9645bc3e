"""DLLogger, the translation example: its own line of averages, and the lines of the program below it."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value, known_line

_VERSIONS = "2019-10 to 2023-03"
_STEP = Value(group="step", kind="int")
_FLOAT = Value(kind="float")
_TRANSFORMER = r"^Transformer \| epoch \d+ \| step "

TRANSFORMER = (
    Pattern(
        name="translation_step",
        table="steps",
        versions=_VERSIONS,
        literals=("Transformer | epoch ",),
        unique=True,
        regex=_TRANSFORMER
        + r"(?P<step>\d+) \|avg loss (?P<loss>[\d.naif]+) \|.*\bwalltime (?P<elapsed>[\d.]+) \|",
        columns={
            "step_last": _STEP,
            "ts_edge": Value(const="end"),
            "loss": Value(group="loss", kind="float"),
            "elapsed_s": Value(group="elapsed", kind="float"),
        },
        extras={"tokens_per_s": (r"\|tokens/s (?P<v>[\d.]+) \|", _FLOAT)},
        note="The clock counts from the begin of the process, data and compilation included.",
    ),
    Pattern(
        name="translation_end",
        table="phases",
        versions=_VERSIONS,
        literals=("Transformer | epoch ",),
        unique=True,
        regex=_TRANSFORMER + r"\(\) \|",
        columns={"phase": Value(const="shutdown"), "edge": Value(const="point")},
    ),
    Pattern(
        name="done",
        table="phases",
        versions=_VERSIONS,
        literals=("| done training in ",),
        regex=r"^\| done training in (?P<spent>[\d.]+) seconds",
        columns={
            "phase": Value(const="loop"),
            "edge": Value(const="end"),
            "detail": Value(const="completed"),
            "duration_s": Value(group="spent", kind="float"),
        },
    ),
    Pattern(
        name="validation",
        table="phases",
        versions=_VERSIONS,
        literals=("Validation loss on subset ", "| Eval completed in: "),
        regex=r"^(?:Validation loss on subset \w+: [\d.naif]+|\| Eval completed in: (?P<spent>[\d.]+)s)",
        columns={
            "phase": Value(const="eval"),
            "edge": Value(const="end"),
            "duration_s": Value(group="spent", kind="float"),
        },
    ),
    Pattern(
        name="world_size",
        table="facts",
        versions=_VERSIONS,
        literals=("| training on ",),
        regex=r"^\| training on (?P<value>\d+) GPUs",
        columns={"key": Value(const="world_size"), "value": Value(group="value")},
    ),
    Pattern(
        name="params",
        table="facts",
        versions=_VERSIONS,
        literals=("| num. model params: ",),
        regex=r"^\| num\. model params: (?P<value>\d+)",
        columns={"key": Value(const="params"), "value": Value(group="value")},
    ),
    Pattern(
        name="init_begin",
        table="phases",
        versions=_VERSIONS,
        literals=("| distributed init (rank ",),
        regex=r"^\| distributed init \(rank (?P<rank>\d+)\): ",
        columns={
            "phase": Value(const="init"),
            "edge": Value(const="begin"),
            "rank": Value(group="rank", kind="int"),
        },
    ),
    Pattern(
        name="init_end",
        table="phases",
        versions=_VERSIONS,
        literals=("| initialized host ",),
        regex=r"^\| initialized host (?P<host>\S+) as rank (?P<rank>\d+)",
        columns={
            "phase": Value(const="init"),
            "edge": Value(const="end"),
            "host": Value(group="host"),
            "rank": Value(group="rank", kind="int"),
        },
    ),
    known_line("no_number", ("NaN or Inf found in",), r"^NaN or Inf found in input tensor\.", _VERSIONS),
    known_line(
        "remarks",
        (
            "Epoch time: ",
            "| Translated ",
            "| distributed ",
            " examples",
            "padded to multiples",
            " dictionary: ",
        ),
        r"^(?:Epoch time: [\d.]+|\| Translated \d+ |\| distributed (?:env init\.|init done!)"
        r"|\| \S+ \w+ \d+ examples|\| Sentences are being padded|\| \[\w+\] dictionary: \d+)",
        _VERSIONS,
    ),
)
