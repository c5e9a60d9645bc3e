"""torchtitan, console: the step lines of every release; the modules `_torchtitan_*` hold the rest."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._torchft_lines import EVENTS as FAULT_TOLERANCE
from pipeline.formats._torchft_lines import WHO
from pipeline.formats._torchtitan_checkpoints import CHECKPOINTS
from pipeline.formats._torchtitan_events import EVENTS
from pipeline.formats._torchtitan_head import HEAD, STAMP
from pipeline.formats._torchtitan_setup import SETUP
from pipeline.formats.format import Format, Head, Pattern, Value, known_line

#: What every release prints first. Two blanks part the fields; the engine has taken the colours off.
_STEP = r"""
step:\s+(?P<step>\d+)\s+               # optimizer step just finished
loss:\s+(?P<loss>\S+)\s+               # of this step alone; -1 on ranks without the last pipeline stage
(?:grad_norm:\s+(?P<grad_norm>\S+)\s+)?  # since 0.2.0
memory:\s+[\d.]+GiB\([\d.]+%\)\s+      # largest reserved since the last line
"""
_COLUMNS: Mapping[str, Value] = {
    "ts": STAMP,
    "step_last": Value(group="step", kind="int"),
    "ts_edge": Value(const="end"),
    "tokens_per_s_per_gpu": Value(group="tps", kind="float"),
    "loss": Value(group="loss", kind="float"),
    "mfu": Value(group="mfu", kind="float", scale=1e-2),
}

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="2024-12 to 2026-08",
        literals=(" - step: ",),
        unique=True,
        regex=rf"""(?x) {HEAD} {_STEP}
            tps:\s+(?P<tps>[\d,]+)                   # tokens per second and device
            (?:\s+tflops:\s+(?P<tflops>[\d,.]+))?    # per device, since 2025-02
            \s+mfu:\s+(?:(?P<mfu>[\d.]+)%|N/A)       # in percent; not known under quantisation
        """,
        columns={
            **_COLUMNS,
            "tflops_per_gpu": Value(group="tflops", kind="float"),
            "grad_norm": Value(group="grad_norm", kind="float"),
        },
        note="Printed at step 1 and at every `log_freq`-th step: a resumed process prints none for its first "
        "step. The throughput of the first line of a process covers its start as well.",
    ),
    Pattern(
        name="step_2024",
        table="steps",
        versions="2024-04 to 2024-11",
        literals=(" - step: ",),
        unique=True,
        regex=rf"""(?x) {HEAD} {_STEP}
            wps:\s+(?P<tps>[\d,]+)                   # tokens per second and device, called words then
            \s+mfu:\s+(?P<mfu>[\d.]+)%
        """,
        columns=_COLUMNS,
    ),
)

#: Of a replica group that trains under torchft; the steps are told by the lines above.
COMMITTED = known_line("committed", ("should_commit=True ",), WHO + r"should_commit=True enough_replicas=")

FORMAT = Format(
    name="torchtitan",
    title="torchtitan, console",
    link="https://github.com/pytorch/torchtitan/blob/main/torchtitan/components/metrics.py",
    role="trainer",
    patterns=(*STEPS, *EVENTS, *CHECKPOINTS, *SETUP, *FAULT_TOLERANCE, COMMITTED),
    step_time="No step time is printed. The throughput covers everything since the line before: waiting for "
    "data, the blocking part of saves, garbage collection and profiler dumps. Validation is outside: it "
    "sets the clock and the counter of tokens to zero, so that the steps before it are in no throughput. The "
    "first line of a process also covers its start.",
    step_time_excludes_stalls=False,
    heads=(
        Head(
            r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3} - [A-Za-z_0-9.]+ - [A-Z]+ - ",
            "twin",
        ),
    ),
    deciding=(
        "step",
        "step_2024",
        "process_start",
        "process_version",
        "device",
        "mesh",
        "peak",
        "trainer",
        "loop_begin",
    ),
    versions="2024-04 to 2026-08, 0.1.0 to 0.2.2",
    blocked_is_end_of_sync=True,
    next_save_waits=True,
    flops_attention="full_attention",
    degrees=(
        "pipeline_parallel",
        "data_parallel_replicate",
        "data_parallel_shard",
        "context_parallel",
        "tensor_parallel",
    ),
)
