"""What a user asked for, in words of the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from random import Random
from typing import Any, get_args, get_type_hints

from pipeline.errors import GoodputError, nearest
from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import SECOND, Story

#: Blemishes that are none of lines: local clocks ahead of UTC, clocks of hosts that differ, events that mean
#: nothing.
_OTHERS = ("zone", "skew", "decoys")

#: Smallest and largest value of those that are numbers.
_RANGES: Mapping[str, tuple[float, float]] = {
    "zone": (-12, 14),
    "skew": (0, 3600),
    "decoys": (0, 10_000),
    "rotate_bytes": (1, 1e12),
    "kernel_lost": (0, 1),
    "lost_console": (1, 1e6),
    "noise_mb": (0, 1e6),
    "samples": (0, 86_400),
}
_WHOLE = {"rotate_bytes", "lost_console"}
_EXAMPLES = {"rotate_bytes": "100000", "kernel_lost": "0.1", "noise_mb": "10", "samples": "30"}

#: Seconds between samples of devices in a story of one that is throttled.
_SAMPLES_S = 30.0

#: Ends of a run that nobody described further, by weight.
_ENDS = {
    "gpu_off_bus_hang": 3.0,
    "double_bit_ecc": 2.0,
    "collective_hang": 1.0,
    "time_limit": 1.0,
    "operator_stop": 1.0,
    "preempted": 1.0,
}


def plans_of(trainer: str, gpus: int, days: float) -> tuple[Plan, ...]:
    """Return the plan of one run of a size that takes about so many days."""
    base = Plan()
    steps = max(60, round(0.8 * days * 86_400 / base.step_s))
    attempts = max(2, min(60, round(days * 5)))
    between = max(20, steps // attempts)
    return (
        replace(
            base,
            trainer=trainer,
            gpus=gpus,
            target=steps,
            ends=_ENDS,
            steps_between=(between // 2, between * 2),
            max_attempts=attempts,
            requeue=0.3,
            restart_inside=0.3,
            eval_every=200,
        ),
    )


def style_of(log_interval: int, asked: tuple[str, ...], story: Story) -> Style:
    """Return how programs print, with the blemishes that are theirs.

    Raises:
        GoodputError: a value cannot be used.
    """
    told = _split(asked)
    skew_s = _number("skew", told["skew"] or "1.5") if "skew" in told else 0.0
    rng = Random(f"{story.seed}/clocks")
    hosts = sorted({host for run in story.runs for job in run.jobs for host in job.hosts})
    skews = {host: round(rng.uniform(-skew_s, skew_s) * SECOND) for host in hosts} if skew_s else {}
    hours = _number("zone", told["zone"] or "2") if "zone" in told else 0.0
    if hours * 4 != int(hours * 4):
        raise GoodputError(
            f"no place is {hours:g} hours ahead of UTC",
            where="`--blemish zone`",
            now="give whole, half or quarter hours",
        )
    return Style(log_interval, round(hours * 3600), skews)


def blemishes_of(asked: tuple[str, ...], story: Story) -> Blemishes:
    """Return what happens to lines on their way into files.

    Raises:
        GoodputError: no such blemish exists, or its value cannot be used.
    """
    kinds = get_type_hints(Blemishes)
    # what a throttled device says of itself is what its story is about
    hot = any(run.throttle is not None for run in story.runs)
    found: dict[str, Any] = {"samples": _SAMPLES_S} if hot else {}
    for name, value in _split(asked).items():
        if name in _OTHERS:
            continue
        kind = kinds[name]
        choices = get_args(kind)
        if choices and value not in choices:
            raise GoodputError(
                f"`{value}` is no value of the blemish `{name}`" if value else f"`{name}` needs a value",
                where="`--blemish`",
                now=f"one of {', '.join(choices)}",
            )
        if choices:
            found[name] = value
        elif kind is not bool:
            found[name] = kind(_number(name, value))
        elif value:
            raise GoodputError(
                f"the blemish `{name}` has no value", where="`--blemish`", now=f"write `--blemish {name}`"
            )
        else:
            found[name] = True
    attempts = max(len(run.attempts) for run in story.runs)
    if found.get("lost_console", 0) > attempts:
        raise GoodputError(
            f"this story has {attempts} attempts",
            where="`--blemish lost_console`",
            now="give the number of one of them",
        )
    return replace(CLEAN, **found)


def decoys_of(asked: tuple[str, ...]) -> float:
    """Return how many events that mean nothing each host logs in a day; 0 where nobody asked for any.

    Raises:
        GoodputError: the value cannot be used.
    """
    told = _split(asked)
    return _number("decoys", told["decoys"] or "1") if "decoys" in told else 0.0


def _split(asked: tuple[str, ...]) -> dict[str, str]:
    """Return name and value of each blemish."""
    known = [field.name for field in fields(Blemishes)] + list(_OTHERS)
    found: dict[str, str] = {}
    for text in asked:
        name, _, value = text.partition("=")
        name = name.replace("-", "_")
        if name not in known:
            hint = nearest(name, known) or f"one of {', '.join(known)}"
            raise GoodputError(f"no blemish is called `{name}`", where="`--blemish`", now=hint)
        if name in found:
            raise GoodputError(f"the blemish `{name}` is given twice", where="`--blemish`", now="give one")
        found[name] = value
    return found


def _number(name: str, value: str) -> float:
    """Return the number that a value is."""
    low, high = _RANGES[name]
    where = f"`--blemish {name}`"
    now = f"write for example `{name}={_EXAMPLES.get(name, '1')}`"
    try:
        number = float(value)
    except ValueError:
        what = f"`{value}` is no number" if value else f"`{name}` needs a value"
        raise GoodputError(what, where=where, now=now) from None
    if not low <= number <= high:
        raise GoodputError(f"{value} is not between {low:,.10g} and {high:,.10g}", where=where, now=now)
    if name in _WHOLE and number != int(number):
        raise GoodputError(f"{value} is no whole number", where=where, now=now)
    return number
