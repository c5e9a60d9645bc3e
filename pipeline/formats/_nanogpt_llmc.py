"""llm.c: its console and its `main.log`, whose form early runs of modded-nanogpt have too."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value, known_line

_VERSIONS = "2024-05 to 2025-06"
_STEP = Value(group="step", kind="int")
_LOSS = Value(group="loss", kind="float")

#: Rows of the table that the console begins with.
_FACTS = {
    "num_layers L": "num_layers",
    "num_heads NH": "num_attention_heads",
    "channels C": "hidden_size",
    "max_sequence_length T": "seq_length",
    "padded_vocab_size Vp": "vocab_size",
    "num_parameters": "params",
    "num_processes": "world_size",
    "device": "gpu_model",
    "precision": "dtype",
    "train_num_batches": "train_iters",
}


def _fact(label: str, key: str) -> Pattern:
    """Return the pattern of a row of the table."""
    return Pattern(
        f"llmc_{key}",
        "facts",
        {"key": Value(const=key), "value": Value("value")},
        (f"| {label} ",),
        rf"^\| {label} +\| (?P<value>\S.*?) +\|\s*$",
        versions=_VERSIONS,
    )


LLMC = (
    Pattern(
        name="llmc_train",
        table="steps",
        versions=_VERSIONS,
        literals=(" trl:",),
        regex=r"^s:(?P<step>\d+) trl:(?P<loss>[\d.naif-]+)(?: lr:\S+ norm:(?P<norm>[\d.naif-]+))?\s*$",
        columns={
            "step_last": _STEP,
            "ts_edge": Value(const="end"),
            "loss": _LOSS,
            "grad_norm": Value(group="norm", kind="float"),
        },
        note="Of `main.log`. Counts from 0, without any time.",
    ),
    Pattern(
        name="llmc_eval",
        table="phases",
        versions=_VERSIONS,
        literals=(" tel:", " eval:"),
        regex=r"^s:(?P<step>\d+) (?:tel|eval):[\d.naif-]+\s*$",
        columns={"phase": Value(const="eval"), "edge": Value(const="end"), "step": _STEP},
    ),
    Pattern(
        name="llmc_step",
        table="steps",
        versions=_VERSIONS,
        literals=(" tok/s",),
        regex=r"^step +(?P<step>\d+)/(?P<target>\d+) \| (?:train )?loss (?P<loss>[\d.naif-]+)(?: \([^)]*\))?"
        r"\s*\| norm (?P<norm>[\d.naif-]+)(?: \([^)]*\))?\s*\| lr \S+ (?:\| |\()(?P<ms>[\d.]+) ms"
        r"(?: \| (?:-[\d.]+|(?P<mfu>[\d.]+))% \S+ MFU)?[ |,]+(?P<tps>\d+) tok/s",
        columns={
            "step_last": _STEP,
            "step_target": Value(group="target", kind="int"),
            "ts_edge": Value(const="end"),
            "step_time_s": Value(group="ms", kind="float", scale=1e-3),
            "loss": _LOSS,
            "grad_norm": Value(group="norm", kind="float"),
            "mfu": Value(group="mfu", kind="float", scale=1e-2),
            "tokens_per_s": Value(group="tps", kind="float"),
        },
        note="Of the console. Counts from 1.",
    ),
    Pattern(
        name="llmc_result",
        table="phases",
        versions=_VERSIONS,
        literals=("val loss ", "HellaSwag: "),
        regex=r"^(?:val loss [\d.naif-]+|HellaSwag: \d+/\d+ = [\d.]+)\s*$",
        columns={"phase": Value(const="eval"), "edge": Value(const="end")},
    ),
    Pattern(
        name="llmc_save",
        table="checkpoints",
        versions=_VERSIONS,
        literals=("Writing model to ",),
        regex=r"^Writing model to (?P<path>\S*model_(?P<step>\d+)\.bin)",
        columns={
            "op": Value(const="save"),
            "edge": Value(const="begin"),
            "step": _STEP,
            "path": Value(group="path"),
        },
    ),
    Pattern(
        name="llmc_end",
        table="phases",
        versions=_VERSIONS,
        literals=("total average iteration time: ",),
        regex=r"^total average iteration time: [\d.naif-]+ ms",
        columns={
            "phase": Value(const="loop"),
            "edge": Value(const="end"),
            "detail": Value(const="completed"),
        },
    ),
    *(_fact(label, key) for label, key in _FACTS.items()),
    known_line(
        "llmc_known",
        (
            "Writing state to ",
            "skipping update due to ",
            "allocated ",
            "grad_accum_steps",
            "total_batch_size=",
        ),
        r"^(?:Writing state to \S+|skipping update due to (?:loss|grad) z-score|allocated \d+ MiB for "
        r"|=> setting grad_accum_steps=\d+|batch_size B=\d+ \* seq_len T=\d+)",
        _VERSIONS,
    ),
)
