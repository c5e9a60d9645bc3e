"""Megatron-LM's ``progress.txt``: one line for each start and each save of all jobs of a run, with tabs."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Format, Pattern, Value

_LINE = r"^(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\tJob ID: (?P<job>\S*)\t# GPUs: (?P<gpus>\d+)\t"
_STEP = r"\tIteration: (?P<step>\d+)(?:\t|\s*$)"
_TS = Value(group="ts", kind="stamp", stamp="iso")
_SINCE = "core 0.5 to 0.19"


def _checkpoint(op: str, text: str, name: str, *, tier: str = "persistent", note: str = "") -> Pattern:
    """Return the pattern of a line about a checkpoint that is whole, or gone."""
    columns: Mapping[str, Value] = {
        "ts": _TS,
        "op": Value(const=op),
        "edge": Value(const="end"),
        "step": Value(group="step", kind="int"),
        "ok": Value(const=True),
        "tier": Value(const=tier),
    }
    return Pattern(
        name=name,
        table="checkpoints",
        versions=_SINCE,
        literals=(f"\t{text}\t",),
        regex=rf"{_LINE}{text}{_STEP}",
        columns=columns,
        note=note,
    )


FORMAT = Format(
    name="megatron_progress",
    title="NVIDIA Megatron-LM, progress.txt",
    link="https://github.com/NVIDIA/Megatron-LM/blob/main/megatron/training/utils.py",
    role="checkpoint",
    patterns=(
        Pattern(
            name="start",
            table="phases",
            versions=_SINCE,
            literals=("\tStarting job",),
            regex=rf"{_LINE}(?P<detail>Starting job)\s*$",
            columns={
                "ts": _TS,
                "phase": Value(const="custom"),
                "edge": Value(const="point"),
                "detail": Value(group="detail"),
            },
            note="The processes have run for a while, and the libraries are set up.",
        ),
        _checkpoint(
            "save",
            "Saved checkpoint",
            "saved",
            note="Durable. Its throughputs are of the job, and of all jobs since the first of this size.",
        ),
        _checkpoint("save", "Saved async checkpoint", "saved_async", note="Durable, some steps later."),
        _checkpoint("save", "Saved async local checkpoint", "saved_local", tier="local"),
        _checkpoint("delete", "Deleted checkpoint", "deleted"),
        Pattern(
            name="scheduled",
            table="",
            versions=_SINCE,
            literals=("\tSaving async checkpoint\t",),
            regex=rf"{_LINE}Saving async checkpoint{_STEP}",
            note="Nothing is durable yet, and whole seconds would put it before the begin on the console.",
        ),
    ),
    deciding=("start", "saved", "saved_async", "saved_local", "deleted", "scheduled"),
    unrendered="It repeats, to the second, what the console of Megatron-LM tells of starts and saves.",
    versions=_SINCE,
)
