"""verl, console: what the driver of a reinforcement-learning run prints, mostly without a time."""

from __future__ import annotations

from pipeline.formats._verl_known import FACTS, KNOWN
from pipeline.formats.format import Format, Pattern, Value

_NUMBER = r"(?:np\.\w+\()?(?P<v>-?[\d.]+(?:[eE][+-]?\d+)?)"
_FLOAT, _INT = Value(kind="float"), Value(kind="int")
_STEP = Value(group="step", kind="int")
_ALL = "0.2 to 0.7"
#: The driver times validation and save inside of the step up to 0.5 and behind it since 0.6, and puts into
#: the line first what ended first: what stands before the time of the step is a part of it.
_TIMED = r" - timing_s/{}:(?:np\.\w+\()?(?P<{}>\d[\d.]*(?:e[+-]?\d+)?)"
_STEP_TIME = (
    rf"(?:.*{_TIMED.format('testing', 'testing')})?(?:.*{_TIMED.format('save_checkpoint', 'saving')})?"
    rf".*{_TIMED.format('step', 'whole')}"
)
_RAY = r"^(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\s+[A-Z]+ \w+\.py:\d+ -- "


def _key(name: str) -> str:
    """Return the expression of the value of one metric of a step line."""
    return rf" - {name}:{_NUMBER}"


def _phase(name: str, literal: str, regex: str, phase: str, edge: str, **more: Value) -> Pattern:
    """Return the pattern of a line that tells of a phase."""
    columns = {"phase": Value(const=phase), "edge": Value(const=edge), **more}
    return Pattern(name, "phases", columns, (literal,), regex, versions=_ALL)


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=_ALL,
        literals=(" - timing_s/",),
        unique=True,
        regex=rf"^step:(?P<step>\d+){_STEP_TIME}",
        columns={
            "step_last": _STEP,
            "step_time_s": Value("whole", "float", less=("testing", "saving")),
            "ts_edge": Value(const="end"),
        },
        extras={
            "tokens": (_key("perf/total_num_tokens"), _INT),
            "tokens_per_s_per_gpu": (_key("perf/throughput"), _FLOAT),
            "loss": (_key("actor/pg_loss"), _FLOAT),
            "grad_norm": (_key("actor/grad_norm"), _FLOAT),
        },
        note="The step time is net of validation and save in all versions. Tokens are those of prompts and "
        "answers. `perf/mfu/actor` is of the update alone: not read.",
    ),
    Pattern(
        name="timing",
        table="timers",
        beside=True,
        versions=_ALL,
        literals=(" - timing_s/",),
        regex=r"^step:(?P<step>\d+) - .*\btiming_s/step:",
        each=r" - (?P<component>timing_s/\w+):(?:np\.float64\()?(?P<seconds>\d[\d.]*(?:e[+-]?\d+)?)",
        columns={
            "step": _STEP,
            "component": Value(
                "component",
                mapping={"timing_s/save_checkpoint": "save-checkpoint", "timing_s/testing": "evaluate"},
            ),
            "mean_s": Value("seconds", "float"),
        },
        note="The phases of the step that the same line tells of, and the step itself.",
    ),
    Pattern(
        name="validation",
        table="phases",
        versions=_ALL,
        literals=(" - val-", " - val/", "step:"),
        regex=r"^step:(?P<step>\d+) - val[-/]\S*:-?[\d.enp(]+\S*(?: - val[-/][^:]*:\S+)*\s*$",
        columns={"phase": Value(const="eval"), "edge": Value(const="end"), "step": _STEP},
        note="The validation before the first step, or after the last one.",
    ),
)

