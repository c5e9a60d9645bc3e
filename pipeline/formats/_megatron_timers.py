"""Megatron-LM: blocks of component times. All are in milliseconds and carry neither a time nor a step."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value

_COMPONENT = r"^\s*(?P<component>[A-Za-z][\w/ -]*?) \.+: "


def _milliseconds(group: str) -> Value:
    """Return a group of milliseconds as seconds."""
    return Value(group=group, kind="float", scale=1e-3)


TIMERS = (
    Pattern(
        name="timer_minmax",
        table="timers",
        versions="23.04 to core 0.19",
        literals=(".: (",),
        regex=rf"{_COMPONENT}\((?P<min>[\d.]+), (?P<max>[\d.]+)\)\s*$",
        columns={
            "component": Value(group="component"),
            "min_s": _milliseconds("min"),
            "max_s": _milliseconds("max"),
        },
        note="Over the ranks that ran it. Timers of the step are divided by the log interval even where "
        "fewer steps ran since the block before.",
    ),
    Pattern(
        name="timer_max",
        table="timers",
        versions="23.04 to core 0.19",
        literals=(".: ",),
        regex=rf"{_COMPONENT}(?P<max>[\d.]+)\s*$",
        columns={"component": Value(group="component"), "max_s": _milliseconds("max")},
    ),
    Pattern(
        name="timers_v1",
        table="timers",
        versions="1.0 to 2.6",
        literals=("time (ms) | ",),
        regex=r"^\s*time \(ms\) \| ",
        each=r"\| (?P<component>[^|:]+): (?P<mean>\d+\.\d+)",
        columns={"component": Value(group="component"), "mean_s": _milliseconds("mean")},
        note="Of the last rank alone.",
    ),
    Pattern(
        name="straggler",
        table="timers",
        versions="core 0.7 to 0.19",
        literals=("MxRtt/Rnk: ",),
        beside=True,
        regex=r"\| MnRtt/Rnk: ",
        each=r"\| (?P<component>M[nx]Rtt)/Rnk: (?P<time>[\d.]+)ms/(?P<rank>\d+)",
        columns={
            "component": Value(group="component"),
            "rank": Value(group="rank", kind="int"),
            "mean_s": _milliseconds("time"),
        },
        note="The fastest and the slowest rank of an interval of the straggler detector, by the time that "
        "their devices computed.",
    ),
    Pattern(
        name="timer_blocks",
        table="",
        versions="23.04 to core 0.19",
        literals=(" across ranks (ms):", "     rank "),
        regex=r"^\s*(?:\(min, max\) time|max time|times) across ranks \(ms\):|^\s+rank +\d+: [\d.]+\s*$",
        note="The option `all` prints a line per rank below a line with the name of the timer: what such a "
        "line belongs to is not in it.",
    ),
)
