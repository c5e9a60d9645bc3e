"""DLLogger of NVIDIA's examples: language models, as text and as JSON behind a token, and their bars."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._words import other_than
from pipeline.formats.format import Format, Pattern, Value, known_line

_VERSIONS = "2019-10 to 2023-03"
#: Behind a bar and the mark of a launcher that were not ended: the token is searched.
_TEXT = r"\bDLL (?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) - "
_JSON = (
    r'^DLLL \{"timestamp": "(?P<ts>[\d.]+)", (?:"datetime": "[^"]*", |"elapsedtime": "[\d.]+", )+'
    r'"type": "LOG", "step": '
)
_ISO = Value(group="ts", kind="stamp", stamp="iso")
_EPOCH = Value(group="ts", kind="stamp", stamp="epoch_s")
_STEP = Value(group="step", kind="int")
_FLOAT = Value(kind="float")


def _both(
    name: str,
    text: str,
    json: str,
    table: str,
    columns: Mapping[str, Value],
    extras: Mapping[str, tuple[str, Value]] | None = None,
    note: str = "",
) -> tuple[Pattern, Pattern]:
    """Return the patterns of a record as text and as JSON."""
    return (
        Pattern(
            name,
            table,
            {"ts": _ISO, **columns},
            ("DLL 20",),
            _TEXT + text,
            extras=extras or {},
            versions=_VERSIONS,
            note=note,
        ),
        Pattern(
            f"{name}_json",
            table,
            {"ts": _EPOCH, **columns},
            ('DLLL {"',),
            _JSON + json,
            extras=extras or {},
            versions=_VERSIONS,
            note=note,
        ),
    )


def _entry(name: str) -> str:
    """Return the expression of one entry of the data, in either form."""
    return rf'\b{name}"? ?: (?P<v>-?[\d.]+(?:e[+-]?\d+)?)'


_LOSSES = "(?:average_loss|step_loss|final_loss)"
_PARAMETERS = ("checkpoint_step", "train_start", "batch_size_per_gpu")

RECORDS = (
    *_both(
        "step",
        rf"Training Epoch: \d+ +Training Iteration: (?P<step>\d+) +{_LOSSES} : ",
        rf'\[\d+, (?P<step>\d+)\], "data": \{{"{_LOSSES}": ',
        "steps",
        {"step_last": _STEP, "ts_edge": Value(const="end")},
        {
            "loss": (_entry("(?:step_loss|final_loss)"), _FLOAT),
            "samples_per_s": (_entry("training_sequences_per_second"), _FLOAT),
        },
        note="Updates, not batches: an iteration of other examples begins again with each epoch: not read.",
    ),
    *_both(
        "save",
        r"PARAMETER checkpoint_step : (?P<step>\d+)",
        r'"PARAMETER", "data": \{"checkpoint_step": (?P<step>\d+)',
        "checkpoints",
        {"op": Value(const="save"), "edge": Value(const="begin"), "step": _STEP},
        note="Printed before the save; no line says when it was done.",
    ),
    *_both(
        "loop_begin",
        r"PARAMETER train_start : True",
        r'"PARAMETER", "data": \{"train_start": true',
        "phases",
        {"phase": Value(const="loop"), "edge": Value(const="begin")},
    ),
    *_both(
        "batch_size",
        r"PARAMETER batch_size_per_gpu : (?P<value>\d+)",
        r'"PARAMETER", "data": \{"batch_size_per_gpu": (?P<value>\d+)',
        "facts",
        {"key": Value(const="micro_batch_size"), "value": Value(group="value")},
    ),
    *_both(
        "end",
        r" *e2e_train_time : (?P<spent>[\d.]+)",
        r'\[\], "data": \{"e2e_train_time": (?P<spent>[\d.]+)',
        "phases",
        {
            "phase": Value(const="loop"),
            "edge": Value(const="end"),
            "detail": Value(const="completed"),
            "duration_s": Value(group="spent", kind="float"),
        },
        note="The last line; the length is that of the whole process.",
    ),
)

KNOWN = (
    known_line(
        "parameter",
        ("DLL 20",),
        _TEXT + rf"PARAMETER {other_than(_PARAMETERS).replace(chr(34), ' ')} : ",
        _VERSIONS,
    ),
    known_line(
        "parameter_json",
        ('DLLL {"',),
        _JSON + rf'"PARAMETER", "data": \{{"{other_than(_PARAMETERS)}"',
        _VERSIONS,
    ),
    known_line("metadata", ('DLLL {"',), r'^DLLL \{.*"type": "METADATA"', _VERSIONS),
    known_line(
        "bar",
        ("Iteration: ",),
        # What another rank wrote behind it stands in the same line.
        r"^Iteration:\s+\d+%\|[^|]*\| \d+/\d+ \[[^\]]*\]\s*"
        r"(?:[A-Z][\w :]+\[\d+,\d+\]<std(?:out|err)>:)?\s*(?:\[W .*)?$",
    ),
)

FORMAT = Format(
    name="dllogger",
    title="DLLogger of NVIDIA's examples (BERT)",
    link="https://github.com/NVIDIA/DeepLearningExamples/tree/master/PyTorch/LanguageModeling/BERT",
    role="trainer",
    patterns=(*RECORDS, *KNOWN),
    step_time="No step time is printed: the stamp or clock ends a step, and all before it is inside.",
    step_time_excludes_stalls=False,
    deciding=("step", "step_json", "end", "end_json"),
    versions=_VERSIONS,
    unrendered="Examples of a few hours on a few machines, which say nothing of saves and restarts.",
)
