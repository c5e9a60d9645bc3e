"""OLMo-core: the step lines of every release; the modules `_olmo_core_*` hold the rest."""

from __future__ import annotations

from pipeline.formats._olmo_core_checkpoints import CHECKPOINTS
from pipeline.formats._olmo_core_events import EVENTS
from pipeline.formats._olmo_core_setup import SETUP
from pipeline.formats._olmo_head import head, told
from pipeline.formats.format import Format, Pattern, Value

_LOGGER = "olmo_core.train.callbacks.console_logger:"
_HEAD = head(r"olmo_core\.train\.callbacks\.console_logger")
#: Step and last step, which is not known while a run is measured in epochs.
_STEP = r"\[step=(?P<step>\d+)/(?:(?P<target>\d+)|\?+|None)"

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="1.0.0 to 2.5.0",
        literals=(_LOGGER,),
        unique=True,
        regex=rf"{_HEAD}{_STEP},epoch=\d+\]",
        columns=told(
            step_last=Value(group="step", kind="int"),
            step_target=Value(group="target", kind="int"),
            ts_edge=Value(const="end"),
        ),
        note="Before 2025-02-27 the line above metrics looks the same, and may come late: see "
        "`step_metrics`.",
    ),
    Pattern(
        name="step_metrics",
        table="steps",
        versions="2025-02-27 to 2.5.0",
        literals=(_LOGGER,),
        unique=True,
        regex=rf"{_HEAD}{_STEP},epoch=\d+,eta=[^\]]+\]",
        columns=told(
            step_last=Value(group="step", kind="int"),
            step_target=Value(group="target", kind="int"),
            ts_edge=Value(const="late"),
        ),
        note="Printed above metrics, which another thread collects every few steps "
        "(`metrics_collect_interval`, 5): after the end of its step, and sometimes behind lines of later "
        "steps. A save prints it as well, so that it may be there twice.",
    ),
)

FORMAT = Format(
    name="olmo_core",
    title="OLMo-core",
    link="https://github.com/allenai/OLMo-core/blob/main/src/olmo_core/train/callbacks/console_logger.py",
    role="trainer",
    patterns=(*STEPS, *EVENTS, *CHECKPOINTS, *SETUP),
    step_time="No step time is printed. The throughput below a step (`TPS`, `MFU`) is that of this one "
    "step, measured by the host from the end of the step before: waiting for data, the blocking part of a "
    "save and an evaluation are inside. The first step of a process is left out; `(actual avg)` is a mean "
    "since the second step of the process, with all that happened in between.",
    step_time_excludes_stalls=False,
    deciding=(
        "step",
        "step_metrics",
        "load_begin",
        "save_begin",
        "save_async_begin",
        "dry_run_begin",
        "loop",
        "initialized",
        "optimizer",
        "mesh",
        "load_none",
        "failed",
        "canceled",
    ),
    versions="1.0.0 to 2.5.0, 2024-08 to 2026-06",
    degrees=(
        "pipeline_parallel",
        "data_parallel_replicate",
        "data_parallel_shard",
        "context_parallel",
        "tensor_parallel",
    ),
)
