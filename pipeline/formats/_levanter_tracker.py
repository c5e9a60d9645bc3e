"""Levanter: what the tracker that logs JSON tells beside steps."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._levanter_head import HEAD, told
from pipeline.formats.format import Pattern, Value, known_line

JSON = rf'{HEAD}\{{"tracker": "json_logger", "event": '
_VERSIONS = "2025-05 to 2025-09"

_SUMMARY: Mapping[str, str] = {
    "throughput/device_kind": "gpu_model",
    "throughput/theoretical_flops_per_device": "peak_flops_per_gpu",
    "throughput/flops_per_example": "flops_per_sample",
    "parameter_count": "params",
}


def _timer(name: str, key: str) -> Pattern:
    """Return the pattern of a record that tells a part of the time from one step to the next."""
    return Pattern(
        name=name,
        table="timers",
        versions=_VERSIONS,
        literals=(f'"{key}": ',),
        regex=rf'{JSON}"log", "step": (?P<step>\d+), "metrics": \{{.*"{key}": (?P<s>[\d.e+-]+)',
        columns=told(
            step=Value(group="step", kind="int"),
            component=Value(const=key),
            mean_s=Value(group="s", kind="float"),
        ),
    )


TRACKER = (
    _timer("hook_time", "throughput/hook_time"),
    _timer("loading_time", "throughput/loading_time"),
    Pattern(
        name="summary",
        table="facts",
        versions=_VERSIONS,
        literals=('"event": "summary"',),
        regex=JSON + '"summary", ',
        each=rf'"(?P<key>{"|".join(_SUMMARY)})": "?(?P<value>[\w. +-]+)',
        columns=told(key=Value(group="key", mapping=_SUMMARY), value=Value(group="value")),
    ),
    Pattern(
        name="hyperparameters",
        table="phases",
        versions=_VERSIONS,
        literals=('"event": "hparams"',),
        regex=JSON + '"hparams", ',
        columns=told(phase=Value(const="init"), edge=Value(const="end")),
        note="The first record of a process: before it the hosts have met. The configuration stands in it.",
    ),
    known_line(
        "tracker_records",
        (
            '"event": "finish"',
            '"event": "artifact"',
            '"metrics": {"eval/',
            '"metrics": {"train/current_epoch"',
        ),
        JSON + r'(?:"finish"|"artifact"|"log", "step": \d+, "metrics": \{"(?:eval/|train/current_epoch"))',
        _VERSIONS,
    ),
)
