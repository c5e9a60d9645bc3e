"""PaddleNLP: the header of its logger, the printed arguments and what the start says of the run."""

from __future__ import annotations

from dataclasses import replace

from pipeline.formats._hf_trainer_facts import MODEL_CONFIG
from pipeline.formats._words import other_than
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "2.5 to 3.0, PaddleFormers 1.2"
#: `[2025-08-21 14:02:11,907] [    INFO] - `, local time.
HEAD = r"^\[(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] \[ *[A-Z]+\] - "
STAMP = Value(group="ts", kind="stamp", stamp="iso")

#: Arguments that are facts.
_ARGUMENTS = {
    "tensor_parallel_degree": "tensor_parallel",
    "pipeline_parallel_degree": "pipeline_parallel",
    "virtual_pp_degree": "virtual_stages",
    "sharding_parallel_degree": "sharding_parallel",
    "per_device_train_batch_size": "micro_batch_size",
    "max_seq_length": "seq_length",
    "max_seq_len": "seq_length",
    "logging_steps": "log_interval",
    "save_steps": "save_interval",
    "world_size": "world_size",
    "run_name": "run_name",
}
_OTHER = other_than(_ARGUMENTS).replace('[^"', r"[^\s:")

#: Lines after "Running training" that are facts.
_COUNTS = {
    "Total train batch size (w. parallel, distributed & accumulation)": "global_batch_size",
    "Total optimization steps": "train_iters",
    "Gradient Accumulation steps": "gradient_accumulation",
}


def _escaped(text: str) -> str:
    """Return an expression for a text."""
    return "".join(f"\\{letter}" if letter in "().&" else letter for letter in text)


def _fact(name: str, key: str, literal: str, regex: str) -> Pattern:
    """Return the pattern of a configuration value."""
    columns = {"ts": STAMP, "key": Value(const=key), "value": Value(group="value")}
    return Pattern(name, "facts", columns, (literal,), HEAD + regex, versions=_ALL)


SET_UP = (
    Pattern(
        name="arguments",
        table="phases",
        columns={
            "ts": STAMP,
            "phase": Value(const="process_start"),
            "edge": Value(const="point"),
            "detail": Value(group="detail"),
        },
        literals=(" Configuration Arguments",),
        regex=HEAD + r" *(?P<detail>\w+ Configuration Arguments) *$",
        versions=_ALL,
    ),
    *(
        _fact(f"argument_{name}", key, f"- {name} ", rf"{name} *: ?(?P<value>\S+)\s*$")
        for name, key in _ARGUMENTS.items()
    ),
    *(
        _fact(f"count_{key}", key, f"  {text} = ", rf" *{_escaped(text)} = (?P<value>[\d,]+)")
        for text, key in _COUNTS.items()
    ),
    _fact(
        "count_params",
        "params_trainable",
        "(all devices, roughly)",
        r" *Number of trainable parameters = (?P<value>[\d,]+) \(all devices, roughly\)",
    ),
    replace(MODEL_CONFIG, versions=_ALL),
    known_line("argument", (": ", " :"), HEAD + rf"(?:{_OTHER}) {{2,}}: ?\S*\s*$", _ALL),
    known_line("rule", ("=====",), HEAD + r"={60}\s*$", _ALL),
    known_line(
        "count",
        ("  Num ", "  Total ", "  Instantaneous ", "  Pre device ", "(per device)"),
        HEAD + r" *(?:Num (?:examples|Epochs)|Total (?:num train samples|prediction steps|Batch size)"
        r"|Instantaneous batch size per device|Pre device batch size|Number of trainable parameters = "
        r"[\d,]+ \(per device\))",
        _ALL,
    ),
)
