"""GPT-NeoX: what its start reveals of the configuration."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value

_VERSIONS = "1.0 to 2.0 and later"

#: Arguments that a figure needs, and the key that they become.
_ARGUMENTS: Mapping[str, str] = {
    "hidden_size": "hidden_size",
    "intermediate_size": "ffn_hidden_size",
    "num_layers": "num_layers",
    "num_attention_heads": "num_attention_heads",
    "num_kv_heads": "num_query_groups",
    "activation": "activation",
    "no_weight_tying": "untied_embeddings",
    "moe_num_experts": "num_experts",
    "moe_top_k": "moe_router_topk",
    "sliding_window_width": "attention_window",
    "checkpoint_activations": "checkpoint_activations",
    "seq_length": "seq_length",
    "padded_vocab_size": "vocab_size",
    "train_batch_size": "global_batch_size",
    "train_micro_batch_size_per_gpu": "micro_batch_size",
    "gradient_accumulation_steps": "gradient_accumulation_steps",
    "model_parallel_size": "tensor_parallel",
    "pipe_parallel_size": "pipeline_parallel",
    "world_size": "world_size",
    "global_num_gpus": "world_size",
    "log_interval": "log_interval",
    "steps_per_print": "steps_per_print",
    "train_iters": "train_iters",
    "save_interval": "save_interval",
    "checkpoint_factor": "save_interval",
    "eval_interval": "eval_interval",
    "precision": "dtype",
    "peak_theoretical_tflops": "peak_theoretical_tflops",
}

FACTS = (
    Pattern(
        name="parameters",
        table="facts",
        versions=_VERSIONS,
        literals=("> total params: ",),
        regex=r"> total params: (?P<value>[\d,]+)",
        columns={"key": Value(const="params"), "value": Value(group="value", kind="int")},
    ),
    Pattern(
        name="arguments",
        table="facts",
        versions=_VERSIONS,
        literals=("..updated", "..default"),
        regex=r"^\s+[A-Za-z_]\w* \.{3,} ?.*\.\.(?:updated|default)\s*$",
        # `None` says nothing: a value begins otherwise.
        each=rf"^\s+(?P<key>{'|'.join(_ARGUMENTS)}) \.+ "
        r"(?P<value>(?:[^.\sN]|N[^o.\s])[^.\s]*(?:\.\d+)?)\.{2,}(?:updated|default)\s*$",
        columns={"key": Value(group="key", mapping=_ARGUMENTS), "value": Value(group="value")},
        note="Only arguments that a figure needs become facts; the others are known.",
    ),
)
