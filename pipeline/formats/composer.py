"""MosaicML Composer and LLM Foundry: step lines; the module `_composer_events` holds the rest."""

from __future__ import annotations

from pipeline.formats._composer_events import EVENTS
from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "0.12 to 0.32.1"

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_ALL,
        literals=("[batch=",),
        regex=r"^\[batch=(?P<step>\d+)/(?P<target>\d+)\]:?\s*$",
        columns={
            "step_last": Value(group="step", kind="int"),
            "step_target": Value(group="target", kind="int"),
            "ts_edge": Value(const="end"),
        },
        note="The head of a block of metrics. It has no time of its own: only a collector or launcher that "
        "puts one before it dates the steps.",
    ),
    Pattern(
        name="step_by_count",
        table="steps",
        versions=_ALL,
        literals=("[token=", "[sample="),
        regex=r"^\[(?:token|sample)=(?P<count>\d+)/\d+\]:?\s*$",
        columns={
            "consumed_samples": Value(group="count", kind="int"),
            "ts_edge": Value(const="end"),
        },
        note="A run that is measured in tokens or samples; the dump of the configuration tells how many are "
        "a step.",
    ),
    Pattern(
        name="step_metric",
        table="steps",
        versions="0.14 to 0.32.1",
        literals=(" Train time/batch: ",),
        regex=r"^\t Train time/batch: (?P<step>\d+)$",
        columns={"step_last": Value(group="step", kind="int"), "ts_edge": Value(const="late")},
        note="Counted when the step begins: one less than in the head of the block. It gives the steps of "
        "runs whose head counts something else.",
    ),
    known_line(
        "step_of_epoch",
        ("[epoch=", "[iteration="),
        r"^(?:\[epoch=\d+\]\[batch=\d+(?:/\d+)?\]|\[iteration=\d+/\d+\]):?\s*$",
        _ALL,
        "Counts anew in each epoch: the steps are those of `step_metric`.",
    ),
)

FORMAT = Format(
    name="composer",
    title="Composer and LLM Foundry",
    link="https://github.com/mosaicml/composer/blob/main/composer/loggers/console_logger.py",
    role="trainer",
    patterns=(*STEPS, *EVENTS),
    step_time="No step time is printed, and no date: the difference of `time/train` between two blocks "
    "tells, with waiting for data and saves inside and evaluations outside. Throughput is a mean over the "
    "last 100 steps, and missing from the first 100 steps of a process.",
    step_time_excludes_stalls=False,
    deciding=(
        "step",
        "step_metric",
        "step_by_count",
        "trainer",
        "loop_begin",
        "initialized",
        "data_built",
    ),
    unrendered="Its steps carry no time of their own.",
    versions="0.12 to 0.32.1; LLM Foundry 0.21.0",
    world_size_late=True,
    degrees=("nodes", "gpus_per_node"),
)
