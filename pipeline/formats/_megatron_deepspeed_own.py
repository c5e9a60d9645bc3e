"""Megatron-DeepSpeed: lines that only its forks print, steps apart."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value, known_line

_FORKS = "BigScience 2021 to 2023, Microsoft 2022 to 2025"

OWN = (
    Pattern(
        name="kill_switch",
        table="phases",
        versions="BigScience since 2021",
        literals=("Detected kill switch at ",),
        regex=r"\[Detected kill switch at (?P<detail>\S+?)\.? Exiting\.?\] datetime: "
        r"(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)",
        columns={
            "ts": Value(group="ts", kind="stamp", stamp="iso"),
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(const="kill switch"),
        },
    ),
    Pattern(
        name="evaluation_draw",
        table="phases",
        versions="Microsoft since 2023",
        literals=("-sample draw from ",),
        regex=r"validation loss at iteration (?P<step>\d+) on \d+-sample draw from (?P<detail>\w+) set \|",
        columns={
            "phase": Value(const="eval"),
            "edge": Value(const="point"),
            "step": Value(group="step", kind="int"),
            "detail": Value(group="detail"),
        },
        note="After the training; without a time.",
    ),
    Pattern(
        name="save_speed",
        table="timers",
        versions="Microsoft since 2024",
        literals=("Checkpoint Save GB: ",),
        regex=r"Checkpoint Save GB: [\d.]+, GB/Sec: [\d.]+, Latency\(second\): (?P<seconds>[\d.]+)",
        columns={
            "component": Value(const="checkpoint save latency"),
            "mean_s": Value(group="seconds", kind="float"),
        },
        note="The timer `save-checkpoint` says the same.",
    ),
    Pattern(
        name="parameters",
        table="facts",
        versions="BigScience since 2021",
        literals=("estimated model parameters: ",),
        regex=r"estimated model parameters: (?P<value>[\d.]+)\s*$",
        columns={"key": Value(const="params"), "value": Value(group="value", kind="float", scale=1e9)},
    ),
    known_line(
        "step_of_pipeline",
        (" iter time (s): ",),
        r"^steps: \d+ loss: .* iter time \(s\): [\d.]+ samples/sec: ",
        versions=_FORKS,
        note="DeepSpeed's pipeline engine repeats the step that the line after it tells of.",
    ),
    known_line(
        "git_info", ("Git info for Megatron:",), r"\*{4} Git info for Megatron: git_hash=", versions=_FORKS
    ),
    known_line(
        "energy",
        ("[Zeus] ",),
        r"^\[Zeus\] (?:Steps \d+-\d+: Energy=|Started monitoring|Stopped)",
        versions=_FORKS,
        note="What a monitor of energy says of steps that the lines around it tell of.",
    ),
    known_line(
        "deepspeed_enabled", ("DeepSpeed is enabled.",), r"^\s*DeepSpeed is enabled\.", versions=_FORKS
    ),
    known_line(
        "anchors_of_load",
        ("[before load checkpoint] datetime: ", "[after load checkpoint weights] datetime: "),
        r"\[(?:before load checkpoint|after load checkpoint weights)\] datetime: ",
        versions="Microsoft since 2023",
    ),
    known_line(
        "index_texts",
        (
            " > elasped time to ",
            "    reading ",
            "    creating ",
            " > dataset split:",
            "     document indices in [",
            " > loading ",
            "    loaded indexed file in ",
            "    total number of ",
            "    number of documents: ",
            " > WARNING: could not find index map files",
            " > only one epoch required",
            "Skipped iterations ",
            "Single data path provided for train, valid & test",
            "estimated model parameters without embeddings: ",
            "WARNING: WANDB writing requested but no legit",
            "No existing process group found, creating a new group named: ",
        ),
        r"^\s*> elasped time to |^\s+reading (?:sizes|pointers|document index)\.\.\.|^\s+creating (?:numpy"
        r"|memory) "
        r"|^\s*> dataset split:|^\s+document indices in \[\d|^\s*> loading \S+ mapping from "
        r"|^\s+loaded indexed file in "
        r"|^\s+total number of (?:samples|epochs): \d|^\s+number of documents: +\d"
        r"|^\s*> WARNING: could not find index"
        r"|^\s*> only one epoch required|^\s*Skipped iterations \d+ to \d+ due to "
        r"|^\s*Single data path provided for train, valid & test"
        r"|estimated model parameters without embeddings: \d"
        r"|^WARNING: WANDB writing requested but no legit"
        r"|^No existing process group found, creating a new group",
        versions=_FORKS,
    ),
)
