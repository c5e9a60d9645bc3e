"""Hugging Face Trainer: what it says that it trains with."""

from __future__ import annotations

from pipeline.formats._hf_trainer_head import HEAD, STAMP
from pipeline.formats.format import Pattern, Value

_ALL = "4.0 to 5.24"


def _fact(name: str, key: str, label: str, literal: str) -> Pattern:
    """Return the pattern of a line of the head that reveals a number."""
    return Pattern(
        name=name,
        table="facts",
        versions=_ALL,
        literals=(literal,),
        regex=HEAD + rf"{label} = (?P<value>[\d,]+)$",
        columns={"ts": STAMP, "key": Value(const=key), "value": Value("value")},
    )


_HEAD_FACTS = (
    _fact(
        "batch_per_device",
        "micro_batch_size",
        "Instantaneous batch size per device",
        "Instantaneous batch size per device = ",
    ),
    _fact(
        "batch",
        "global_batch_size",
        r"Total train batch size \(w\. parallel, distributed & accumulation\)",
        "Total train batch size (w. parallel, distributed & accumulation) = ",
    ),
    _fact(
        "accumulation",
        "gradient_accumulation_steps",
        "Gradient Accumulation steps",
        "Gradient Accumulation steps = ",
    ),
    _fact("total_steps", "train_iters", "Total optimization steps", "Total optimization steps = "),
    _fact("parameters", "params", "Number of trainable parameters", "Number of trainable parameters = "),
)

#: Nothing splits a model here: all ranks hold different data.
_RANKS = Pattern(
    name="deepspeed_ranks",
    table="facts",
    versions="with DeepSpeed 0.3",
    literals=("] data_parallel_size: ",),
    regex=r"_initialize_parameter_parallel_groups\] data_parallel_size: (?P<value>\d+), "
    "parameter_parallel_size",
    columns={"key": Value(const="world_size"), "value": Value("value")},
)

FACTS = (*_HEAD_FACTS, _RANKS)
