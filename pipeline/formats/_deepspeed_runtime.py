"""DeepSpeed: what its engine says while it runs, and its reports."""

from __future__ import annotations

from pipeline.formats._deepspeed_head import HEAD, RANKED
from pipeline.formats.format import Pattern, Value, known_line

_OPS = (
    r"(?:op name|ninja|[a-z][a-z0-9_]*|torch (?:install path|version|cuda version|hip version)|nvcc version"
    r"|deepspeed (?:install path|wheel compiled w\.)|shared memory \(/dev/shm\) size)"
)

RUNTIME = (
    Pattern(
        name="step_seen",
        table="phases",
        versions="0.3 to 0.18",
        literals=("] step=",),
        regex=rf"{HEAD}\[Rank \d+\] step=(?P<step>[1-9]\d*), skipped=\d+, lr=\[",
        columns={
            "phase": Value(const="custom"),
            "edge": Value(const="point"),
            "step": Value(group="step", kind="int"),
            "detail": Value(const="step of the DeepSpeed engine"),
        },
        note="In the log of a program that prints steps of its own: a time at which the run was alive.",
    ),
    Pattern(
        name="throughput",
        table="telemetry",
        versions="0.3 to 0.18",
        literals=("SamplesPerSec=",),
        regex=rf"{RANKED}(?:epoch=\d+/micro_step=\d+/global_step=\d+|\d+/\d+), (?:RunningAvg)?SamplesPerSec=",
        each=r", (?P<metric>\w+)=(?P<value>-?[\d.]+(?:e[+-]?\d+)?)(?P<unit>GB)?",
        columns={
            "metric": Value(group="metric"),
            "value": Value(group="value", kind="float"),
            "unit": Value(group="unit"),
        },
        note="Its step counts from the start of the process, and it measures only from the begin of the "
        "forward "
        "pass to the end of the update: an upper bound. Up to 0.7 it counts micro batches.",
    ),
    Pattern(
        name="wall_clock",
        table="timers",
        versions="0.3 to 0.18",
        literals=("time (ms) | ",),
        regex=r"(?:\[Rank \d+\] |rank=\d+ |\] )time \(ms\) \| "
        r"(?:fwd|bwd|step|optimizer|pipe|batch_input|compute|overflow|backward_|forward_|allreduce|basic"
        r"|norm)",
        each=r"[|(,] ?(?P<component>[a-z0-9_]+): (?P<mean>\d[\d.]*)",
        columns={
            "component": Value(group="component"),
            "mean_s": Value(group="mean", kind="float", scale=1e-3),
        },
        note="Of the device of rank 0. Lines of a micro step, and one with their sums for the whole step.",
    ),
    known_line(
        "overflow",
        ("OVERFLOW! ", "Overflow detected. Skipping step", "Grad overflow on iteration"),
        r"\[deep(?:speed|scale)\] OVERFLOW! |Overflow detected\. Skipping step|Grad overflow on iteration",
        versions="0.3 to 0.18",
        note="A skipped step: the counter `skipped` of the step lines adds them up.",
    ),
    known_line(
        "memory_pressure",
        ("pytorch allocator cache flushes since last step", ", vm %: "),
        r"\d+ pytorch allocator cache flushes since last step|/global_step=\d+, vm %: ",
        versions="0.6 to 0.18",
    ),
    known_line(
        "flops_profile",
        (
            "DeepSpeed Flops Profiler",
            "Profile Summary at step ",
            "FLOPS per GPU",
            " per GPU:  ",
            " latency:  ",
        ),
        r"^-+ DeepSpeed Flops Profiler -+|^Profile Summary at step \d+:|^FLOPS per GPU = "
        r"|^(?:params|batch size|fwd MACs|fwd flops|fwd FLOPs) per GPU: {2,}|^(?:fwd|bwd|step"
        r"|iter) latency: {2,}",
        versions="0.3 to 0.18",
    ),
)

REPORT = (
    known_line(
        "memory_report",
        ("Max_MA ", "CPU Virtual Memory:  used = ", "Before ", "After "),
        r"^MA [\d.]+ GB +Max_MA |^CPU Virtual Memory:  used = "
        r"|^(?:Before|After) (?:Building Model|initializing (?:optimizer states|ZeRO optimizer)"
        r"|creating fp16 )",
        versions="0.17.6 to 0.18",
        note="Earlier releases print them behind a header.",
    ),
    known_line(
        "environment",
        (
            " ..",
            "DeepSpeed C++/CUDA extension op report",
            "DeepSpeed general environment info",
            "NOTE: Ops not installed will be",
            "Op compatibility means that your system",
            "dependencies to JIT install the op.",
            "JIT compiled ops requires ninja",
            "[WARNING] ",
        ),
        rf"^{_OPS} \.{{1,}} (?:\[(?:OKAY|NO|FAIL)\]|installed \.\. compatible|\['/|\d|None|torch \d)"
        r"|^DeepSpeed (?:C\+\+/CUDA extension op report|general environment info:)"
        r"|^NOTE: Ops not installed will be"
        r"|^\s+runtime if needed\. Op compatibility means"
        r"|^\s+meet the required dependencies to JIT install the op\."
        r"|^JIT compiled ops requires ninja|^\s*\[WARNING\] +\S",
        versions="0.3 to 0.18",
    ),
    known_line(
        "extensions",
        (
            " as PyTorch extensions root",
            "Loading extension module ",
            "Building extension module ",
            "Emitting ninja build file ",
            "ninja: no work to do.",
            "Allowing ninja to set a default number of workers",
            "Creating extension directory ",
            "Detected CUDA files, patching ldflags",
            "Adam Optimizer #",
            "No modifications detected for re-loaded extension module ",
        ),
        r"^(?:Using \S+ as PyTorch extensions root|(?:Loading|Building) extension module \w"
        r"|Emitting ninja build file "
        r"|ninja: no work to do\.|Allowing ninja to set a default|Creating extension directory "
        r"|Detected CUDA files, patching ldflags|Adam Optimizer #\d"
        r"|No modifications detected for re-loaded extension module )",
    ),
    known_line(
        "pipeline_layout",
        (
            "SEED_LAYERS=",
            "Using topology: {",
            "stage=",
            "ParallelTransformerLayerPipe",
            "EmbeddingPipe",
            "LMHeadPipe",
            "MPU ",
            " partition count [",
        ),
        r"^SEED_LAYERS=\w+ BASE_SEED=|^Using topology: \{ProcessCoord\(|^stage=\d+ layers=\d+"
        r"|^(?: *\d+: )?(?:ParallelTransformerLayer|Embedding|LMHead)Pipe\s*$"
        r"|^MPU [DMP]P: \[\d|^Rank: \d+ partition count \[",
        versions="0.3 to 0.18",
    ),
    known_line(
        "rule",
        ("--------------------------------------------------",),
        r"^-{50}\s*$",
        note="Around the report of its extensions.",
    ),
)
