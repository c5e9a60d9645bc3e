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
    _fact(
        "parameters",
        "params_trainable",
        "Number of trainable parameters",
        "Number of trainable parameters = ",
    ),
)

#: Fields of the configuration of a model, by the families that name them so.
_MODEL = {
    "hidden_size": "hidden_size",
    "n_embd": "hidden_size",
    "intermediate_size": "ffn_hidden_size",
    "intermediate_size_mlp": "dense_ffn_hidden_size",
    "n_inner": "ffn_hidden_size",
    "num_hidden_layers": "num_layers",
    "n_layer": "num_layers",
    "num_attention_heads": "num_attention_heads",
    "n_head": "num_attention_heads",
    "num_key_value_heads": "num_query_groups",
    "head_dim": "kv_channels",
    "vocab_size": "vocab_size",
    "hidden_act": "activation",
    "activation_function": "activation",
    "tie_word_embeddings": "tied_embeddings",
    "num_local_experts": "num_experts",
    "n_routed_experts": "num_experts",
    "num_experts": "num_experts",
    "num_experts_per_tok": "moe_router_topk",
    "moe_intermediate_size": "moe_ffn_hidden_size",
    "n_shared_experts": "num_shared_experts",
    "first_k_dense_replace": "num_dense_layers",
    "interleave_moe_layer_step": "moe_layer_interval",
    "attention_chunk_size": "attention_chunk",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_nope_head_dim": "qk_head_dim",
    "qk_rope_head_dim": "qk_pos_emb_head_dim",
    "v_head_dim": "v_head_dim",
}

#: A document of JSON over many lines, behind `Model config`; other libraries print it alike.
MODEL_CONFIG = Pattern(
    name="model_config",
    table="facts",
    versions=_ALL,
    literals=tuple(f'  "{name}": ' for name in _MODEL),
    regex=rf"^  \"(?P<key>{'|'.join(_MODEL)})\": \"?(?P<value>[\d.]+|[a-mo-z][a-z_]*)\"?,?$",
    columns={"key": Value(group="key", mapping=_MODEL), "value": Value("value")},
    note="What a script changes afterwards is not in it: the count of parameters has to agree.",
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

#: What PEFT prints of a model with adapters (`print_trainable_parameters`), and LLaMA-Factory of any model.
_TRAINABLE = Pattern(
    name="trainable",
    table="facts",
    versions="PEFT 0.2 to 0.18",
    literals=("trainable params: ",),
    regex=r"(?:^|[>\]:-] )trainable params: [\d,]+ \|\| all params: [\d,]+ \|\| trainable",
    each=r"(?P<key>trainable params|all params): (?P<value>[\d,]+)",
    columns={
        "key": Value("key", mapping={"trainable params": "params_trainable", "all params": "params_all"}),
        "value": Value("value"),
    },
)

_METHOD = Pattern(
    name="method",
    table="facts",
    versions="LLaMA-Factory 0.6 to 0.9",
    literals=("Fine-tuning method: ",),
    regex=r"(?:^|[>\]:-] )Fine-tuning method: (?P<value>\w+)\s*$",
    columns={"key": Value(const="finetuning_method"), "value": Value("value")},
)

FACTS = (*_HEAD_FACTS, MODEL_CONFIG, _RANKS, _TRAINABLE, _METHOD)
