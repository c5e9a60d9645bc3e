"""NVIDIA Megatron-Bridge, console: the words of Megatron-LM, and what Bridge says in its own."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._megatron_dialects import COMMON, shared
from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "0.1 to 0.6"
_SINCE_0_2 = "0.2 to 0.6"
_TS = Value(group="ts", kind="stamp", stamp="iso")
_CLOCK = r"(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"

#: Fields of the summary that figures need, and the key that they become.
_FIELDS: Mapping[str, str] = {
    "hidden_size": "hidden_size",
    "ffn_hidden_size": "ffn_hidden_size",
    "num_layers": "num_layers",
    "num_attention_heads": "num_attention_heads",
    "num_query_groups": "num_query_groups",
    "kv_channels": "kv_channels",
    "seq_length": "seq_length",
    "vocab_size": "vocab_size",
    "global_batch_size": "global_batch_size",
    "micro_batch_size": "micro_batch_size",
    "tensor_model_parallel_size": "tensor_parallel",
    "pipeline_model_parallel_size": "pipeline_parallel",
    "virtual_pipeline_model_parallel_size": "virtual_stages",
    "context_parallel_size": "context_parallel",
    "expert_model_parallel_size": "expert_parallel",
    "num_moe_experts": "num_experts",
    "moe_router_topk": "moe_router_topk",
    "moe_ffn_hidden_size": "moe_ffn_hidden_size",
    "moe_shared_expert_intermediate_size": "moe_shared_expert_intermediate_size",
    "moe_latent_size": "moe_latent_size",
    "moe_layer_freq": "moe_layer_freq",
    "mtp_num_layers": "mtp_num_layers",
    "multi_latent_attention": "multi_latent_attention",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_head_dim": "qk_head_dim",
    "qk_pos_emb_head_dim": "qk_pos_emb_head_dim",
    "v_head_dim": "v_head_dim",
    "attention_output_gate": "attention_output_gate",
    "experimental_attention_variant": "attention_variant",
    "hybrid_layer_pattern": "hybrid_layer_pattern",
    "hybrid_override_pattern": "hybrid_layer_pattern",
    "window_size": "attention_window",
    "share_embeddings_and_output_weights": "tied_embeddings",
    "train_iters": "train_iters",
    "log_interval": "log_interval",
    "save_interval": "save_interval",
    "eval_interval": "eval_interval",
    "eval_iters": "eval_iters",
    "exit_duration_in_mins": "exit_duration_in_mins",
    "async_save": "async_save",
    "bf16": "bf16",
    "fp8": "fp8",
    "gated_linear_unit": "swiglu",
    "recompute_granularity": "recompute_granularity",
    "wandb_exp_name": "run_name",
    "save": "save_path",
    "load": "load_path",
}
#: A value as Python shows it, without quotation marks; `None` says nothing.
_VALUE = r"'?(?P<value>\[[^\]]*\]|\([^)]*\)|[^\s'(N\[][^\s'(]*)'?"

OWN = (
    known_line(
        "utilization",
        ("MODEL_TFLOP/s/GPU",),
        r"^\s*Step Time : [\d.]+s GPU utilization: [\d.naif]+ ?MODEL_TFLOP/s/GPU",
        versions=_SINCE_0_2,
        note="Of rank 0, untimed; the step line of the last rank says the same.",
    ),
    Pattern(
        name="tokenizer_built",
        table="phases",
        versions=_ALL,
        literals=("[after tokenizer is built] datetime: ",),
        regex=rf"\[(?P<detail>after tokenizer is built)\] datetime: {_CLOCK}",
        columns={
            "ts": _TS,
            "phase": Value(const="data_setup"),
            "edge": Value(const="end"),
            "detail": Value(group="detail"),
        },
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions=_SINCE_0_2,
        literals=("Starting training loop at iteration ",),
        regex=r"^\s*Starting training loop at iteration (?P<step>\d+)\s*$",
        columns={
            "phase": Value(const="loop"),
            "edge": Value(const="begin"),
            "step": Value(group="step", kind="int", offset=1),
        },
        note="Without a time. The line names the last step that was done, the column the first one that "
        "will be.",
    ),
    Pattern(
        name="exit_straggler",
        table="phases",
        versions=_ALL,
        literals=("[Exiting program due to straggler detection.] datetime: ",),
        regex=rf"\[Exiting program (?P<detail>due to straggler detection)\.\] datetime: {_CLOCK}",
        columns={
            "ts": _TS,
            "phase": Value(const="exit"),
            "edge": Value(const="point"),
            "detail": Value(group="detail"),
        },
    ),
    Pattern(
        name="load_begin_direct",
        table="checkpoints",
        versions="0.4 to 0.6",
        literals=(" checkpoint directly from ", " loading HuggingFace-format checkpoint from "),
        regex=r"^\s*loading (?:\S+ checkpoint directly|HuggingFace-format checkpoint) "
        r"from (?P<path>\S*?(?:iter_0*(?P<step>\d+))?)/?\s*$",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="begin"),
            "step": Value(group="step", kind="int"),
            "path": Value(group="path"),
        },
    ),
)

FACTS = (
    Pattern(
        name="fields_changed",
        table="facts",
        versions=_ALL,
        literals=("  (Mcore default: ",),
        regex=r"^  \w+: .*  \(Mcore default: ",
        each=rf"^  (?P<key>{'|'.join(_FIELDS)}): {_VALUE}  \(Mcore default: ",
        columns={"key": Value(group="key", mapping=_FIELDS), "value": Value(group="value")},
        note="Only values that differ from the defaults of Megatron Core are printed; of them those that a "
        "figure needs become facts.",
    ),
    Pattern(
        name="fields",
        table="facts",
        versions=_ALL,
        literals=tuple(f"  {name}: " for name in _FIELDS),
        regex=rf"^  (?P<key>{'|'.join(_FIELDS)}): {_VALUE}\s*$",
        columns={"key": Value(group="key", mapping=_FIELDS), "value": Value(group="value")},
    ),
    Pattern(
        name="parameters_peft",
        table="facts",
        versions=_SINCE_0_2,
        literals=("  Total parameters: ", "  Trainable parameters: "),
        regex=r"^  (?P<key>Total|Trainable) parameters: (?P<value>[\d,]+)\s*$",
        columns={
            "key": Value("key", mapping={"Total": "rank_params_all", "Trainable": "rank_params_trainable"}),
            "value": Value(group="value", kind="int"),
        },
        note="Of a fine-tuning that trains a part of them: counted on the first rank, where it holds a part "
        "of the model.",
    ),
)

KNOWN = (
    known_line(
        "peft",
        ("PEFT Statistics:", "  Trainable percentage: "),
        r"^(?:PEFT Statistics:|  Trainable percentage: [\d.]+%)\s*$",
        versions=_SINCE_0_2,
    ),
    known_line(
        "summary",
        (
            "(Non-Default Values vs Megatron Core)",
            " Non-default values (vs Mcore ",
            "Other Configuration Values:",
        ),
        r"^(?:Configuration Summary \(Non-Default Values vs Megatron Core\)"
        r"|\[\w+\] Non-default values \(vs Mcore |Other Configuration Values:)",
        versions=_ALL,
    ),
    known_line(
        "memory_gb",
        ("memory (GB) | ",),
        r"\(after \d+ iterations\) memory \(GB\) \| ",
        versions=_SINCE_0_2,
    ),
    known_line(
        "stragglers",
        (
            "NVRx straggler detection enabled",
            "STRAGGLER DETECTION WARNING: ",
            "Detected stragglers. Training ",
        ),
        r"NVRx straggler detection enabled \(|STRAGGLER DETECTION WARNING: Some GPUs "
        r"|Detected stragglers\. Training should be stopped\.",
        versions=_SINCE_0_2,
    ),
    known_line(
        "fault_tolerance",
        ("FT: ",),
        r"^FT: (?:initializ|loaded timeouts|updat|can't update|clos(?:ing|ed)|need to see|checkpointing )",
        versions=_ALL,
    ),
    known_line(
        "dataloader_state",
        ("saving dataloader checkpoint at iteration ", "estoring dataloader state at iteration "),
        r"^(?:saving dataloader checkpoint|restoring dataloader state) at iteration \d",
        versions="0.4 to 0.6",
    ),
)

FORMAT = Format(
    name="megatron_bridge",
    title="NVIDIA Megatron-Bridge, console",
    link="https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/main/src/megatron/bridge/training/train.py",
    role="trainer",
    patterns=(*shared(COMMON, _ALL), *OWN, *FACTS, *KNOWN),
    step_time="As in Megatron-LM since core 0.5: a mean over the steps since the line before, waiting for "
    "data inside, evaluations and regular saves outside.",
    step_time_excludes_stalls=True,
    deciding=("utilization", "tokenizer_built", "summary"),
    versions=_ALL,
)
