"""Samples of devices as a monitor on each host writes them: an exporter of DCGM, collected as a table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from random import Random

from pipeline.simulate.lines import Style
from pipeline.simulate.story import SECOND, Attempt, Run, Story

HEADER = (
    "timestamp,Hostname,gpu,DCGM_FI_DEV_SM_CLOCK,DCGM_FI_DEV_POWER_USAGE,DCGM_FI_PROF_SM_ACTIVE,"
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE,DCGM_FI_PROF_DRAM_ACTIVE,DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"
)

#: Clock of a device that works, in MHz, and of one that waits for a program.
_CLOCK, _IDLE_CLOCK = 1980, 345

#: Bits of NVML: nothing to do; a limit of power, which a device under load meets; hardware, for heat.
_IDLE, _POWER_LIMIT, _HEAT = 1, 4, 8 + 64


def device_samples(story: Story, style: Style, every_s: float) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the hosts of a story, and the lines of each one's table of samples."""
    spans: dict[str, list[tuple[Run, Attempt, int]]] = {}
    for run in story.runs:
        for attempt in run.attempts:
            if attempt.end is not None:
                for place, host in enumerate(attempt.hosts):
                    spans.setdefault(host, []).append((run, attempt, place))
    for host in sorted(spans):
        yield host, _table(story.seed, host, spans[host], style, round(every_s * SECOND))


def _table(
    seed: int, host: str, spans: list[tuple[Run, Attempt, int]], style: Style, every_us: int
) -> Iterator[str]:
    """Yield the header and the samples of one host."""
    yield HEADER
    rng = Random(f"{seed}/samples/{host}")
    for run, attempt, place in sorted(spans, key=lambda span: span[1].process_us):
        assert attempt.end is not None
        loop_us = attempt.loop_us or attempt.end.stop_us
        slow_us = _throttled_from(run, attempt)
        for time_us in range(attempt.process_us, attempt.end.stop_us, every_us):
            shown = style.local(time_us, host).astimezone(UTC)
            for gpu in range(run.gpus_per_host):
                hot = slow_us is not None and time_us >= slow_us and _is_hot(run, place, gpu)
                told = _sample(run, rng, time_us >= loop_us, hot)
                yield f"{shown:%Y-%m-%dT%H:%M:%SZ},{host},{gpu},{told}"


def _throttled_from(run: Run, attempt: Attempt) -> int | None:
    """Return when the first throttled step of an attempt began; None where none was."""
    if run.throttle is None:
        return None
    return next((step.start_us for step in attempt.steps if run.throttle.holds(step.number)), None)


def _is_hot(run: Run, place: int, gpu: int) -> bool:
    """Return whether a device is the one that runs with a lower clock."""
    return run.throttle is not None and (place, gpu) == (run.throttle.host, run.throttle.gpu)


def _sample(run: Run, rng: Random, works: bool, hot: bool) -> str:
    """Return the figures of one device."""
    drawn = rng.uniform(-0.01, 0.01)
    if not works:
        return f"{_IDLE_CLOCK},{118 * (1 + drawn):.2f},0.0,0.0,0.0,{_IDLE}"
    computes = run.split.compute_share if run.split is not None else 0.8
    slower = run.throttle.slower if hot and run.throttle is not None else 1.0
    active = computes * (1 + drawn)
    return (
        f"{round(_CLOCK * (1 + drawn) / slower)},{650 * (1 + drawn) / slower:.2f},{0.95 * active:.3f},"
        f"{0.5 * active:.3f},{0.35 * active:.3f},{_HEAT if hot else _POWER_LIMIT}"
    )
