"""Megatron-DeepSpeed: BigScience's fork, Microsoft's, and those that came of them.

Start, checkpoints, evaluations and timers are printed as by Megatron-LM; lines of DeepSpeed around them are
in `deepspeed_library`. What differs is the step line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pipeline.formats._megatron_checkpoints import CHECKPOINTS
from pipeline.formats._megatron_deepspeed_own import OWN
from pipeline.formats._megatron_deepspeed_steps import STEPS
from pipeline.formats._megatron_facts import FACTS
from pipeline.formats._megatron_known import KNOWN
from pipeline.formats._megatron_phases import PHASES
from pipeline.formats._megatron_timers import TIMERS
from pipeline.formats.format import Format, Pattern

_FORKS = "BigScience 2021 to 2023, Microsoft 2022 to 2025"

#: What the forks kept of Megatron-LM 1.1 to 23.04.
_KEPT = {
    *("save_begin", "save_end", "load_begin", "load_end", "load_none"),
    *("initialized", "model_built", "data_built", "loop_begin", "loop_end", "exit", "init_seconds"),
    *("compiled", "evaluation", "timer_minmax", "timer_max", "timers_v1", "timer_blocks"),
    *("arguments", "world_size", "dtype", "vocabulary", "parameters_of_rank"),
    *("arguments_rule", "start_texts", "checkpoint_texts", "evaluation_texts", "memory"),
}


def _kept(patterns: Iterable[Pattern]) -> Iterable[Pattern]:
    """Return the patterns of Megatron-LM that the forks print too."""
    return (replace(pattern, versions=_FORKS) for pattern in patterns if pattern.name in _KEPT)


FORMAT = Format(
    name="megatron_deepspeed",
    title="Megatron-DeepSpeed, console (BigScience, Microsoft and later forks)",
    link="https://github.com/deepspeedai/Megatron-DeepSpeed/blob/main/megatron/training.py",
    role="trainer",
    patterns=(
        *STEPS,
        *_kept(PHASES),
        *_kept(CHECKPOINTS),
        *_kept(TIMERS),
        *_kept(FACTS),
        *_kept(KNOWN),
        *OWN,
    ),
    step_time="The printed time is a mean: all time since the line before, divided by its steps. Waiting for "
    "data, evaluations and saves are inside it; nothing ever stops its timer.",
    flops_recomputed=True,
    step_time_excludes_stalls=False,
    deciding=("step", "step_seconds", "step_assigned", "git_info", "deepspeed_enabled"),
    # GPT-NeoX comes of the same code, and prints what set its arguments. A fence: somebody quotes a log.
    foreign=("approx flops per GPU: ", "....updated", "....default", "```"),
    versions=_FORKS,
    step_time_runs_on=True,
)