PHASES = (
    _phase(
        "process_start",
        "TaskRunner hostname: ",
        r"^TaskRunner hostname: (?P<detail>\S+), PID: \d+",
        "process_start",
        "point",
        host=Value(group="detail"),
    ),
    _phase("config", "{'actor_rollout_ref': ", r"^\{'actor_rollout_ref': ", "process_start", "point"),
    _phase("data", "Size of train dataloader: ", r"^Size of train dataloader: \d+", "data_setup", "end"),
    _phase("eval_begin", "test_gen_batch meta info: ", r"^test_gen_batch meta info: ", "eval", "begin"),
    _phase("eval_end", "validation generation end", r"^validation generation end", "eval", "end"),
    _phase(
        "eval_initial", "Initial validation metrics: ", r"^[(\"']*Initial validation metrics: ", "eval", "end"
    ),
    _phase(
        "loop_begin",
        "Training Progress: ",
        r"^Training Progress:\s+\d+%\|.*\| (?P<step>\d+)/\d+ \[00:00<\?",
        "loop",
        "begin",
    ),
    # Lines of others that carry a time, where the driver's own have none.
    _phase(
        "ray_start",
        " Ray ",
        _RAY + r"(?:Started a local Ray instance|Connecting to existing Ray cluster)",
        "process_start",
        "point",
        ts=Value(group="ts", kind="stamp", stamp="iso"),
    ),
    _phase(
        "ray",
        " -- ",
        _RAY + r"(?P<detail>[ABD-RT-Z]|Connected)",
        "custom",
        "point",
        ts=Value(group="ts", kind="stamp", stamp="iso"),
        detail=Value(const="ray"),
    ),
    _phase(
        "engine",
        ".py:",
        r"^(?:INFO|WARNING|ERROR|DEBUG) (?P<ts>\d\d-\d\d \d\d:\d\d:\d\d) (?:\[\S+ ?)?\S+\.py:\d+\] ",
        "custom",
        "point",
        ts=Value(group="ts", kind="stamp", stamp="glog"),
        detail=Value(const="vLLM"),
    ),
    _phase(
        "completed",
        "Final validation metrics: ",
        r"^[(\"']*Final validation metrics: ",
        "loop",
        "end",
        detail=Value(const="completed"),
    ),
    _phase(
        "preemption",
        "Force saving checkpoint: ESI",
        r"^Force saving checkpoint: ESI instance expiration approaching",
        "custom",
        "point",
        detail=Value(const="instance expires"),
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("local_global_step_folder: ", "Saving checkpoint to: "),
        # A fully asynchronous trainer puts its name before.
        regex=r"^(?:\[\w+\] )?(?:local_global_step_folder|Saving checkpoint to): "
        r"(?P<path>\S*global_step_(?P<step>\d+))",
        columns={
            "op": Value(const="save"),
            "edge": Value(const="begin"),
            "step": _STEP,
            "path": Value(group="path"),
        },
    ),
    Pattern(
        name="saved",
        table="checkpoints",
        beside=True,
        versions=_ALL,
        literals=(" - timing_s/save_checkpoint:",),
        regex=r"^step:(?P<step>\d+) - .*\btiming_s/save_checkpoint:",
        columns={"op": Value(const="save"), "edge": Value(const="blocked"), "step": _STEP},
        note="The line of a step comes after its save, with how long that took. Of Megatron-Core with "
        "`async_save` it may go on in the background; the printed configuration tells.",
    ),
    Pattern(
        name="load",
        table="checkpoints",
        versions=_ALL,
        literals=("Load from checkpoint folder: ",),
        regex=r"^Load from checkpoint folder: (?P<path>\S*global_step_(?P<step>\d+))",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="begin"),
            "step": _STEP,
            "path": Value(group="path"),
        },
    ),
    Pattern(
        name="load_step",
        table="checkpoints",
        versions=_ALL,
        literals=("Setting global step to ",),
        regex=r"^Setting global step to (?P<step>\d+)",
        columns={"op": Value(const="load"), "edge": Value(const="begin"), "step": _STEP},
    ),
    Pattern(
        name="from_scratch",
        table="checkpoints",
        versions=_ALL,
        literals=("Training from scratch",),
        regex=r"^Training from scratch\s*$",
        columns={"op": Value(const="load"), "edge": Value(const="none")},
    ),
)

FORMAT = Format(
    name="verl",
    title="verl, console",
    link="https://github.com/verl-project/verl/blob/main/verl/trainer/ppo/ray_trainer.py",
    role="trainer",
    patterns=(*STEPS, *PHASES, *CHECKPOINTS, *FACTS, *KNOWN),
    step_time="`timing_s/step`: the driver's wall time of one step of the algorithm, generation of answers, "
    "rewards and updates together. Up to 0.5 validation and save are inside, and taken off here; since 0.6 "
    "they are outside. The wait for the next prompts is outside.",
    blocked_is_end_of_sync=True,
    degrees=("nodes", "gpus_per_node"),
    deciding=("step", "process_start", "config"),
    versions=_ALL,
)
