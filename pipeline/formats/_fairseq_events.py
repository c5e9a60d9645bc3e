"""fairseq and metaseq: start and end of a process, what it reveals, and lines that carry nothing."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._fairseq_head import head, told
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "0.9.0 to 0.12.3, metaseq to 2023-06"
_ANY = head(r"(?:fair|meta)seq[\w.]*")
_RANK = Value(group="rank", kind="int")


def _phase(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of a line about a phase."""
    return told(phase=Value(const=phase), edge=Value(const=edge), **more)


_CONFIGURATION: Mapping[str, str] = {
    "log_interval": "log_interval",
    "max_update": "train_iters",
    "save_interval_updates": "save_interval",
    "tokens_per_sample": "seq_length",
    "decoder_layers": "num_layers",
    "decoder_embed_dim": "hidden_size",
    "decoder_ffn_embed_dim": "ffn_hidden_size",
    "decoder_attention_heads": "num_attention_heads",
    "model_parallel_size": "tensor_parallel",
    "update_freq": "gradient_accumulation_steps",
}

PHASES = (
    Pattern(
        name="rendezvous",
        table="phases",
        versions=_ALL,
        literals=(" | distributed init (rank ",),
        regex=_ANY + r"distributed init \(rank (?P<rank>\d+)\)",
        columns=_phase("init", "begin", rank=_RANK),
    ),
    Pattern(
        name="initialized",
        table="phases",
        versions=_ALL,
        literals=(" | initialized host ",),
        regex=_ANY + r"initialized host (?P<host>\S+) as rank (?P<rank>\d+)",
        columns=_phase("init", "end", host=Value(group="host"), rank=_RANK),
    ),
    Pattern(
        name="model_built",
        table="phases",
        versions=_ALL,
        literals=(" | criterion: ",),
        regex=_ANY + r"criterion: \w+",
        columns=_phase("model_setup", "point"),
    ),
    Pattern(
        name="loop_begin",
        table="phases",
        versions="0.10.0 to 0.12.3, metaseq to 2023-06",
        literals=(" | Start iterating over samples",),
        regex=_ANY + r"Start iterating over samples",
        columns=_phase("loop", "begin"),
        note="Once an epoch.",
    ),
    Pattern(
        name="stopping",
        table="phases",
        versions="0.10.0 to 0.12.3, metaseq to 2023-06",
        literals=(" | Stopping training due to ", " | stopping training because ", " | early stop since "),
        regex=_ANY
        + r"(?P<detail>Stopping training due to .*|stopping training because .*|early stop since .*)",
        columns=_phase("shutdown", "begin", detail=Value(group="detail")),
        note="An evaluation and a save may follow.",
    ),
    Pattern(
        name="done",
        table="phases",
        versions=_ALL,
        literals=(" | done training in ",),
        regex=_ANY + r"(?P<detail>done training in [\d.]+ seconds)",
        columns=_phase("exit", "point", detail=Value(group="detail")),
    ),
)

FACTS = (
    Pattern(
        name="devices",
        table="facts",
        versions=_ALL,
        literals=(" | training on ",),
        regex=_ANY + r"training on (?P<value>\d+) (?:devices|GPUs)",
        columns=told(key=Value(const="world_size"), value=Value(group="value")),
    ),
    Pattern(
        name="params",
        table="facts",
        versions=_ALL,
        literals=("model params: ",),
        regex=_ANY + r"num\. (?:shared )?model params: (?P<value>[\d,]+) \(num\. trained: ",
        columns=told(key=Value(const="params"), value=Value(group="value", kind="int")),
        note="Under full sharding only those of this rank in some releases; experts apart.",
    ),
    Pattern(
        name="configuration",
        table="facts",
        versions=_ALL,
        literals=(" | {'_name': ", " | Namespace("),
        regex=_ANY + r"(?:\{'_name': |Namespace\()",
        each=rf"\b(?P<key>{'|'.join(_CONFIGURATION)})(?:': |=)\[?(?P<value>\d+)",
        columns=told(key=Value(group="key", mapping=_CONFIGURATION), value=Value(group="value")),
    ),
)

KNOWN = (
    known_line(
        "overflow",
        (" overflow detected, ",),
        _ANY + r"(?:NOTE|AMP|WARNING): (?:gradient )?overflow detected, ",
        _ALL,
        "The update is skipped and not counted: its time is in the next line.",
    ),
    known_line(
        "epoch_texts",
        (
            " | begin training epoch ",
            " | loading train data for epoch ",
            " | finished creating batch iterator",
            " | end of epoch ",
            " | begin dry-run validation on ",
        ),
        _ANY + r"(?:begin training epoch \d|loading train data for epoch \d|finished creating batch iterator"
        r"|end of epoch \d|begin dry-run validation on )",
        _ALL,
        "Once an epoch, so that none of them tells of a start.",
    ),
    known_line(
        "rendezvous_texts",
        (" | Added key: store_based_barrier_key:", " | Please install tensorboardX"),
        head(r"(?:fairseq|torch)\.[\w.]+")
        + r"(?:Added key: store_based_barrier_key:\d+ to store for rank: \d|Please install tensorboardX)",
        _ALL,
    ),
    known_line(
        "setup_texts",
        (
            " | task: ",
            " | model: ",
            " | max tokens per ",
            "num. expert model params: ",
            " | detected shared parameter: ",
            " | Creating dataloader",
            " | grouped total_num_itrs = ",
            "***CUDA enviroments for all ",
            " | rank ",
            " dictionary: ",
            " | loaded ",
            " | ioPath PathManager ",
            " | Rank ",
        ),
        _ANY + r"(?:task: |model: |max tokens per |num\. expert model params: |detected shared parameter: "
        r"|grouped total_num_itrs = |\*+CUDA enviroments for all |rank +\d+: |\[?\w*\]? ?dictionary: "
        r"|loaded (?:total )?[\d,]+ |ioPath PathManager |Rank \d+, device_id: )",
        _ALL,
    ),
)

EVENTS = (*PHASES, *FACTS, *KNOWN)
