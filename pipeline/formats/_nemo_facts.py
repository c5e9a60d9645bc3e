"""NVIDIA NeMo: what its start reveals of the model."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._lightning_facts import PARAMETERS
from pipeline.formats._nemo_events import ALL, BEGIN
from pipeline.formats.format import Pattern, Value

#: Fields of the section ``model`` of the printed configuration, and the key that they become.
_FIELDS: Mapping[str, str] = {
    "hidden_size": "hidden_size",
    "ffn_hidden_size": "ffn_hidden_size",
    "num_layers": "num_layers",
    "num_attention_heads": "num_attention_heads",
    "num_query_groups": "num_query_groups",
    "kv_channels": "kv_channels",
    "encoder_seq_length": "seq_length",
    "global_batch_size": "global_batch_size",
    "micro_batch_size": "micro_batch_size",
    "tensor_model_parallel_size": "tensor_parallel",
    "pipeline_model_parallel_size": "pipeline_parallel",
    "virtual_pipeline_model_parallel_size": "virtual_stages",
    "activation": "activation",
    "share_embeddings_and_output_weights": "tied_embeddings",
    "num_moe_experts": "num_experts",
    "moe_router_topk": "moe_router_topk",
    "fp8": "fp8",
}

FACTS = (
    Pattern(
        name="model_fields",
        table="facts",
        versions="1.0 to 1.23",
        literals=tuple(f"      {name}: " for name in _FIELDS),
        # The logger moves what follows on its first line by four blanks, and a section is two deep.
        regex=rf"^ {{6}}(?P<key>{'|'.join(_FIELDS)}): (?P<value>\d+|true|false|[a-mo-z][\w-]+)\s*$",
        columns={"key": Value(group="key", mapping=_FIELDS), "value": Value(group="value")},
        note="The section `model` of the configuration, printed as YAML. `null` says nothing.",
    ),
    Pattern(
        name="vocabulary",
        table="facts",
        versions=ALL,
        literals=("Padded vocab_size: ",),
        regex=BEGIN + r"Padded vocab_size: (?P<value>\d+), original vocab_size: ",
        columns={
            "ts": Value(group="ts", kind="stamp", stamp="iso"),
            "key": Value(const="vocab_size"),
            "value": Value(group="value"),
        },
        note="The padded size, with which the model computes.",
    ),
    PARAMETERS,
)
