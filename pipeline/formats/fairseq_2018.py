"""fairseq up to 0.8, which printed without a header, and NVIDIA's Transformer, which is built on it."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "0.3 to 0.8, NVIDIA DeepLearningExamples"
_NUMBER = Value(group="v", kind="float")
_STEP = Value(group="step", kind="int")
_SECONDS = Value(group="seconds", kind="float")
_UPDATES = r"\(epoch \d+ @ (?P<step>\d+) updates"
_CONFIGURATION: Mapping[str, str] = {
    "log_interval": "log_interval",
    "max_update": "train_iters",
    "save_interval_updates": "save_interval",
    "tokens_per_sample": "seq_length",
    "decoder_layers": "num_layers",
    "decoder_embed_dim": "hidden_size",
    "decoder_ffn_embed_dim": "ffn_hidden_size",
    "decoder_attention_heads": "num_attention_heads",
}


def _metric(name: str, gap: str = "=") -> tuple[str, Value]:
    """Return how one metric of a step line is found."""
    return rf"[ ,|]{name}{gap}(?P<v>[\w.+-]+)", _NUMBER


STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions="0.3 to 0.8",
        literals=(" num_updates=",),
        regex=r"^\| epoch \d+:?\s+\d+ / \d+ .*\bnum_updates=(?P<step>\d+)",
        columns={"step_last": _STEP, "ts_edge": Value(const="end")},
        extras={
            "loss": _metric("loss"),
            "grad_norm": _metric("gnorm"),
            "tokens_per_s": _metric("wps"),
            "batch_size": _metric("bsz"),
            "elapsed_s": _metric("wall"),
        },
    ),
    Pattern(
        name="step_nvidia",
        table="steps",
        versions="NVIDIA DeepLearningExamples",
        literals=(" |avg loss ",),
        unique=True,
        regex=r"^\w+ \| epoch \d+ \| step (?P<step>\d+) \|avg loss (?P<loss>\S+) \|avg tokens \S+ "
        r"\|tokens/s (?P<rate>\S+) \|walltime (?P<wall>[\d.]+) \|",
        columns={
            "step_last": _STEP,
            "ts_edge": Value(const="end"),
            "loss": Value(group="loss", kind="float"),
            "tokens_per_s": Value(group="rate", kind="float"),
            "elapsed_s": Value(group="wall", kind="float"),
        },
        note="The wall time begins some seconds before the loop, with the log.",
    ),
    known_line(
        "summary_nvidia",
        (" |avg loss ",),
        r"^\w+ \| epoch \d+ \| step \(\) \|avg loss ",
        "NVIDIA DeepLearningExamples",
        "Of the whole run.",
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="0.6 to 0.8",
        literals=("| saved checkpoint ",),
        regex=rf"^\| saved checkpoint (?P<path>\S+) {_UPDATES}\) \(writing took (?P<seconds>[\d.]+) seconds",
        columns={
            "op": Value(const="save"),
            "edge": Value(const="end"),
            "step": _STEP,
            "path": Value(group="path"),
            "blocking_s": _SECONDS,
            "ok": Value(const=True),
        },
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_ALL,
        literals=("| loaded checkpoint ",),
        regex=rf"^\| loaded checkpoint (?P<path>\S+) {_UPDATES}\)",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="end"),
            "step": _STEP,
            "path": Value(group="path"),
            "ok": Value(const=True),
        },
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_ALL,
        literals=("| no existing checkpoint found ",),
        regex=r"^\| no existing checkpoint found ",
        columns={"op": Value(const="load"), "edge": Value(const="none")},
    ),
)

EVENTS = (
    Pattern(
        name="rendezvous",
        table="phases",
        versions=_ALL,
        literals=("| distributed init (rank ",),
        regex=r"\| distributed init \(rank (?P<rank>\d+)\)",
        columns={
            "phase": Value(const="init"),
            "edge": Value(const="begin"),
            "rank": Value(group="rank", kind="int"),
        },
    ),
    Pattern(
        name="initialized",
        table="phases",
        versions=_ALL,
        literals=("| initialized host ", "| distributed init done!"),
        regex=r"^\| (?:initialized host (?P<host>\S+) as rank (?P<rank>\d+)|distributed init done!)",
        columns={
            "phase": Value(const="init"),
            "edge": Value(const="end"),
            "host": Value(group="host"),
            "rank": Value(group="rank", kind="int"),
        },
    ),
    Pattern(
        name="model_built",
        table="phases",
        versions=_ALL,
        literals=(", criterion ",),
        regex=r"^\| model (?P<detail>\S+), criterion \w+",
        columns={
            "phase": Value(const="model_setup"),
            "edge": Value(const="point"),
            "detail": Value(group="detail"),
        },
    ),
    Pattern(
        name="valid",
        table="phases",
        versions=_ALL,
        literals=("| valid on '", "Validation loss on subset "),
        regex=r"^(?:\| epoch \d+ \| valid on '(?P<subset>[^']+)' subset \|.*\bnum_updates (?P<step>\d+)"
        r"|Validation loss on subset (?P<name>[\w.-]+): )",
        columns={
            "phase": Value(const="eval"),
            "edge": Value(const="point"),
            "step": _STEP,
            "detail": Value(group=("subset", "name")),
        },
    ),
    Pattern(
        name="evaluate",
        table="timers",
        versions="NVIDIA DeepLearningExamples",
        literals=("| Eval completed in: ",),
        regex=r"^\| Eval completed in: (?P<seconds>[\d.]+)s",
        columns={"component": Value(const="evaluate"), "max_s": _SECONDS},
        note="Translation of the test set.",
    ),
    Pattern(
        name="done",
        table="phases",
        versions=_ALL,
        literals=("| done training in ",),
        regex=r"^\| (?P<detail>done training in [\d.]+ seconds)",
        columns={
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(group="detail"),
        },
    ),
)

FACTS = (
    Pattern(
        name="devices",
        table="facts",
        versions=_ALL,
        literals=("| training on ",),
        regex=r"^\| training on (?P<value>\d+) GPUs",
        columns={"key": Value(const="world_size"), "value": Value(group="value")},
    ),
    Pattern(
        name="params",
        table="facts",
        versions=_ALL,
        literals=("| num. model params: ",),
        regex=r"^\| num\. model params: (?P<value>\d+)",
        columns={"key": Value(const="params"), "value": Value(group="value")},
    ),
    Pattern(
        name="arguments",
        table="facts",
        versions=_ALL,
        literals=("Namespace(",),
        regex=r"^Namespace\(.*\bmax_sentences=",
        each=rf"\b(?P<key>{'|'.join(_CONFIGURATION)})=(?P<value>\d+)",
        columns={"key": Value(group="key", mapping=_CONFIGURATION), "value": Value(group="value")},
    ),
)

KNOWN = (
    known_line(
        "epoch",
        ("| epoch ",),
        r"^\| epoch \d+ \| (?:train )?loss .*\bnum_updates \d+",
        "0.3 to 0.8",
        "Means over an epoch, behind its last step line and its evaluation.",
    ),
    known_line(
        "texts",
        (
            "| [",
            " examples",
            "| Sentences are being padded to multiples of: ",
            "| max tokens per GPU = ",
            "| WARNING: ",
            "| NOTICE: ",
            "| loading train data for epoch ",
            "| distributed env init. ",
            "| Translated ",
            "NaN or Inf found in input tensor.",
            "Epoch time: ",
        ),
        r"^(?:\| (?:\[\w+\] dictionary: \d|\S+ \S+ [\d,]+ examples|Sentences are being padded to multiples "
        r"of: |max tokens per GPU = |WARNING: |NOTICE: |loading train data for epoch |distributed env "
        r"init\. |Translated )|NaN or Inf found in input tensor\.|Epoch time: )",
        _ALL,
        "A warning about an overflow tells of an update that is skipped and not counted.",
    ),
)

FORMAT = Format(
    name="fairseq_2018",
    title="fairseq up to 0.8, and NVIDIA's Transformer",
    link="https://github.com/facebookresearch/fairseq/blob/v0.8.0/train.py",
    role="trainer",
    patterns=(*STEPS, *CHECKPOINTS, *EVENTS, *FACTS, *KNOWN),
    step_time="No step time is printed, and no date. The wall time counts from the start of the process, "
    "with evaluations and saves inside. Words per second are a mean since the start of the epoch, at "
    "NVIDIA's since the line before.",
    step_time_excludes_stalls=False,
    deciding=("step", "step_nvidia", "save_end"),
    unrendered="It prints no time of day, and stories are told of newer releases.",
    versions="0.3 to 0.8, NVIDIA DeepLearningExamples",
    world_size_late=True,
)
