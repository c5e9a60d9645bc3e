"""verl, file logger: the metrics of each step as JSON, in a file that every start truncates."""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

_VERSIONS = "0.5 to 0.7"
_STEP = Value(group="step", kind="int")


FORMAT = Format(
    name="verl_file",
    title="verl, file logger",
    link="https://github.com/verl-project/verl/blob/main/verl/utils/tracking.py",
    role="any",
    shape="records",
    patterns=(
        Pattern(
            name="step",
            table="timers",
            when=("step", "data/timing_s~1step"),
            columns={
                "step": _STEP,
                "component": Value(const="step"),
                "mean_s": Value(group="data/timing_s~1step", kind="float"),
            },
            versions=_VERSIONS,
            note="Without a time: it proves no step beside the console, which tells of the same ones.",
        ),
        Pattern(
            name="validation",
            table="phases",
            when=("step", "validated"),
            columns={"phase": Value(const="eval"), "edge": Value(const="end"), "step": _STEP},
            versions=_VERSIONS,
            note="The validation before the first step.",
        ),
    ),
    step_time="As on the console: `timing_s/step`, up to 0.5 with validation and save inside.",
    step_time_excludes_stalls=False,
    deciding=("step",),
    derive={"validated": Derived(("data",), r'^\{"(?P<v>val-)')},
    versions=_VERSIONS,
    unrendered="It repeats what the console says of steps, without a time.",
)
