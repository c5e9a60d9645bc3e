"""nanotron: the header of its logger, what its start reveals, and lines that carry nothing."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value, known_line

_ALL = "0.4 to 2026-04"

#: Level, category, coordinates of the rank and node. Since 2025-04 the date has no year, and dimensions of
#: one rank are left out.
HEAD = (
    r"(?P<ts>\d\d/\d\d(?:/\d{4})? \d\d:\d\d:\d\d) \[[A-Z]+(?:\|[A-Za-z_]+|\|[A-Z]+=\d+)*"
    r"(?:\|(?P<host>[A-Za-z][\w.-]*\d[\w.-]*))?\]: "
)


def told(**columns: Value) -> Mapping[str, Value]:
    """Return the columns of a line, its time and the host that printed it with them."""
    return {"ts": Value(group="ts", kind="stamp", stamp="us"), "host": Value(group="host"), **columns}


_START: Mapping[str, str] = {
    "mbs": "micro_batch_size",
    "grad_accum": "gradient_accumulation_steps",
    "cp": "context_parallel",
    "sequence_length": "seq_length",
    "global_batch_size": "global_batch_size",
    "train_steps": "train_iters",
}
_PARALLEL: Mapping[str, str] = {
    "dp": "data_parallel",
    "pp": "pipeline_parallel",
    "tp": "tensor_parallel",
    "expert_parallel_size": "expert_parallel",
    "context_parallel_size": "context_parallel",
    "checkpoint_interval": "save_interval",
    "iteration_step_info_interval": "log_interval",
    "hidden_size": "hidden_size",
    "intermediate_size": "ffn_hidden_size",
    "num_attention_heads": "num_attention_heads",
    "num_hidden_layers": "num_layers",
    "num_key_value_heads": "num_query_groups",
    "vocab_size": "vocab_size",
    "hidden_act": "activation",
    "tie_word_embeddings": "tied_embeddings",
    "num_experts": "num_experts",
    "num_local_experts": "num_experts",
    "top_k": "moe_router_topk",
    "num_experts_per_tok": "moe_router_topk",
}

FACTS = (
    Pattern(
        name="start",
        table="facts",
        versions="0.5 to 2026-04",
        literals=(" | start_iteration_step: ",),
        regex=HEAD + r"mbs: .* \| start_iteration_step: \d+ \| ",
        each=rf"(?P<key>{'|'.join(_START)}): (?P<value>\d+) \|",
        columns=told(key=Value(group="key", mapping=_START), value=Value(group="value")),
        note="Exact numbers; `start_iteration_step` is the restored step.",
    ),
    Pattern(
        name="configuration",
        table="facts",
        versions=_ALL,
        literals=(
            "ParallelismArgs(dp=",
            " pp=",
            " tp=",
            "_parallel_size=",
            "checkpoint_interval=",
            "iteration_step_info_interval=",
            " hidden_size=",
            "intermediate_size=",
            "num_attention_heads=",
            "num_hidden_layers=",
            "num_key_value_heads=",
            "vocab_size=",
            "hidden_act=",
            "tie_word_embeddings=",
            "_experts=",
            "num_experts_per_tok=",
            " top_k=",
        ),
        regex=r"^(?:Config\(|\w+Config\()?\s*(?:[\w.]+=\w+\()?(?P<key>"
        + "|".join(_PARALLEL)
        + r")='?(?P<value>\d+|True|False|[a-z]\w*)'?[,)]+$",
        columns={"key": Value(group="key", mapping=_PARALLEL), "value": Value(group="value")},
        note="The configuration is printed over many lines.",
    ),
    Pattern(
        name="params",
        table="facts",
        versions=_ALL,
        literals=("Total number of parameters: ",),
        regex=HEAD + r"Total number of parameters: (?P<value>[\d.]+[KMGBTPE]?) \([\d.]+MiB\)",
        columns=told(key=Value(const="params"), value=Value(group="value")),
        note="Three digits.",
    ),
)

KNOWN = (
    known_line("separator", ("]: ====",), HEAD + r"=+$", "0.5 to 2026-04"),
    known_line(
        "setup_texts",
        (
            "Model Config:",
            "Parsing config: ",
            "Local number of parameters: ",
            "Loading checkpoint from ",
            "No previous checkpoint found in: ",
            "Initialized wandb run ",
            "Using TokenizedBytes Dataloader",
            "[TokenizedBytes] ",
            "Using `datasets` library",
            "Loading tokenizer from ",
            "Training plan",
            "Starting new stage ",
            "Current stage: ",
            "[Training Plan] ",
            "[Optimizer Building] ",
            "Optim_name: ",
            "Sanity checks are enabled",
            "TrainingMetadata(",
            "Throughput logging complete",
        ),
        HEAD + r"(?:Model Config:|Parsing config: |Local number of parameters: |Loading checkpoint from "
        r"|No previous checkpoint found in: |Initialized wandb run |Using TokenizedBytes Dataloader"
        r"|\[TokenizedBytes\] |Using `datasets` library|Loading tokenizer from |Training plan|Starting new "
        r"stage |Current stage: |\[Training Plan\] |\[Optimizer Building\] |Optim_name: |Sanity checks are "
        r"enabled|TrainingMetadata\(|Throughput logging complete)",
        _ALL,
    ),
)

SETUP = (*FACTS, *KNOWN)
