"""Traces of the PyTorch profiler (Kineto, Chrome format): where the time of a rank's device went."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value

_ALL = "PyTorch 1.8 to 2.9"
_START = Value("start_ns", "stamp", stamp="epoch_ns")
_RANK = Value("rank", "int")


def _fact(name: str, key: str, field: str) -> Pattern:
    """Return the pattern of something that a trace says of itself."""
    return Pattern(
        name=name,
        table="facts",
        where={"record": ("trace",)},
        when=(field,),
        columns={"ts": _START, "rank": _RANK, "key": Value(const=key), "value": Value(field)},
        versions=_ALL,
    )


FORMAT = Format(
    name="kineto",
    title="PyTorch profiler, traces in the Chrome format",
    link="https://github.com/pytorch/kineto",
    role="any",
    shape="trace",
    header=('"schemaVersion"', '"deviceProperties"', '"distributedInfo"', '"traceEvents"', '"cat": "cpu_op"'),
    header_min=2,
    patterns=(
        Pattern(
            name="trace",
            table="",
            where={"record": ("trace",)},
            versions=_ALL,
            note="A trace is read as a whole, and its events are not kept.",
        ),
        _fact("world_size", "world_size", "world_size"),
        _fact("gpu_model", "gpu_model", "gpu_model"),
        _fact("nccl_version", "nccl_version", "nccl_version"),
        Pattern(
            name="share",
            table="profiles",
            where={"record": ("share",)},
            columns={
                "ts": _START,
                "rank": _RANK,
                "gpu": Value("device"),
                "first_step": Value("first_step", "int"),
                "last_step": Value("last_step", "int"),
                "span_s": Value("span_ns", "float", scale=1e-9),
                "component": Value("component"),
                "kind": Value("kind"),
                "process_group": Value("group"),
                "busy_s": Value("busy_ns", "float", scale=1e-9),
                "exposed_s": Value("exposed_ns", "float", scale=1e-9),
                "calls": Value("calls", "int"),
                "bytes": Value("bytes", "int"),
            },
            versions=_ALL,
            note="Times are those of activities of the device. Where it computes, communication under it is "
            "hidden; the rest is exposed. Three bases of time: whole microseconds since the epoch, fractions "
            "of them, and both from `baseTimeNanoseconds` on.",
        ),
    ),
    deciding=("trace",),
    step_time="There is none: a trace shows a few steps from inside, and profiling slows them down.",
    unrendered="It shows a few steps from inside, of which a story knows nothing.",
    versions=_ALL,
)
