"""DeepSpeed: its launcher, what a process that starts says about itself, and its configuration."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._deepspeed_head import HEAD, place
from pipeline.formats.format import Pattern, Value, known_line

#: Values of the engine's configuration that a figure needs, and the key that they become.
_CONFIG: Mapping[str, str] = {
    "train_batch_size": "global_batch_size",
    "train_micro_batch_size_per_gpu": "micro_batch_size",
    "gradient_accumulation_steps": "gradient_accumulation_steps",
    "zero_optimization_stage": "zero_stage",
    "steps_per_print": "steps_per_print",
    "bfloat16_enabled": "bf16",
    "fp16_enabled": "fp16",
}
#: Files of which messages about the start come, and how those messages begin.
_START_FILES = ("real_accelerator", "comm", "distributed", "engine", "module", "utils", "stage[_1-3a-z]+")
_START_TEXTS = (
    *("Setting ds_accelerator", "cdb=", "Initializing TorchBackend", "Discovering MPI settings"),
    *("NCCL backend in DeepSpeed", "Not using the DeepSpeed or", "Using (?:client|DeepSpeed)"),
    *("Removing param_group", "DeepSpeed (?:using|Basic|Flops|LR)", "Partitioning pipeline", "Checking ZeRO"),
    *("(?:Before|After) ", "MA ", "CPU Virtual Memory: ", r"Stage \d ", "Reduce bucket", "Allgather bucket"),
    *("optimizer state", "CPU Offload", "Round robin", "Creating", "fp16 group", "Swappable", "In-Memory"),
    *("Largest partitioned", "begin bf16_optimizer", "end bf16_ ?optimizer"),
)


def _exit(name: str, literal: str, regex: str, versions: str, detail: Value, note: str = "") -> Pattern:
    """Return the pattern of a line that tells of the end of a process."""
    return Pattern(
        name=name,
        table="phases",
        versions=versions,
        literals=(literal,),
        regex=regex,
        columns={"phase": Value(const="exit"), "edge": Value(const="point"), "detail": detail},
        note=note,
    )


def _fact(name: str, literal: str, regex: str, key: str, note: str = "") -> Pattern:
    """Return the pattern of a line that reveals one value, in its group ``value``."""
    return Pattern(
        name=name,
        table="facts",
        versions="0.3 to 0.18",
        literals=(literal,),
        regex=regex,
        columns={"key": Value(const=key), "value": Value(group="value")},
        note=note,
    )


LAUNCH = (
    Pattern(
        name="process_start",
        table="phases",
        versions="0.3 to 0.18",
        literals=("Setting CUDA_VISIBLE_DEVICES=",),
        regex=rf"{place('launch')}Setting CUDA_VISIBLE_DEVICES=",
        columns={"phase": Value(const="process_start"), "edge": Value(const="point")},
        note="The launcher of one node starts its processes with its next act.",
    ),
    _fact(
        "launch_size", "dist_world_size=", rf"{place('launch')}dist_world_size=(?P<value>\d+)", "world_size"
    ),
    _fact("launch_nodes", "nnodes=", rf"{place('launch')}nnodes=(?P<value>\d+), num_local_procs=", "nodes"),
    _exit(
        "exit_code",
        " exits with return code = ",
        rf"{HEAD}.* (?P<detail>exits with return code = -?\d+)",
        "0.5 to 0.18",
        Value(group="detail"),
        note="The process that failed; the launcher then kills the others of its node.",
    ),
    _exit(
        "exit_done",
        " exits successfully.",
        rf"{place('launch')}Process \d+ exits successfully\.",
        "0.5 to 0.18",
        Value(const="success of a process"),
    ),
    _exit(
        "told_to_stop",
        "Main process received ",
        r"(?:^|\] )(?P<detail>Main process received SIG\w+), exiting",
        "0.3 to 0.18",
        Value(group="detail"),
    ),
    _exit(
        "closing_others",
        "] Killing subprocess ",
        rf"{place('launch')}Killing subprocess \d",
        "0.3 to 0.18",
        Value(const="closing_others"),
        note="The first thing that the launcher does about a failure: it says what failed when others have "
        "gone.",
    ),
    Pattern(
        name="elastic_restart",
        table="phases",
        versions="0.7 to 0.18",
        literals=("will restart worker group",),
        regex=r"deepspeed[./]elasticity[./]elastic_agent\S* .*?"
        r"(?P<what>(?:Worker group \w+\. \d+/\d+ attempts left|Detected \d+ new nodes from group_rank=\d+)"
        r"; will restart worker group)",
        columns={
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(group="what"),
        },
    ),
    known_line(
        "launcher",
        ("] [launch.py:", "] [runner.py:", "] [multinode_runner.py:", "Killing subprocess "),
        rf"{place('launch')}(?:WORLD INFO DICT: |global_rank_mapping=|process \d+ spawned with command: "
        r"|\d+ \w+=)"
        rf"|{place('runner', 'multinode_runner')}|^Killing subprocess \d+\s*$",
        versions="0.3 to 0.18",
    ),
)

START = (
    Pattern(
        name="compiled",
        table="phases",
        versions="0.3 to 0.18",
        literals=("Time to load ",),
        regex=r"^Time to load (?P<op>\w+) op: (?P<seconds>[\d.]+) seconds",
        columns={
            "phase": Value(const="compile"),
            "edge": Value(const="end"),
            "duration_s": Value(group="seconds", kind="float"),
            "detail": Value(group="op"),
        },
        note="Every process of a node says so, and waits for the one that compiles.",
    ),
    _fact(
        "engine_version",
        "DeepSpeed info: version=",
        r"DeepSpeed info: version=(?P<value>[^\s,]+)",
        "deepspeed_version",
    ),
    _fact(
        "report_version",
        "deepspeed info ....",
        r"^deepspeed info \.{4,} (?P<value>[^\s,]+)",
        "deepspeed_version",
    ),
    _fact(
        "parameters",
        " UNIQUE_PARAMS=",
        r"RANK=\d+ STAGE=.* UNIQUE_PARAMS=(?P<value>\d+)",
        "params",
        note="Of the whole model; what stages share counts once.",
    ),
    Pattern(
        name="engine_ready",
        table="phases",
        versions="0.3 to 0.18",
        literals=("DeepSpeedEngine configuration:",),
        regex=rf"{place('config')}DeepSpeedEngine configuration:",
        columns={"phase": Value(const="model_setup"), "edge": Value(const="end")},
        note="The last act of building an engine is to print its configuration; a load comes after it.",
    ),
    Pattern(
        name="engine_checks",
        table="phases",
        versions="0.14 to 0.18",
        literals=("**** BF16 gradient accumulation is not safe",),
        regex=rf"{place('engine')}\*{{4}} BF16 gradient accumulation is not safe",
        columns={"phase": Value(const="model_setup"), "edge": Value(const="point")},
        note="Each rank says so right before it creates the optimizer, where memory is often used up.",
    ),
    Pattern(
        name="configuration",
        table="facts",
        versions="0.3 to 0.18",
        literals=("[config.py:",),
        regex=rf"{place('config')}  \S",
        each=rf"\]   (?P<key>{'|'.join(_CONFIG)}) [. ]+(?P<value>[^\s.]\S*)\s*$",
        columns={"key": Value(group="key", mapping=_CONFIG), "value": Value(group="value")},
        note="Its `world_size` is the number of data-parallel ranks, and no fact.",
    ),
    Pattern(
        name="pipeline_configuration",
        table="facts",
        versions="0.3 to 0.18",
        literals=("CONFIG: micro_batches=",),
        regex=rf"{HEAD}CONFIG: micro_batches=",
        each=r" (?P<key>micro_batches|micro_batch_size)=(?P<value>\d+)",
        columns={
            "key": Value(group="key", mapping={"micro_batches": "gradient_accumulation_steps"}),
            "value": Value(group="value"),
        },
    ),
    known_line(
        "start_messages",
        ("] [INFO] [", "] [WARNING] ["),
        rf"{place(*_START_FILES)}(?:\[Rank -?\d+\] )?(?:{'|'.join(_START_TEXTS)})"
        rf"|{place('checkpointing', 'unfused_optimizer', 'fused_optimizer', 'bf16_optimizer')}"
        rf"|{HEAD}\[Rank -?\d+\] (?:DeepSpeed (?:Final|LR|Basic|Flops|using)|[Cc]reating |Removing |step=0, "
        r"|Using (?:DeepSpeed|client) )",
        versions="0.3 to 0.18",
    ),
)
