"""ColossalAI: its logger, and what its language examples print; none of them prints a time."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_VERSIONS = "2022-11 to 2026-04"
_STEP = Value(group="step", kind="int")
_END = Value(const="end")
_LOGGER = r"colossalai - \w+ - [A-Z]+: "

STEPS = (
    Pattern(
        name="demo_step",
        table="steps",
        versions=_VERSIONS,
        literals=(", Step time: ",),
        regex=r"\[(?P<step>\d+)/(?P<target>\d+)\] ?,? ?(?:Loss:(?P<loss>[\d.naif]+), )?"
        r"Step time: (?P<spent>[\d.]+)s, TFLOPS: (?P<tflops>[\d.]+)",
        columns={
            "step_last": _STEP,
            "step_target": Value(group="target", kind="int"),
            "ts_edge": _END,
            "step_time_s": Value(group="spent", kind="float"),
            "tflops_per_gpu": Value(group="tflops", kind="float"),
            "loss": Value(group="loss", kind="float"),
        },
        note="Of the older GPT and PaLM examples.",
    ),
    Pattern(
        name="bar",
        table="steps",
        versions="2023-09 to 2026-04",
        literals=("train/loss=", ", Loss="),
        regex=r"^(?:Step|Epoch \d+):\s+\d+%\|[^|]*\| (?P<step>\d+)/(?P<target>\d+) \[(?P<elapsed>[\d:]+)<"
        r"[^\]]*, (?:train/loss|Loss)=(?P<loss>[\d.naife+-]+)\]",
        columns={
            "step_last": _STEP,
            "step_target": Value(group="target", kind="int"),
            "ts_edge": _END,
            "elapsed_s": Value(group="elapsed", kind="seconds"),
            "loss": Value(group="loss", kind="float"),
        },
        note="Counts updates from the begin of the epoch. Saves count batches: their step is not read.",
    ),
    Pattern(
        name="legacy_epoch",
        table="phases",
        versions="2021-10 to 2023-09",
        literals=(" / Train]: ",),
        regex=r"\[Epoch \d+ / Train\]: ",
        columns={
            "phase": Value(const="custom"),
            "edge": Value(const="point"),
            "detail": Value(const="epoch"),
        },
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions="2023-09 to 2026-04",
        literals=("Start saving ",),
        regex=r"^Start saving (?:model checkpoint with running states|final model checkpoint)",
        columns={"op": Value(const="save"), "edge": Value(const="begin")},
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="2023-09 to 2026-04",
        literals=("Saved checkpoint at epoch ",),
        regex=r"^Saved checkpoint at epoch \d+ step \d+ at folder (?P<path>\S+)",
        columns={"op": Value(const="save"), "edge": _END, "path": Value(group="path")},
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions="2023-09 to 2026-04",
        literals=("Load model checkpoint from ", "Continued pretrain from checkpoint "),
        regex=r"^(?:Load model checkpoint from|Continued pretrain from checkpoint) (?P<path>\S+)",
        columns={"op": Value(const="load"), "edge": Value(const="begin"), "path": Value(group="path")},
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions="2023-09 to 2026-04",
        literals=("Loaded checkpoint ",),
        regex=r"^Loaded checkpoint (?P<path>\S+) at epoch \d+ step \d+",
        columns={"op": Value(const="load"), "edge": _END, "path": Value(group="path")},
    ),
)

OTHERS = (
    Pattern(
        name="world_size",
        table="facts",
        versions=_VERSIONS,
        literals=(
            "environment is initialized, world size: ",
            "environment is initialized, data parallel size: ",
        ),
        regex=_LOGGER
        + r"Distributed environment is initialized, .*?(?:world|data parallel) size: (?P<value>\d+)",
        columns={"key": Value(const="world_size"), "value": Value(group="value")},
    ),
    Pattern(
        name="params",
        table="facts",
        versions="2023-09 to 2026-04",
        literals=("Model params: ",),
        regex=r"^Model params: (?P<value>[\d.]+ ?[KMBT]?)\s*$",
        columns={"key": Value(const="params"), "value": Value(group="value")},
    ),
    Pattern(
        name="built",
        table="phases",
        versions="2023-09 to 2026-04",
        literals=("Booster init max ",),
        regex=r"^Booster init max (?:device|CUDA|CPU) memory: ",
        columns={"phase": Value(const="model_setup"), "edge": _END},
    ),
    Pattern(
        name="final",
        table="phases",
        versions=_VERSIONS,
        literals=("Saved final model checkpoint at ", "TFLOPS per GPU by Megatron: "),
        regex=r"^(?:Saved final model checkpoint at epoch|Throughput: \S+ samples/sec, TFLOPS per GPU by )",
        columns={
            "phase": Value(const="loop"),
            "edge": Value(const="end"),
            "detail": Value(const="completed"),
        },
    ),
    known_line("timer", (": last = ",), r"\w+: last = [\d.]+ s", "2021-10 to 2023-09"),
    known_line("average", ("avg_throughput: ",), r"^num_samples: \d+, dp_world_size: \d+, ", _VERSIONS),
    known_line(
        "sample",
        (
            "Loaded sample at index ",
            "Gradient checkpointing enabled",
            "Warmup steps is set to ",
            "Max device memory",
        ),
        r"^(?:Loaded sample at|Gradient checkpointing enabled|Warmup steps is set to|Max device memory)",
        "2023-09 to 2026-04",
    ),
    known_line("caller", ("colossalai - ",), _LOGGER + r"\S+\.py:\d+ \w+\s*$", _VERSIONS),
)

FORMAT = Format(
    name="colossalai",
    title="ColossalAI, language examples",
    link="https://github.com/hpcaitech/ColossalAI/tree/main/applications/Colossal-LLaMA",
    role="trainer",
    patterns=(*STEPS, *CHECKPOINTS, *OTHERS),
    step_time="The step time of the older examples is that of one step, without saves and evaluations. The "
    "bar of the newer ones counts from the begin of the epoch, saves and waits for data included.",
    flops_recomputed=True,
    deciding=("world_size", "caller", "demo_step", "save_end"),
    versions=_VERSIONS,
    unrendered="No line carries a time.",
)
