"""Megatron-LM: what its start reveals of the configuration."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value

#: Arguments of the configuration dump whose value is a number, and the key that they become.
_NUMBERS: Mapping[str, str] = {
    "world_size": "world_size",
    "hidden_size": "hidden_size",
    "ffn_hidden_size": "ffn_hidden_size",
    "num_layers": "num_layers",
    "num_attention_heads": "num_attention_heads",
    "num_query_groups": "num_query_groups",
    "num_key_value_heads": "num_query_groups",  # fork of DeepSpeed
    "kv_channels": "kv_channels",
    "padded_vocab_size": "vocab_size",
    "seq_length": "seq_length",
    "global_batch_size": "global_batch_size",
    "micro_batch_size": "micro_batch_size",
    "batch_size": "micro_batch_size",  # release 1.0
    "tensor_model_parallel_size": "tensor_parallel",
    "model_parallel_size": "tensor_parallel",  # release 1.0
    "pipeline_model_parallel_size": "pipeline_parallel",
    "virtual_pipeline_model_parallel_size": "virtual_stages",
    "num_virtual_stages_per_pipeline_rank": "virtual_stages",
    "num_layers_per_virtual_pipeline_stage": "layers_per_virtual_stage",
    "context_parallel_size": "context_parallel",
    "expert_model_parallel_size": "expert_parallel",
    "data_parallel_size": "data_parallel",
    "log_interval": "log_interval",
    "train_iters": "train_iters",
    "train_samples": "train_samples",
    "save_interval": "save_interval",
    "non_persistent_save_interval": "non_persistent_save_interval",
    "eval_interval": "eval_interval",
    "eval_iters": "eval_iters",
    "exit_duration_in_mins": "exit_duration_in_mins",
    "exit_interval": "exit_interval",
    "distributed_timeout_minutes": "distributed_timeout_minutes",
    "num_experts": "num_experts",
    "moe_router_topk": "moe_router_topk",
    "moe_ffn_hidden_size": "moe_ffn_hidden_size",
    "moe_shared_expert_intermediate_size": "moe_shared_expert_intermediate_size",
    "moe_latent_size": "moe_latent_size",
    "topk": "moe_router_topk",  # fork of DeepSpeed
    "expert_interval": "moe_layer_interval",  # fork of DeepSpeed
    "mtp_num_layers": "mtp_num_layers",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_head_dim": "qk_head_dim",
    "qk_pos_emb_head_dim": "qk_pos_emb_head_dim",
    "v_head_dim": "v_head_dim",
}
#: Arguments whose value is a word.
_WORDS: Mapping[str, str] = {
    "async_save": "async_save",
    "group_query_attention": "group_query_attention",
    "multi_latent_attention": "multi_latent_attention",
    "swiglu": "swiglu",
    "attention_output_gate": "attention_output_gate",
    "experimental_attention_variant": "attention_variant",
    "hybrid_layer_pattern": "hybrid_layer_pattern",
    "hybrid_override_pattern": "hybrid_layer_pattern",
    "window_size": "attention_window",
    "untie_embeddings_and_output_weights": "untied_embeddings",
    "checkpoint_activations": "checkpoint_activations",
    "bf16": "bf16",
    "fp16": "fp16",
    "fp8": "fp8",
    "params_dtype": "dtype",
    "moe_layer_freq": "moe_layer_freq",
    "recompute_granularity": "recompute_granularity",
    "wandb_exp_name": "run_name",
    "save": "save_path",
    "load": "load_path",
}
#: Short names are filled up with dots; long ones are followed by two blanks.
_DOTS = r" \.* ?"
#: A fork prints the experts of all its layers as a list: `[64]` where all have as many.
_NUMBER = r"-?\d[\d.e+-]*|\[\d+\]"
#: `None` says nothing: a word begins otherwise. Lists and pairs hold blanks.
_WORD = r"\[[^\]]*\]|\([^)]*\)|(?:[^\sN\[(]|N[^o\s])\S*"

_SIZES: Mapping[str, str] = {
    "world size": "world_size",
    "data-parallel size": "data_parallel",
    "data-parallel-size": "data_parallel",  # up to 2.6
    "context-parallel size": "context_parallel",
    "tensor-model-parallel size": "tensor_parallel",
    "model-parallel size": "tensor_parallel",  # release 1.0
    "pipeline-model-parallel size": "pipeline_parallel",
}

FACTS = (
    Pattern(
        name="arguments",
        table="facts",
        versions="1.0 to core 0.19",
        literals=(" ....",),
        regex=r"^\s+[A-Za-z_]\w* \.{4,}(?: |$)",
        each=rf"^\s+(?:(?P<number_key>{'|'.join(_NUMBERS)}){_DOTS}(?P<number>{_NUMBER})"
        rf"|(?P<word_key>{'|'.join(_WORDS)}){_DOTS}(?P<word>{_WORD}))\s*$",
        columns={
            "key": Value(group=("number_key", "word_key"), mapping={**_NUMBERS, **_WORDS}),
            "value": Value(group=("number", "word")),
        },
        note="Only arguments that a figure needs become facts; the others are known. `num_query_groups` "
        "counts only where `group_query_attention` is True.",
    ),
    Pattern(
        name="world_size",
        table="facts",
        versions="1.0 to core 0.19",
        literals=("using world size: ",),
        regex=r"^\s*using world size: \d+",
        # Some releases forget a comma: "context-parallel sizes: Nonetensor-model-parallel size: 8".
        each=rf"(?:^|[ ,]|None)(?P<key>{'|'.join(_SIZES)}): (?P<value>\d+)",
        columns={"key": Value(group="key", mapping=_SIZES), "value": Value(group="value")},
    ),
    Pattern(
        name="dtype",
        table="facts",
        versions="2.0 to core 0.19",
        literals=(" for parameters ...",),
        regex=r"^\s*using (?P<value>torch\.\w+) for parameters \.\.\.",
        columns={"key": Value(const="dtype"), "value": Value(group="value")},
    ),
    Pattern(
        name="vocabulary",
        table="facts",
        versions="1.0 to core 0.19",
        literals=("> padded vocab (size: ",),
        regex=r"> padded vocab \(size: \d+\) with \d+ dummy tokens \(new size: (?P<value>\d+)\)",
        columns={"key": Value(const="vocab_size"), "value": Value(group="value")},
        note="The padded size, with which the model computes.",
    ),
    Pattern(
        name="parameters",
        table="facts",
        versions="core 0.5 to 0.19",
        literals=("Total number of parameters in billions: ",),
        regex=r"^\s*Total number of parameters in billions: +(?P<value>[\d.]+)",
        columns={"key": Value(const="params"), "value": Value(group="value", kind="float", scale=1e9)},
        note="Rounded to ten million.",
    ),
    Pattern(
        name="parameters_active",
        table="facts",
        versions="core 0.16 to 0.19",
        literals=("Total number of active parameters in billions: ",),
        regex=r"^\s*Total number of active parameters in billions: +(?P<value>[\d.]+)",
        columns={"key": Value(const="params_active"), "value": Value(group="value", kind="float", scale=1e9)},
    ),
    Pattern(
        name="parameters_of_rank",
        table="facts",
        versions="1.0 to core 0.19",
        literals=("> number of parameters on ",),
        regex=r"> number of parameters on (?:\([^)]*\) )?model parallel rank ",
        each=r"> number of parameters on (?:\([^)]*\) )?model parallel rank [^:>]*: (?P<value>\d+)",
        columns={"key": Value(const="params_of_model_parallel_rank"), "value": Value(group="value")},
        note="A part of the model for each model-parallel rank; the whole only without model parallelism. "
        "Ranks print at once, so that a line may hold two.",
    ),
)
