"""torchtitan, structured events: what all patterns of records share."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._words import other_than
from pipeline.formats.format import Derived, Pattern, Value

VERSIONS = "2026-05 to 2026-08"
STEP = Value(group="step", kind="int")
#: Spans tell their length in milliseconds, at their end.
LENGTH = Value(group="value", kind="float", scale=1e-3)
MESSAGE = Value(group="message")
#: The loop stands still for a batch; elsewhere data may be loaded beside the steps.
BLOCKING = Value(const="blocking")
COMMON: Mapping[str, Value] = {
    "ts": Value(group="time_us", kind="stamp", stamp="epoch_us"),
    "rank": Value(group=("global_rank", "rank"), kind="int"),
    "host": Value(group="host_name"),
}
#: Spans of which a pattern reads the start or the end; the others are timers or known.
STARTS = (
    *("torch_distributed_init", "model_parallelism_init", "checkpoint_load", "eval", "fetching_batch"),
    *("step", "torch_distributed_teardown", "training"),
)
TIMED = ("step", "fwd_bwd", "post_dataloading_process", "collect_dist_metrics")
ENDS = (
    *("torch_distributed_init", "model_parallelism_init", "checkpoint_load", "checkpoint_save", "eval"),
    *("fetching_batch", "optim", "gc_collect", "torch_distributed_teardown", *TIMED),
)
ERRORS = ("step", "fetching_batch", "checkpoint_save", "checkpoint_load")


def untagged(tag: str, name: str) -> Derived:
    """Return a field that is there where no tag of the step is ``tag``; a step without tags has no list."""
    other = other_than((tag,))
    return Derived(("step_tags", "log_type_name"), rf'^(?P<v>{name}|\["{other}"(?:,\s*"{other}")*\])$')


def record(
    name: str,
    types: tuple[str, ...],
    table: str = "",
    when: tuple[str, ...] = (),
    note: str = "",
    **columns: Value,
) -> Pattern:
    """Return the pattern of records of some types."""
    return Pattern(
        name=name,
        table=table,
        when=("time_us", *when),
        where={"log_type_name": types} if types else {},
        columns={**COMMON, **columns} if table else {},
        versions=VERSIONS,
        note=note,
    )


def phase(
    name: str,
    types: tuple[str, ...],
    phase: str,
    edge: str,
    when: tuple[str, ...] = (),
    note: str = "",
    **more: Value,
) -> Pattern:
    """Return the pattern of records that begin or end a phase."""
    columns = {"phase": Value(const=phase), "edge": Value(const=edge), **more}
    return record(name, types, "phases", when, note, **columns)


def checkpoint(
    name: str,
    types: tuple[str, ...],
    op: str,
    edge: str,
    when: tuple[str, ...] = (),
    note: str = "",
    **more: Value,
) -> Pattern:
    """Return the pattern of records that begin or end a save or a load."""
    columns = {"op": Value(const=op), "edge": Value(const=edge), **more}
    return record(name, types, "checkpoints", when, note, **columns)
