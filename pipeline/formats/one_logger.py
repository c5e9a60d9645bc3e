"""NVIDIA one-logger: spans and events of a training, as its file exporter writes them, one record a line.

A span that holds no other is one record (`complete`); others have one for their start and one for their stop.
"""

from __future__ import annotations

from pipeline.formats._one_logger_checkpoints import (
    CHECKPOINTS,
    EVENT,
    LENGTH,
    START,
    STOP,
    TYPES,
    VERSIONS,
    event,
    ms,
)
from pipeline.formats.format import Format, Pattern, Value


def _spans(name: str, phase: str, names: tuple[str, ...], ends_at_once: bool = False) -> tuple[Pattern, ...]:
    """Return the patterns of the records of spans that are phases.

    Of a start-up phase that is one record, its end counts.
    """
    found = []
    for kind, (edge, field, suffix) in TYPES.items():
        at_end = kind == "complete" and ends_at_once
        found.append(
            Pattern(
                name=f"{name}{suffix}",
                table="phases",
                where={"type": (kind,), "name": names},
                columns={
                    "ts": ms(STOP if at_end else field),
                    "phase": Value(const=phase),
                    "edge": Value(const="end" if at_end else edge),
                    "detail": Value(group="name"),
                    **({} if kind == "start" else {"duration_s": LENGTH}),
                },
                versions=VERSIONS,
            )
        )
    return tuple(found)


PHASES = (
    Pattern(
        name="process_start",
        table="phases",
        where={"type": ("start", "complete"), "name": ("application",)},
        columns={
            "ts": ms(START),
            "phase": Value(const="process_start"),
            "edge": Value(const="point"),
            "detail": Value(group="attributes/perf_tag"),
        },
        versions=VERSIONS,
    ),
    Pattern(
        name="exit",
        table="phases",
        where={"type": ("stop",), "name": ("application",)},
        columns={
            "ts": ms(STOP),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(const="application ended"),
        },
        versions=VERSIONS,
        note="Only where the program ended by itself, whatever made it end.",
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        where={"type": ("start", "complete"), "name": ("training_loop",)},
        columns={
            "ts": ms(START),
            "phase": Value(const="loop"),
            "edge": Value(const="begin"),
            "step": Value(group="attributes/train_iterations_start", kind="int", offset=1),
        },
        versions=VERSIONS,
        note="The attribute counts the steps that were done before, the column names the first one to come.",
    ),
    Pattern(
        name="loop_end",
        table="phases",
        where={"type": ("stop",), "name": ("training_loop",)},
        columns={"ts": ms(STOP), "phase": Value(const="loop"), "edge": Value(const="end")},
        versions=VERSIONS,
    ),
    *_spans("init", "init", ("distributed_code_initialization",), ends_at_once=True),
    *_spans("data_setup", "data_setup", ("data_loader_initialization",), ends_at_once=True),
    *_spans("model_setup", "model_setup", ("model_initialization", "optimizer_initialization"), True),
    *_spans("evaluation", "eval", ("validation_loop", "testing_loop")),
)

STEPS = (
    Pattern(
        name="steps",
        table="steps",
        where={"type": ("event",), "event/name": ("training_metrics_update",)},
        columns={
            "ts": ms(EVENT),
            "ts_edge": Value(const="end"),
            "step_last": Value(group="event/attributes/current_iteration", kind="int", offset=1),
            "steps": event("interval"),
            "batch_size": event("avg_batch_size"),
            "tokens_per_s": event("avg_tokens_per_second", "float"),
            "tflops_per_gpu": event("train_throughput_per_gpu", "float"),
            "loss": event("latest_loss", "float"),
        },
        versions=VERSIONS,
        note="Written every so many steps, and steps count from 0. The time is that of the record. Means and "
        "counts of iterations are those of the whole process so far, and are not read.",
    ),
)

OTHERS = (
    Pattern(
        name="world_size",
        table="facts",
        where={"type": ("event",), "event/name": ("one_logger_initialization",)},
        columns={
            "ts": ms(EVENT),
            "host": Value(group="event/attributes/node_name"),
            "rank": event("rank"),
            "key": Value(const="world_size"),
            "value": Value(group="event/attributes/world_size"),
        },
        versions=VERSIONS,
    ),
    Pattern(
        name="batch",
        table="facts",
        where={"type": ("event",), "event/name": ("update_training_telemetry_config",)},
        columns={
            "ts": ms(EVENT),
            "key": Value(const="global_batch_size"),
            "value": Value(group="event/attributes/global_batch_size"),
        },
        versions=VERSIONS,
    ),
    Pattern(
        name="error",
        table="phases",
        where={"type": ("application_error",)},
        columns={
            "ts": ms(EVENT),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(group=("event/attributes/exception_message", "event/attributes/error_message")),
        },
        versions=VERSIONS,
    ),
    Pattern(
        name="known_events",
        table="",
        where={
            "type": ("event",),
            "event/name": (
                *("validation_metrics_update", "testing_metrics_update", "sync_checkpoint_metrics_update"),
            ),
        },
        versions=VERSIONS,
    ),
    Pattern(
        name="known_spans",
        table="",
        where={
            "type": ("start", "stop", "complete"),
            "name": (
                *("training_single_iteration", "validation_single_iteration", "TESTING_SINGLE_ITERATION"),
                *("checkpoint_save_finalization", "data_loading", "model_forward", "zero_grad"),
                *("model_backward", "optimizer_update"),
            ),
        },
        versions=VERSIONS,
    ),
    Pattern(
        name="telemetry_error",
        table="",
        where={"type": ("telemetry_data_error",)},
        when=("error/name",),
        versions=VERSIONS,
    ),
)

FORMAT = Format(
    name="one_logger",
    title="NVIDIA one-logger, exported as JSON lines",
    link="https://github.com/NVIDIA/nv-one-logger",
    role="trainer",
    shape="records",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *OTHERS),
    step_time="No time of a step is told: the mean in a record is that of the whole process so far.",
    step_time_excludes_stalls=False,
    deciding=("steps", "process_start", "loop_begin", "save_success", "world_size"),
    unrendered="It holds what the console of the same trainer tells, once more.",
    versions=VERSIONS,
    ordered_by_time=True,
)
