"""What programs that are built on Megatron-LM print in its words."""

from __future__ import annotations

from dataclasses import replace

from pipeline.formats.format import Pattern
from pipeline.formats.megatron import FORMAT as MEGATRON

#: Patterns of lines that all of them print as Megatron-LM does.
COMMON = (
    *("step", "initialized", "model_built", "data_built", "loop_end", "exit", "init_seconds", "compiled"),
    *("evaluation", "save_begin", "save_scheduled", "save_end", "save_end_local", "delete"),
    *("load_begin", "load_begin_local", "load_end", "load_none", "timer_minmax", "timer_max", "timer_blocks"),
    *("vocabulary", "parameters", "parameters_of_rank", "start_texts", "checkpoint_texts"),
    *("evaluation_texts", "memory", "library_loggers"),
)


def shared(names: tuple[str, ...], versions: str) -> tuple[Pattern, ...]:
    """Return patterns of Megatron-LM by their names, for the versions of another program."""
    known = {pattern.name: pattern for pattern in MEGATRON.patterns}
    return tuple(replace(known[name], versions=versions) for name in names)
