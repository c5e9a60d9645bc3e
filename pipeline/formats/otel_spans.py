"""OpenTelemetry spans of trainers: OTLP documents, and spans one by one as the Python library writes them.

Megatron-LM marks spans that matter for goodput since 2026-08; one-logger exports its spans this way too. A
span is written when it ends: what was open when a process died is in no file.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.formats.format import Derived, Format, Pattern, Stamp, Value

_MEGATRON = "Megatron-LM of 2026-08"
_ONE_LOGGER = "one-logger 2.3"

#: Fields of begin and end, kind of the times, and the end of the names of the patterns.
_WAYS: tuple[tuple[str, str, Stamp, str], ...] = (
    ("startTimeUnixNano", "endTimeUnixNano", "epoch_ns", ""),
    ("start_time", "end_time", "iso", "_single"),
)


def _attribute(name: str, number: str = r'[^",}\]]+') -> Derived:
    """Return how an attribute is found: in a list of keys and values, or in an object."""
    key = name.replace(".", r"\.")
    return Derived(("attributes",), rf'"{key}"(?:,"value":\{{"\w+":|: ?)"?(?P<v>{number})')


def _patterns(begin: str, end: str, stamp: Stamp, suffix: str) -> Iterator[Pattern]:
    """Yield the patterns of spans whose times have these names."""
    started = Value(group=begin, kind="stamp", stamp=stamp)
    ended = Value(group=end, kind="stamp", stamp=stamp)
    length = Value(group=end, kind="stamp", stamp=stamp, less=begin)

    def span(
        name: str, table: str, names: tuple[str, ...], versions: str, note: str = "", /, **columns: Value
    ) -> Pattern:
        """Return the pattern of spans with one of these names."""
        return Pattern(
            name=f"{name}{suffix}",
            table=table,
            when=(begin, end),
            where={"name": names},
            columns={**columns, "host": Value(group="@host")} if table else {},
            versions=versions,
            note=note,
        )

    def phase(name: str, what: str, edge: str, at: Value, *names: str, long: bool = True) -> Pattern:
        """Return the pattern of spans that tell of a phase, with its length or without."""
        return span(
            name,
            "phases",
            names,
            f"{_MEGATRON}, {_ONE_LOGGER}",
            ts=at,
            phase=Value(const=what),
            edge=Value(const=edge),
            detail=Value(group="name"),
            duration_s=length if long else Value(),
        )

    yield span(
        "step",
        "steps",
        ("megatron.train.iteration", "megatron.train_step"),
        _MEGATRON,
        "The attribute counts the steps that were done before this one.",
        ts=ended,
        ts_edge=Value(const="end"),
        step_last=Value(group="@iteration", kind="int", offset=1),
        step_time_s=length,
        loss=Value(group="@loss", kind="float"),
        grad_norm=Value(group="@grad_norm", kind="float"),
    )
    yield span(
        "steps",
        "steps",
        ("training_metrics_update_event_for_training_loop",),
        _ONE_LOGGER,
        "Events are written as spans without a length. Steps count from 0; means are those of the whole "
        "process so far, and are not read.",
        ts=ended,
        ts_edge=Value(const="end"),
        step_last=Value(group="@current_iteration", kind="int", offset=1),
        steps=Value(group="@interval", kind="int"),
        loss=Value(group="@latest_loss", kind="float"),
        tflops_per_gpu=Value(group="@train_throughput_per_gpu", kind="float"),
    )
    yield phase(
        "process_start",
        "process_start",
        "point",
        started,
        "megatron.startup.imports",
        "application",
        long=False,
    )
    yield phase(
        "initialized",
        "init",
        "end",
        ended,
        *("megatron.startup.initialize_megatron", "distributed_code_initialization"),
    )
    yield phase(
        "model_built",
        "model_setup",
        "end",
        ended,
        *("megatron.startup.model_init", "megatron.model_init"),
        *("model_initialization", "optimizer_initialization"),
    )
    yield phase(
        "data_built",
        "data_setup",
        "end",
        ended,
        *("megatron.startup.dataloader", "data_loader_initialization"),
    )
    yield phase("loop_begin", "loop", "begin", ended, "megatron.startup", long=False)
    yield phase("loop", "loop", "begin", started, "training_loop", long=False)
    yield phase(
        "evaluation",
        "eval",
        "span",
        started,
        *("megatron.evaluate", "validation_loop", "testing_loop"),
    )
    yield phase(
        "gc",
        "gc",
        "span",
        started,
        *("megatron.train.gc_collect", "megatron.checkpoint.gc_collect"),
    )
    yield span(
        "save",
        "checkpoints",
        (
            *("megatron.checkpoint.exposed_save", "megatron.checkpoint.save", "megatron.save_checkpoint"),
            "checkpoint_save_async",
        ),
        f"{_MEGATRON}, {_ONE_LOGGER}",
        "For as long as the loop stood still. No span of Megatron-LM tells when a save was durable.",
        ts=started,
        op=Value(const="save"),
        edge=Value(const="span"),
        step=Value(group=("@iteration", "@current_iteration"), kind="int"),
        blocking_s=length,
    )
    yield span(
        "save_synchronous",
        "checkpoints",
        ("checkpoint_save_sync",),
        _ONE_LOGGER,
        ts=started,
        op=Value(const="save"),
        edge=Value(const="span"),
        step=Value(group="@current_iteration", kind="int"),
        blocking_s=length,
        ok=Value(const=True),
    )
    yield span(
        "save_success",
        "checkpoints",
        tuple(
            f"save_checkpoint_success_event_for_{parent}"
            for parent in ("application", "training_loop", "checkpoint_save_sync")
        ),
        _ONE_LOGGER,
        ts=ended,
        op=Value(const="save"),
        edge=Value(const="end"),
        step=Value(group="@current_iteration", kind="int"),
        ok=Value(const=True),
    )
    yield span(
        "load",
        "checkpoints",
        ("megatron.checkpoint.load", "megatron.load_checkpoint", "checkpoint_load"),
        f"{_MEGATRON}, {_ONE_LOGGER}",
        "The step that was read is not told.",
        ts=started,
        op=Value(const="load"),
        edge=Value(const="span"),
        blocking_s=length,
        ok=Value(const=True),
    )
    yield span(
        "others",
        "",
        (
            *("pre_startup", "megatron.startup.launch_script", "megatron.startup.container_load"),
            *(
                "megatron.startup.arg_parse",
                "megatron.startup.inprocess_setup",
                "megatron.startup.in_job_setup",
            ),
            *("megatron.startup.jit_fusion_options", "megatron.startup.weight_hash_check", "megatron.train"),
            *("megatron.pretrain", "megatron.train.first_iteration", "megatron.train.iteration_report"),
            *("megatron.train.log", "megatron.train.params_norm", "megatron.train.cuda_graph_capture"),
            *("megatron.checkpoint.save.state_dict", "megatron.checkpoint.save.io_write"),
            *("megatron.checkpoint.save.finalize", "megatron.checkpoint.load.io_read"),
            *("megatron.checkpoint.ft_heartbeat", "megatron.checkpoint.timers_log"),
            *("megatron.checkpoint.reclaim_memory", "megatron.checkpoint.report_memory"),
            *("megatron.checkpoint.exit_finalize", "megatron.evaluate.step", "megatron.forward_backward"),
            *("megatron.optimizer_step", "megatron.microbatch.forward", "megatron.microbatch.backward"),
            *("megatron.grad_sync.start", "megatron.grad_sync.finish", "checkpoint_save_finalization"),
            *("training_single_iteration", "validation_single_iteration", "TESTING_SINGLE_ITERATION"),
        ),
        f"{_MEGATRON}, {_ONE_LOGGER}",
    )


FORMAT = Format(
    name="otel_spans",
    title="OpenTelemetry spans of trainers",
    link="https://github.com/NVIDIA/Megatron-LM/tree/main/docs/user-guide/observability",
    role="trainer",
    shape="document",
    elements=("resourceSpans/[]/scopeSpans/[]/spans",),
    header=('"resourceSpans"', '"startTimeUnixNano"', '"start_time"'),
    header_min=1,
    derive={
        "@iteration": _attribute("megatron.iteration", r"\d+"),
        "@current_iteration": _attribute("current_iteration", r"\d+"),
        "@interval": _attribute("interval", r"\d+"),
        "@latest_loss": _attribute("latest_loss"),
        "@train_throughput_per_gpu": _attribute("train_throughput_per_gpu"),
        "@loss": _attribute("megatron.loss"),
        "@grad_norm": _attribute("megatron.grad_norm"),
        "@host": Derived(
            ("^/^/resource/attributes", "resource/attributes"),
            r'"host\.name"(?:,"value":\{"\w+":|: ?)"(?P<v>[^"]+)"',
        ),
    },
    patterns=tuple(pattern for way in _WAYS for pattern in _patterns(*way)),
    step_time="The length of the span of a step: the step function alone. Waiting for data, saves and "
    "evaluations have spans of their own, or none. One-logger tells none.",
    step_time_excludes_stalls=True,
    deciding=tuple(
        f"{name}{suffix}"
        for suffix in ("", "_single")
        for name in ("step", "steps", "loop_begin", "loop", "save", "save_synchronous", "evaluation", "load")
    ),
    unrendered="It holds what the console of the same trainer tells, once more.",
    versions=f"{_MEGATRON}, {_ONE_LOGGER}",
    ordered_by_time=True,
)
