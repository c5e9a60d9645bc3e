"""torchtitan: what its start reveals of the configuration, and lines that are known and carry nothing."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._torchtitan_head import HEAD, STAMP
from pipeline.formats.format import Pattern, Value

_ALL = "2024-04 to 2026-08"
_VALUE = Value(group="value")


def _fact(key: str, value: Value = _VALUE) -> Mapping[str, Value]:
    """Return the columns of a line that reveals one value."""
    return {"ts": STAMP, "key": Value(const=key), "value": value}


_TRAINER: Mapping[str, str] = {
    "local batch size": "micro_batch_size",
    "global batch size": "global_batch_size",
    "gradient accumulation steps": "gradient_accumulation_steps",
    "sequence length": "seq_length",
    "maximum context length": "seq_length",
    "total steps": "train_iters",
    "tokens per train step": "tokens_per_step",
    "tokens per DP rank": "tokens_per_data_parallel_rank",
}
_MESH: Mapping[str, str] = {
    "pp": "pipeline_parallel",
    "dp_replicate": "data_parallel_replicate",
    "dp_shard": "data_parallel_shard",
    "cp": "context_parallel",
    "tp": "tensor_parallel",
    "ep": "expert_parallel",
}
#: Arguments of the models: their dense and their sparse ones.
_MODEL: Mapping[str, str] = {
    "dim": "hidden_size",
    "n_layers": "num_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_query_groups",
    "head_dim": "kv_channels",
    "hidden_dim": "ffn_hidden_size",
    "inter_dim": "ffn_hidden_size",
    "multiple_of": "ffn_multiple_of",
    "ffn_dim_multiplier": "ffn_dim_multiplier",
    "vocab_size": "vocab_size",
    "n_dense_layers": "num_dense_layers",
    "moe_inter_dim": "moe_ffn_hidden_size",
    "moe_enabled": "moe_enabled",
    "interleave_moe_layer_step": "moe_layer_interval",
    "every_n_layers_nope": "attention_variant",
    "fixed_attn_block_size": "attention_block",
    "num_experts": "num_experts",
    "num_shared_experts": "num_shared_experts",
    "use_shared_expert": "has_shared_expert",
    "auto_scale_hidden_dim": "scaled_experts",
    "top_k": "moe_router_topk",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_nope_head_dim": "qk_head_dim",
    "qk_rope_head_dim": "qk_pos_emb_head_dim",
    "v_head_dim": "v_head_dim",
    "enable_weight_tying": "tied_embeddings",
}
#: The same where they stand in one line, with the length of a sample, which is that of the training.
_ARGUMENTS: Mapping[str, str] = {**_MODEL, "max_seq_len": "seq_length"}
_CONFIGURATION: Mapping[str, str] = {"log_freq": "log_interval", "async_mode": "async_save"}

FACTS = (
    Pattern(
        name="device",
        table="facts",
        versions=_ALL,
        literals=(" capacity: ",),
        regex=HEAD + r"[A-Z]+ capacity: (?P<value>.+?)(?: \(\d+\))? with [\d.]+GiB memory",
        columns=_fact("gpu_model"),
    ),
    Pattern(
        name="peak",
        table="facts",
        versions="2024-10 to 2026-08",
        literals=(" - Peak FLOPS used for computing MFU: ",),
        regex=HEAD + r"Peak FLOPS used for computing MFU: (?P<value>[\d.e+]+)",
        columns=_fact("peak_flops_per_gpu"),
        note="A table by device name, wrong for B200 between 2025-05 and 2025-07 (twice the value).",
    ),
    Pattern(
        name="peak_fallback",
        table="facts",
        versions=_ALL,
        literals=(" - Peak flops undefined for",),
        regex=HEAD + r"Peak flops undefined for(?: TPU)?: (?P<value>.+), fallback to A100",
        columns=_fact("peak_flops_fallback"),
        note="The peak and the printed MFU are those of an A100: neither holds for this device.",
    ),
    Pattern(
        name="model_size",
        table="facts",
        versions=_ALL,
        literals=(" total parameters",),
        regex=HEAD + r"Model \S+ \S+ size: (?P<value>[\d,]+) total parameters",
        columns=_fact("params", Value(group="value", kind="int")),
        note="All parameters, also those of experts that a token does not pass.",
    ),
    Pattern(
        name="eight_bits",
        table="facts",
        versions="2024-05 to 2026-08",
        literals=(" - Float8 ",),
        regex=HEAD + r"(?P<value>Float8) (?:tensorwise scaled )?training active",
        columns=_fact("fp8"),
        note="Of the linear layers. The printed MFU is of the peak in 16 bits, or none is printed.",
    ),
    Pattern(
        name="model_json",
        table="facts",
        versions="0.2.2",
        literals=tuple(f'"{name}": ' for name in _MODEL),
        regex=rf"^\s+\"(?P<key>{'|'.join(_MODEL)})\": (?P<value>[\d.]+|true|false),?$",
        columns={"key": Value(group="key", mapping=_MODEL), "value": _VALUE},
        note="A JSON document over many lines.",
    ),
    Pattern(
        name="model_arguments",
        table="facts",
        beside=True,
        versions="2024-04 to 0.2.0",
        literals=(" - Building ",),
        regex=HEAD + r"Building \S+ \S+ with \w*Args\(",
        each=rf"[( ](?P<key>{'|'.join(_ARGUMENTS)})=(?P<value>\d[\d.e+]*|True|False)(?:[,)]|$)",
        columns={"ts": STAMP, "key": Value(group="key", mapping=_ARGUMENTS), "value": _VALUE},
        note="The arguments of the model in the line that says that it is built, as Python shows them; those "
        "of experts lie in their own brackets. `None` and what the tokenizer has yet to say are left out.",
    ),
    Pattern(
        name="mesh",
        table="facts",
        versions="0.2.2 to 2026-08",
        literals=(" - Building device mesh with parallelism: ",),
        regex=HEAD + r"Building device mesh with parallelism: ",
        each=rf"[ ](?P<key>{'|'.join(_MESH)})=(?P<value>\d+)",
        columns={"ts": STAMP, "key": Value(group="key", mapping=_MESH), "value": _VALUE},
        note="The product of all but the experts is the world size.",
    ),
    Pattern(
        name="mesh_shape",
        table="facts",
        versions="2024-04 to 0.2.0",
        literals=("-D device mesh with ",),
        regex=HEAD + r"Building \d-D device mesh with \[.*\], (?P<value>\[[\d, ]+\])",
        columns=_fact("device_mesh"),
        note="The product is the world size. A second mesh for experts has the same one.",
    ),
    Pattern(
        name="trainer",
        table="facts",
        versions="2025-04 to 2026-08",
        literals=(" - Trainer is initialized with ",),
        regex=HEAD + r"Trainer is initialized with ",
        each=r"(?P<key>local batch size|global batch size|gradient accumulation steps|sequence length"
        r"|maximum context length|total steps) (?P<value>\d+)"
        r"|(?P<count>\d+) (?P<unit>tokens per train step|tokens per DP rank)",
        columns={
            "ts": STAMP,
            "key": Value(group=("key", "unit"), mapping=_TRAINER),
            "value": Value(group=("value", "count")),
        },
    ),
    Pattern(
        name="timeout",
        table="facts",
        versions=_ALL,
        literals=(" - Synchronizing and adjusting timeout for all ProcessGroups to ",),
        regex=HEAD + r"Synchronizing and adjusting timeout for all ProcessGroups to (?P<value>\d+:\d\d:\d\d)",
        columns=_fact("nccl_timeout_s", Value(group="value", kind="seconds")),
        note="Printed right after the first step: from here on this time-out holds.",
    ),
    Pattern(
        name="save_path",
        table="facts",
        versions=_ALL,
        literals=(" - Checkpointing active. Checkpoints will be loaded from and saved to ",),
        regex=HEAD + r"Checkpointing active\. Checkpoints will be loaded from and saved to (?P<value>\S+)",
        columns=_fact("save_path"),
    ),
    Pattern(
        name="configuration",
        table="facts",
        versions="2025-01 to 2026-08",
        literals=(" - Running with args: ", " - Running with configs: ", '"log_freq": ', '"async_mode": '),
        regex=rf"{HEAD}Running with (?:args|configs): |^\s+\"(?:log_freq|async_mode)\": ",
        each=rf"['\"](?P<key>{'|'.join(_CONFIGURATION)})['\"]: ['\"]?(?P<value>\w+)",
        columns={"key": Value(group="key", mapping=_CONFIGURATION), "value": _VALUE},
        note="One line up to 0.2.0, a JSON document over many lines since.",
    ),
)

KNOWN = (
    Pattern(
        name="model_texts",
        table="",
        versions=_ALL,
        literals=(
            " - Successfully created meshes ",
            " - Applied ",
            " - Preparing ",
            " - Loading tokenizer from ",
            " - Mixed precision training is ",
            " - Using pipeline schedule ",
            " - Metrics logging active",
            " - TensorBoard logging enabled",
            " - WandB logging enabled",
            " - Profiling active",
            " - Memory profiler active",
        ),
        regex=HEAD + r"(?:Successfully created meshes |Applied .* to the model|Preparing \S+ dataset"
        r"|Loading tokenizer from |Mixed precision training is |Using pipeline schedule "
        r"|Metrics logging active|TensorBoard logging enabled|WandB logging enabled|Profiling active"
        r"|Memory profiler active)",
    ),
    Pattern(
        name="checkpoint_texts",
        table="",
        versions=_ALL,
        literals=(
            " checkpoint at last step, step ",
            " - Saving a ",
            " - Checkpointer waited staging ",
            " - Checkpointer sent staged state_dict to another process ",
            " doesn't save checkpoint",
            " - Staging ft checkpoint took ",
        ),
        regex=HEAD
        + r"(?:Saving a (?:full|model (?:weights )?only) checkpoint (?:in \S+ )?at (?:last step, )?step \d"
        r"|Checkpointer waited staging |Checkpointer sent staged state_dict to another process "
        r"|Replica \d+ doesn't save checkpoint|Staging ft checkpoint took )",
        note="The line about the last step stands between begin and end of its save.",
    ),
    Pattern(
        name="memory_trouble",
        table="",
        versions=_ALL,
        literals=(" memory allocation retries.", " OOM errors thrown."),
        regex=HEAD + r"\d+ [A-Z]+ (?:memory allocation retries|OOM errors thrown)\.",
        note="Retries make steps slow.",
    ),
)

SETUP = (*FACTS, *KNOWN)
