"""verl, console: the printed configuration, and lines that carry nothing."""

from __future__ import annotations

from pipeline.formats._words import other_than
from pipeline.formats.format import Pattern, Value, known_line

_ALL = "0.2 to 0.7"


def _fact(name: str, literal: str, regex: str, key: str = "") -> Pattern:
    """Return the pattern of a line that tells a configuration value."""
    columns = {"key": Value(const=key or name), "value": Value(group="value")}
    return Pattern(name, "facts", columns, (literal,), regex, versions=_ALL)


def _config(key: str, fact: str) -> Pattern:
    """Return the pattern of a line of the printed configuration, one key a line."""
    return _fact(fact, f"'{key}': ", rf"^\s+'{key}': '?(?P<value>[\w.-]+)'?[,}}]")


#: Keys of the printed configuration that are facts; the other lines of it are known.
_FACTS = {
    "n_gpus_per_node": "gpus_per_node",
    "nnodes": "nodes",
    "train_batch_size": "global_batch_size",
    "experiment_name": "run_name",
    "save_freq": "save_interval",
    "max_prompt_length": "max_prompt_length",
    "max_response_length": "max_response_length",
    "async_save": "async_save",
}

FACTS = (
    _fact("train_iters", "Total training steps: ", r"^Total training steps: (?P<value>\d+)"),
    _fact(
        "world_size",
        "_world_size_",
        r"(?:Saved|Loaded) model (?:to|from) \S*model_world_size_(?P<value>\d+)_rank_\d+",
    ),
    *(_config(key, fact) for key, fact in _FACTS.items()),
)

#: Between single quotation marks.
_OTHER_KEY = other_than((*_FACTS,)).replace('[^"', "[^'")

KNOWN = (
    known_line(
        "progress",
        ("Training Progress: ",),
        r"^Training Progress:\s+\d+%\|.*\| \d+/\d+ \[(?:[1-9\d:]*[1-9][\d:]*<|00:00<\d)",
        _ALL,
    ),
    known_line(
        "dataset",
        ("dataset len: ", "Using dataset class: "),
        r"^(?:filter )?dataset len: \d+|^Using dataset class: ",
        _ALL,
    ),
    known_line("checked", ("[validate_config] ",), r"^\[validate_config\] ", _ALL),
    known_line(
        "resuming",
        ("Resuming from ", "Found checkpoint: ", "Checkpoint tracker file does not exist"),
        r"^(?:Resuming from \S+|Found checkpoint: (?:%s )?\S+|Checkpoint tracker file does not exist)",
        _ALL,
    ),
    known_line(
        "removed",
        ("Checkpoint manager remove previous save local path: ",),
        r"^Checkpoint manager remove previous",
        _ALL,
    ),
    known_line(
        "no_tracker",
        ("skip write latest_checkpointed_iteration.txt",),
        r"^skip write latest_checkpointed_iteration\.txt",
        _ALL,
    ),
    known_line("file_logger", ("Creating file logger at ",), r"^Creating file logger at \S+", _ALL),
    known_line("rewards", ("len reward_extra_infos_dict[",), r"^len reward_extra_infos_dict\[", _ALL),
    known_line(
        "memory",
        ("memory allocated (GB): ",),
        r"memory allocated \(GB\): [\d.]+, memory reserved \(GB\): ",
        _ALL,
    ),
    known_line("schedule", ("num_warmup_steps: ",), r"^Total steps: \d+, num_warmup_steps: ", _ALL),
    known_line("config_key", ("': ",), rf"^\s+'{_OTHER_KEY}': ", _ALL),
)
