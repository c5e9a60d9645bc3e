"""MaxText: what its start reveals of the configuration, and lines that a ledger does not need."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._maxtext_events import HEAD
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "2024 to 2026-08"

#: Parameters of the dump that figures need, and the key that they become. The names with `base_` are those
#: of the model before `global_parameter_scale`, the others are derived and count.
_PARAMETERS: Mapping[str, str] = {
    "emb_dim": "hidden_size",
    "mlp_dim": "ffn_hidden_size",
    "num_decoder_layers": "num_layers",
    "num_query_heads": "num_attention_heads",
    "num_kv_heads": "num_query_groups",
    "head_dim": "kv_channels",
    "vocab_size": "vocab_size",
    "max_target_length": "seq_length",
    "global_batch_size_to_train_on": "global_batch_size",
    "per_device_batch_size": "micro_batch_size",
    "steps": "train_iters",
    "log_period": "log_interval",
    "checkpoint_period": "save_interval",
    "local_checkpoint_period": "non_persistent_save_interval",
    "async_checkpointing": "async_save",
    "eval_interval": "eval_interval",
    "eval_steps": "eval_iters",
    "num_slices": "num_slices",
    "mlp_activations": "activation",
    "logits_via_embedding": "tied_embeddings",
    "attention_type": "attention_type",
    "sliding_window_size": "attention_window",
    "chunk_attn_window_size": "attention_chunk",
    "q_lora_rank": "q_lora_rank",
    "kv_lora_rank": "kv_lora_rank",
    "qk_nope_head_dim": "qk_head_dim",
    "qk_rope_head_dim": "qk_pos_emb_head_dim",
    "v_head_dim": "v_head_dim",
    "mtp_num_layers": "mtp_num_layers",
    "first_num_dense_layers": "num_dense_layers",
    "interleave_moe_layer_step": "moe_layer_interval",
    "decoder_block": "decoder_block",
    "shared_experts": "shared_experts_default_one",
    "base_moe_mlp_dim": "moe_ffn_hidden_size",
    "quantization": "quantization",
    "num_experts": "num_experts",
    "num_experts_per_tok": "moe_router_topk",
    "moe_mlp_dim": "moe_ffn_hidden_size",
    "dtype": "dtype",
    "run_name": "run_name",
    "model_name": "model_name",
    "hardware": "hardware",
    "remat_policy": "recompute_granularity",
    "load_parameters_path": "load_path",
    "checkpoint_dir": "save_path",
}

FACTS = (
    Pattern(
        name="parameters",
        table="facts",
        versions=_ALL,
        literals=("Config param ",),
        regex=HEAD + r"Config param \w+: ",
        each=rf"Config param (?P<key>{'|'.join(_PARAMETERS)}): (?P<value>\[[^\]]*\]|[^\s'\"\[]\S*)\s*$",
        columns={"key": Value(group="key", mapping=_PARAMETERS), "value": Value(group="value")},
        note="Only parameters that a figure needs become facts. The micro batch is that of a device.",
    ),
    Pattern(
        name="devices",
        table="facts",
        versions=_ALL,
        literals=("Num_devices: ",),
        regex=HEAD + r"Num_devices: (?P<value>\d+), shape ",
        columns={"key": Value(const="world_size"), "value": Value(group="value")},
    ),
    Pattern(
        name="flops",
        table="facts",
        versions=_ALL,
        literals=("Total TFLOPs: ", "Per train step, total TFLOPs will be "),
        regex=r"^(?: Total TFLOPs: (?P<value>[\d.]+) ?\s*$"
        r"|Per train step, total TFLOPs will be (?P<old>[\d.]+),)",
        columns={
            "key": Value(const="flops_per_step_per_gpu"),
            "value": Value(group=("value", "old"), kind="float", scale=1e12),
        },
        note="Of a device and a step. Attention counts half since 2025-07-22: the same model has fewer then.",
    ),
)

KNOWN = (
    known_line(
        "flops_texts",
        ("Per train step:", "% learnable weight flops", "% attention flops"),
        r"^\s*(?:Per train step:|split as [\d.]+% learnable weight flops)",
        versions=_ALL,
    ),
    known_line(
        "system",
        ("System Information: Jax",),
        HEAD + r"System Information: Jax",
        versions=_ALL,
    ),
    known_line(
        "init_info",
        ("Unable to locate jax-init-info.txt after ", "Jax distributed system is already "),
        HEAD
        + r"(?:Unable to locate jax-init-info\.txt after \d|Jax distributed system is already initialized)",
        versions=_ALL,
        note="Process 0 is not known yet: one line a second of a start after a disruption.",
    ),
    known_line(
        "memory",
        ("Memstats: ", "\tUsing (GB) "),
        r"(?:^|\] )Memstats: |^\tUsing \(GB\) [\d.]+ / ",
        versions=_ALL,
    ),
    known_line(
        "checkpoint_texts",
        (
            "checkpoint manager exists so trying to load ",
            "Waiting for step ",
            " already exists, skipping save.",
            "Checkpointing disabled, not creating checkpoint manager.",
            "Enabling policy for ",
            "et up checkpoint ",
            "Setting up checkpoint logger...",
        ),
        HEAD
        + r"(?:checkpoint manager exists so trying to load |Waiting for step \d+ to finish before checkpoint"
        r"|Checkpoint for step \d+ already exists, skipping save\.|Checkpointing disabled, "
        r"|Enabling policy for (?:continuous|auto|fixed interval) ?checkpoint"
        r"|Setting up checkpoint logger|Successfully set up checkpoint )",
        versions=_ALL,
    ),
    known_line(
        "goodput_texts",
        ("Goodput: ", "Started Goodput upload ", "Goodput monitoring."),
        HEAD
        + r"(?:Goodput: (?:using|created|could not) |Started Goodput upload to |Flushed final metrics and )",
        versions=_ALL,
    ),
    known_line(
        "metrics_texts",
        ("To see full metrics 'tensorboard --logdir=", "etric successfully sent to GCP."),
        HEAD
        + r"(?:To see full metrics 'tensorboard --logdir=|(?:Heartbeat|Performance) metric successfully )",
        versions=_ALL,
    ),
    known_line(
        "elastic_texts",
        (
            "Elastic utils: ",
            "Elastic Retry Enabled",
            "a new slice is available.",
            "No commit_success file found.",
            "Found commit_success file.",
            "elastic_utils: ",
        ),
        HEAD + r"(?:Elastic utils: |Elastic Retry Enabled|Started a checkpoint and a new slice is available\."
        r"|No commit_success file found\.|Found commit_success file\.|elastic_utils: )",
        versions="2026",
    ),
)
