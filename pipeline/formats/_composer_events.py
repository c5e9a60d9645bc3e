"""Composer and LLM Foundry: what their loggers tell, the dump of the configuration, and metrics."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats.format import Pattern, Value, known_line

_ALL = "0.12 to 0.32.1"

#: Time, global rank, process and thread, level and logger: the only lines with a time.
_HEAD = (
    r"(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}): rank(?P<rank>\d+)\[\d+\]\[[^\]]+\]: [A-Z]+: "
    r"(?:composer|llmfoundry|__main__)[\w.]*: "
)
_STEP = Value(group="step", kind="int")
_PATH = Value(group="path")


def _told(**columns: Value) -> Mapping[str, Value]:
    """Return the columns of a line of a logger, its time and rank with them."""
    return {
        "ts": Value(group="ts", kind="stamp", stamp="iso"),
        "rank": Value(group="rank", kind="int"),
        **columns,
    }


def _phase(name: str, literal: str, phase: str, edge: str, detail: str = "", note: str = "") -> Pattern:
    """Return the pattern of a line that is one fixed text."""
    escaped = literal.replace(".", r"\.")
    return Pattern(
        name=name,
        table="phases",
        versions="LLM Foundry 0.21.0",
        literals=(f": {literal}",),
        regex=rf"{_HEAD}{escaped}$",
        columns=_told(
            phase=Value(const=phase),
            edge=Value(const=edge),
            **({"detail": Value(const=detail)} if detail else {}),
        ),
        note=note,
    )


def _checkpoint(name: str, text: str, literal: str, op: str, edge: str, note: str = "") -> Pattern:
    """Return the pattern of a line about a checkpoint, whose step is in the name of its file."""
    return Pattern(
        name=name,
        table="checkpoints",
        versions=_ALL,
        literals=(literal,),
        regex=rf"{_HEAD}{text} (?P<path>(?:[^\s]*?\bba(?P<step>\d+)\b)?[^\s]*?)(?:\.\.\.)?\.?$",
        columns=_told(op=Value(const=op), edge=Value(const=edge), step=_STEP, path=_PATH),
        note=note,
    )


_CONFIGURATION: Mapping[str, str] = {
    "max_seq_len": "seq_length",
    "global_train_batch_size": "global_batch_size",
    "device_train_microbatch_size": "micro_batch_size",
    "n_gpus": "world_size",
    "num_gpus_per_node": "gpus_per_node",
    "num_nodes": "nodes",
    "n_params": "params",
    "d_model": "hidden_size",
    "n_layers": "num_layers",
    "n_heads": "num_attention_heads",
    "kv_n_heads": "num_query_groups",
    "expansion_ratio": "ffn_expansion",
    "ffn_hidden_size": "ffn_hidden_size",
    "ffn_type": "activation",
    "vocab_size": "vocab_size",
    "tie_word_embeddings": "tied_embeddings",
    "precision": "dtype",
    "run_name": "run_name",
}

EVENTS = (
    _phase("initialized", "Building tokenizer...", "init", "end"),
    _phase("data_built", "Initializing model...", "data_setup", "end"),
    _phase(
        "trainer", "Building trainer...", "model_setup", "end", note="A checkpoint is read after this line."
    ),
    _phase("loop_begin", "Starting training...", "loop", "begin"),
    _phase("done", "Done.", "exit", "point", "done"),
    Pattern(
        name="run_name",
        table="facts",
        versions=_ALL,
        literals=(": Run name: ",),
        regex=_HEAD + r"Run name: (?P<value>\S+)",
        columns=_told(key=Value(const="run_name"), value=Value(group="value")),
    ),
    Pattern(
        name="configuration",
        table="facts",
        versions=_ALL,
        literals=tuple(f"{name}: " for name in _CONFIGURATION),
        regex=rf"^\s*(?P<key>{'|'.join(_CONFIGURATION)}): (?P<value>[\w.-]+)$",
        columns={"key": Value(group="key", mapping=_CONFIGURATION), "value": Value(group="value")},
        note="Printed between lines of asterisks when training begins.",
    ),
    _checkpoint(
        "save_begin",
        "Saving (?:sharded checkpoints|monolithic checkpoint) to",
        ": Saving ",
        "save",
        "begin",
        "Only at level DEBUG: in most logs saves are not seen.",
    ),
    _checkpoint(
        "save_local",
        "Checkpoint locally saved to",
        ": Checkpoint locally saved to ",
        "save",
        "blocked",
        "The loop goes on; what is on a local disk may still have to be uploaded.",
    ),
    _checkpoint("load_begin", "Loading checkpoint from", ": Loading checkpoint from ", "load", "begin"),
    _checkpoint(
        "load_end", "Trainer checkpoint loaded from", ": Trainer checkpoint loaded from ", "load", "end"
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions=_ALL,
        literals=(": No previous autoresume checkpoint found",),
        regex=_HEAD + "No previous autoresume checkpoint found",
        columns=_told(op=Value(const="load"), edge=Value(const="none")),
    ),
    Pattern(
        name="eval",
        table="phases",
        versions=_ALL,
        literals=("[Eval batch=",),
        regex=r"^\[Eval batch=\d+/\d+\] Eval on (?P<detail>\S+) data:$",
        columns={
            "phase": Value(const="eval"),
            "edge": Value(const="point"),
            "detail": Value(group="detail"),
        },
        note="The last line of an evaluation, above its metrics.",
    ),
    known_line("eval_progress", ("[Eval batch=",), r"^\[Eval batch=\d+/\d+\] Eval on \S+ data$", _ALL),
    Pattern(
        name="clock",
        table="timers",
        versions="0.14 to 0.32.1",
        literals=(" Train time/train: ", " Train time/val: "),
        regex=r"^\t Train time/(?P<clock>train|val): (?P<hours>\d+(?:\.\d+)?)\s*$",
        columns={
            "component": Value("clock", mapping={"train": "clock of steps", "val": "clock of evaluations"}),
            "mean_s": Value("hours", "float", scale=3600),
        },
        note="Hours, to a third of a second, since the run began, restarts included: `SpeedMonitor` can be "
        "told another unit (`time_unit`), and a dump that prints it does not say for which callback. Saves "
        "are in the time of the steps.",
    ),
    known_line(
        "metric",
        ("\t Train ", "\t Eval "),
        r"^\t (?:Eval |Train (?:time/(?:batch_|[^btv\s]|to)|[^t\s]|t[^i\s]))\S*: \S",
        _ALL,
        "Throughput in tokens and FLOPs; `mfu` is a fraction. `time/total` is the sum of both clocks. "
        "Before 0.14 they are `wall_clock/…`, in seconds up to 0.12.1 and hours from 0.13.0 on, by the same "
        "name and in the same form: no line says which, and they are not read.",
    ),
    known_line("dump", ("Config:", "******"), r"^(?:Config:|\*{30})$", _ALL),
    known_line(
        "texts",
        (
            ": Building train loader...",
            ": Building eval loader...",
            ": Logging config",
            ": Setting seed to ",
            ": Searching for a previous checkpoint to autoresume",
            ": Autoresuming training from checkpoint",
            ": Loaded state dict",
            ": Using precision ",
            ": Waiting for checkpoint uploading to finish",
            ": Checkpoint uploading finished!",
            ": Automicrobatching changed ",
            ": Finished pytorch save state dict",
            ": Uploading checkpoint to ",
            ": Saving HuggingFace formatted checkpoint",
            ": Initializing dist with device",
            ": Testing barrier with device",
            ": Barrier test passed",
            ": Spinning the dataloaders",
            ": Starting training loop",
            ": State dict created.",
        ),
        _HEAD + r"(?:Building (?:train|eval) loader|Logging config|Setting seed to |Searching for a "
        r"previous checkpoint |Autoresuming training from checkpoint|Loaded state dict|Using precision "
        r"|Waiting for checkpoint uploading |Checkpoint uploading finished|Automicrobatching changed "
        r"|Finished pytorch save |Uploading checkpoint to |Saving HuggingFace formatted |Initializing dist "
        r"with|Testing barrier|Barrier test passed|Spinning the data|Starting training loop|State dict "
        r"created)",
        _ALL,
    ),
)
