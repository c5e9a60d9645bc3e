"""MLCommons `:::MLLOG` lines: one JSON object behind a token, in whatever the benchmark prints besides."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._words import other_than
from pipeline.formats.format import Format, Pattern, Value, known_line

_NUMBER = r"-?\d[\d.eE+-]*"
_NO_NUMBER = r'(?:"[^"]*"|true|false|null|NaN|-?Infinity)'
#: Milliseconds between 2001 and 2033; lines written by hand carry `0` or `123`, which is no time.
_TIME = r'(?:.*?"time_ms":\s*(?:(?P<ms>1\d{12})|\d+)\s*,)?'


def _line(key: str, value: str = ".*?", metadata: str = "") -> str:
    """Return the expression of a whole line whose key, value and metadata match three expressions.

    The token is searched: task numbers, progress bars and other programs' unfinished lines stand before it.
    """
    rest = rf'\s*,\s*"metadata":\s*\{{{metadata}\}}\s*' if metadata else r"\s*(?:,.*)?"
    return rf':::MLLOG\s*\{{{_TIME}.*?"key":\s*"{key}"\s*,\s*"value":\s*{value}{rest}\}}'


def _pattern(
    name: str,
    regex: str,
    table: str = "",
    columns: Mapping[str, Value] | None = None,
    extras: Mapping[str, tuple[str, Value]] | None = None,
    note: str = "",
) -> Pattern:
    """Return a pattern of MLLOG lines. Every whole line has one, so that what none reads is torn."""
    stamp = {"ts": Value(group="ms", kind="stamp", stamp="epoch_ms")} if table else {}
    return Pattern(
        name=name,
        table=table,
        literals=(":::MLLOG",),
        unique=True,
        regex=regex,
        columns=stamp | dict(columns or {}),
        extras=extras or {},
        versions="rounds 1.0 to 6.0",
        note=note,
    )


def _phase(name: str, phase: str, note: str = "", **extras: tuple[str, Value]) -> Pattern:
    """Return the pattern of the ``start`` and ``stop`` lines of what upstream calls ``name``."""
    edge = Value(group="edge", mapping={"start": "begin", "stop": "end"})
    columns = {"phase": Value(const=phase), "edge": edge}
    return _pattern(name, _line(rf"{name}_(?P<edge>start|stop)"), "phases", columns, extras, note)


_TEXT, _INT, _FLOAT = Value(group="v"), Value(group="v", kind="int"), Value(group="v", kind="float")
_SAMPLES = rf'"(?:samples_count|first_epoch_num|epoch_num)":\s*(?P<v>{_NUMBER})', _TEXT

PHASES = (
    _phase("init", "init", "One start a rank: the first counts. Compilation and warm-up are inside."),
    _phase("run", "loop", "The detail is the status.", detail=(r'"status":\s*"(?P<v>[^"]*)"', _TEXT)),
    _phase(
        "block",
        "block",
        "A stretch of training between evaluations. The detail counts samples; some submissions repeat the "
        "count of the start at the stop.",
        detail=_SAMPLES,
        step=(r'"samples_count":.*"step":\s*(?P<v>\d+)', _INT),
    ),
    _phase("epoch", "block", "The detail counts epochs, or samples.", detail=_SAMPLES),
    _phase("eval", "eval", "The detail counts samples.", detail=_SAMPLES),
    _pattern(
        "eval_result",
        _line("eval_accuracy", rf"(?:(?P<result>{_NUMBER})|{_NO_NUMBER})"),
        "phases",
        {"phase": Value(const="eval"), "edge": Value(const="end"), "detail": Value(group="result")},
        note="A loss, for language models. Some submissions print it alone, without start and stop.",
    ),
    _pattern(
        "warmup",
        _line("tracked_stats", rf'\{{\s*"warmup_time":\s*(?P<seconds>{_NUMBER})\s*\}}'),
        "phases",
        {
            "phase": Value(const="warmup"),
            "edge": Value(const="end"),
            "duration_s": Value(group="seconds", kind="float"),
        },
    ),
)

#: Statistics of training, by the first name in them: `tracked_stats` is free, and each vendor has others.
_TRAINING = ("train_step_time", "train_step_timing", "reduced_train_loss", "train_loss")
_STATS = rf'\{{\s*"(?:{"|".join(_TRAINING)})"[^}}]*\}}'
_STATS_OR_LOSS = rf"(?:{_STATS}|(?P<loss>{_NUMBER}))"
_STATS_KEY, _LOSS_KEY = "tracked_stats", r"train_loss\s*"


def _entries(count: str, *others: str) -> str:
    """Return the expression of metadata with one entry ``count`` and none called like ``others``."""
    other = rf'\s*"{other_than(others)}":\s*(?:"[^"]*"|[^,"{{}}]+)'
    one = rf'\s*"{count}":\s*(?P<count>{_NUMBER})\s*'
    return rf"(?:{other},)*{one}(?:,{other})*\s*" if count else rf"(?:{other}(?:,{other})*)?\s*"


_BOTH = r'[^}]*"(?:step":[^}]*"samples_count|samples_count":[^}]*"step)":[^}]*'
_ONE = _entries("(?:step|samples_count)", "step", "samples_count")

_COLUMNS = {"ts_edge": Value(const="end"), "loss": Value(group="loss", kind="float")}
_EXTRAS = {
    "step_time_s": (rf'"train_step_tim(?:e|ing)":\s*(?P<v>{_NUMBER})', _FLOAT),
    "loss": (rf'"(?:reduced_)?train_loss":\s*(?P<v>{_NUMBER})', _FLOAT),
}

STEPS = (
    _pattern(
        "step",
        _line(rf"(?:{_STATS_KEY}|{_LOSS_KEY})", _STATS_OR_LOSS, _BOTH),
        "steps",
        _COLUMNS,
        {
            "step_last": (rf'"step":\s*(?P<v>{_NUMBER})', _INT),
            "consumed_samples": (rf'"samples_count":\s*(?P<v>{_NUMBER})', _INT),
            **_EXTRAS,
        },
        note="Since round 5.1. Some submissions count steps from 0, others from 1: as printed.",
    ),
    _pattern(
        "samples",
        _line(_STATS_KEY, _STATS, _entries("step", "step", "samples_count")),
        "steps",
        {"consumed_samples": Value(group="count", kind="int"), "ts_edge": Value(const="end")},
        _EXTRAS,
        note="Without a count of samples beside it, `step` counts samples, or tokens in GPT-3 of round 3.1: "
        "no step is told.",
    ),
    _pattern(
        "train_loss",
        _line(_LOSS_KEY, rf"(?P<loss>{_NUMBER})", _ONE),
        "steps",
        {"consumed_samples": Value(group="count", kind="int"), **_COLUMNS},
    ),
)

_KEYS: Mapping[str, str] = {
    "global_batch_size": "global_batch_size",
    "micro_batch_size": "micro_batch_size",
    "gradient_accumulation_steps": "gradient_accumulation_steps",
    "max_sequence_length": "seq_length",
    "max_steps": "train_iters",
    "train_samples": "train_samples",
    "init_checkpoint_step": "init_checkpoint_step",
    "tensor_parallelism": "tensor_parallel",
    "pipeline_parallelism": "pipeline_parallel",
    "context_parallelism": "context_parallel",
    "expert_parallelism": "expert_parallel",
    "hidden_size": "hidden_size",
    "ffn_hidden_size": "ffn_hidden_size",
    "num_layers": "num_layers",
    "num_heads": "num_attention_heads",
    "submission_benchmark": "run_name",
    "submission_org": "submission_org",
    "submission_division": "submission_division",
    "submission_status": "submission_status",
    "submission_platform": "submission_platform",
}
_SYSTEM: Mapping[str, str] = {
    "number_of_nodes": "nodes",
    "accelerators_per_node": "gpus_per_node",
    "accelerator_model_name": "gpu_model",
}

FACTS = (
    _pattern(
        "parameter",
        _line(rf"(?P<key>{'|'.join(_KEYS)})", rf'(?:"(?P<text>[^"]*)"|(?P<number>{_NUMBER})|{_NO_NUMBER})'),
        "facts",
        {"key": Value(group="key", mapping=_KEYS), "value": Value(group=("text", "number"))},
    ),
    Pattern(
        name="system",
        table="facts",
        literals=(":::SYSJSON",),
        regex=r":::SYSJSON\s*\{",
        each=rf'"(?P<key>{"|".join(_SYSTEM)})":\s*"(?P<value>[^"]+)"',
        columns={"key": Value(group="key", mapping=_SYSTEM), "value": Value(group="value")},
        versions="rounds 2.0 to 6.0",
    ),
)

#: Keys of which every line, whatever its value, is read above.
_HANDLED = tuple(
    f"{name}_{edge}" for name in ("init", "run", "block", "epoch", "eval") for edge in ("start", "stop")
)

KNOWN = (
    _pattern(
        "other",
        _line(other_than((*_HANDLED, *_KEYS, "eval_accuracy", "tracked_stats", "train_loss", "train_loss "))),
        note="Seeds, optimizers, caches: one line a rank or node for some of them.",
    ),
    _pattern(
        "other_stats",
        _line("tracked_stats", rf'\{{\s*"{other_than((*_TRAINING, "warmup_time"))}":[^}}]*\}}'),
        note="Times of validation and of the start, and the throughput of a block: in samples or in tokens, "
        "with the count of its start or of its end.",
    ),
    _pattern(
        "block_stats",
        _line(_STATS_KEY, _STATS, _entries("", "step")),
        note="Means over a block: a count of samples, where there is one, is that of the block.",
    ),
    known_line(
        "evaluation_result",
        ("'eval_loss': ",),
        r"^\{'global_steps': \d+, 'eval_loss': ",
        versions="rounds 0.7 to 2.1",
        note="Of BERT: the MLLOG line beside it has the time.",
    ),
    known_line(
        "run_script",
        ("ING TIMING RUN AT ", "RESULT,"),
        r"^(?:(?:START|END)ING TIMING RUN AT \d|RESULT,\w+,\d*,\d+,)",
        versions="rounds 0.6 to 6.0",
        note="What the script around the training prints, in local time, with the seconds between both.",
    ),
    _pattern("loss_without_step", _line(_LOSS_KEY, _NUMBER, _entries("", "step", "samples_count"))),
)

FORMAT = Format(
    name="mlperf",
    title="MLCommons training benchmarks, MLLOG lines",
    link="https://github.com/mlcommons/logging/blob/master/mlperf_logging/mllog/mllog.py",
    role="trainer",
    patterns=(*PHASES, *STEPS, *FACTS, *KNOWN),
    step_time="Where a vendor prints one, it is the time of one step, in seconds, with what the vendor "
    "counts in. Evaluations lie between blocks and are outside. The benchmark saves nothing.",
    step_time_excludes_stalls=True,
    degrees=("nodes", "gpus_per_node"),
    deciding=("init", "run", "block", "eval", "step", "samples", "parameter"),
    versions="rounds 1.0 to 6.0",
)
