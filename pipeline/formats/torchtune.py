"""torchtune: what its recipes print, bars and metrics included."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "0.1 to 0.7"
_CLIENT = "0.6 to 0.7"

#: Level and module stand in front where somebody has set up Python's logging.
_HEAD = r"^(?:[A-Z]+:torchtune\.[\w.]*logging:)?"

#: 2|31|Loss: 1.4375:   7%|▋         | 2/30 [00:21<05:01, 10.8s/it]
_BAR = r"^\d+\|(?P<step>\d+)\|Loss: (?P<loss>[\w.+-]+): +\d+%\|[^|]*\| "

_SECONDS = Value("seconds", "float")


def _phase(
    name: str,
    phase: str,
    edge: str,
    literals: tuple[str, ...],
    regex: str,
    versions: str = _ALL,
    note: str = "",
    **more: Value,
) -> Pattern:
    """Return the pattern of a line that tells of a phase."""
    columns = {"phase": Value(const=phase), "edge": Value(const=edge), **more}
    return Pattern(name, "phases", columns, literals, _HEAD + regex, versions=versions, note=note)


def _checkpoint(
    name: str, op: str, edge: str, literal: str, regex: str, versions: str, note: str = "", **more: Value
) -> Pattern:
    """Return the pattern of a line that tells of a save or a load."""
    columns = {"op": Value(const=op), "edge": Value(const=edge), **more}
    return Pattern(name, "checkpoints", columns, (literal,), _HEAD + regex, versions=versions, note=note)


STEPS = (
    Pattern(
        name="bar",
        table="steps",
        versions="0.2 to 0.7",
        literals=("|Loss: ",),
        regex=_BAR + r"(?:[2-9]|[1-9]\d+)/\d+ \[(?P<elapsed>\d[\d:]*)<",
        columns={
            "step_last": Value("step", "int"),
            "elapsed_s": Value("elapsed", "seconds"),
            "loss": Value("loss", "float"),
        },
        note="Drawn twice in a step: when the count has grown, and when its number is put in front. So the "
        "first line of a step stands at its end. Before 0.2 the number was that of a batch of the epoch.",
    ),
    Pattern(
        name="bar_of_first_step",
        table="steps",
        versions="0.2 to 0.7",
        literals=("|Loss: ",),
        regex=_BAR + r"1/\d+ \[(?P<elapsed>\d[\d:]*)<",
        columns={
            "step_last": Value("step", "int"),
            "elapsed_s": Value("elapsed", "seconds"),
            "step_time_s": Value("elapsed", "seconds"),
            "loss": Value("loss", "float"),
        },
        note="Each epoch has a bar of its own, as old as its first step is long.",
    ),
    Pattern(
        name="metrics",
        table="steps",
        versions=_ALL,
        literals=(" | loss:",),
        regex=r"(?:^|\])Step (?P<step>\d+) \| loss:(?P<loss>[\w.+-]+) ",
        columns={"step_last": Value("step", "int"), "loss": Value("loss", "float")},
        extras={
            "tokens_per_s_per_gpu": (r" tokens_per_second_per_gpu:(?P<v>[\d.e+-]+)", Value(kind="float")),
            "grad_norm": (r" grad_norm:(?:tensor\()?(?P<v>[\w.+-]+)", Value(kind="float")),
        },
        note="Printed where the metrics go to standard output instead of to a file, then right behind a bar.",
    ),
)

START = (
    _phase(
        "process_start",
        "process_start",
        "point",
        (" with resolved config:",),
        r"Running \w+ with resolved config:$",
        note="Its configuration follows, as YAML.",
    ),
    _phase(
        "log_file",
        "init",
        "point",
        ("Writing logs to ",),
        r"Writing logs to \S*/log_(?P<at>\d{10})\.txt$",
        note="The name of the file is the time at which it was opened: the only one that a recipe prints.",
        ts=Value("at", "stamp", stamp="epoch_s"),
    ),
    _phase(
        "model_begin",
        "model_setup",
        "begin",
        (" is enabled. Instantiating ",),
        r"(?:FSDP|Distributed training) is enabled\. Instantiating [Mm]odel .* Rank 0 \.\.\.$",
    ),
    _phase(
        "model_end",
        "model_setup",
        "end",
        ("Model instantiation took ", "Instantiating model and loading checkpoint took "),
        r"(?:Model instantiation|Instantiating model and loading checkpoint) took (?P<seconds>[\d.]+) secs",
        note="Since 0.3 the weights are loaded in it.",
        duration_s=_SECONDS,
    ),
    _phase(
        "model_of_one_device",
        "model_setup",
        "end",
        ("Model is initialized with precision ",),
        r"Model is initialized with precision torch\.",
    ),
    _phase(
        "data",
        "data_setup",
        "point",
        ("Dataset and Sampler are initialized.",),
        r"Dataset and Sampler are initialized\.",
        "0.1 to 0.5",
    ),
)

CHECKPOINTS = (
    _checkpoint(
        "recipe_state",
        "load",
        "begin",
        "Loading the recipe state using: ",
        r"Loading the recipe state using: $",
        "0.4 to 0.7",
        "A resume from the files of an epoch; they do not tell their step, and no line tells the end.",
    ),
    _checkpoint(
        "load_begin",
        "load",
        "begin",
        "Loading checkpoint from ",
        r"Loading checkpoint from (?P<path>\S*/(?:epoch_\d+|step_(?P<step>\d+))\S*)$",
        _CLIENT,
        path=Value("path"),
        step=Value("step", "int"),
    ),
    _checkpoint(
        "load_end",
        "load",
        "end",
        "DistributedCheckpointer loaded the ",
        r"DistributedCheckpointer loaded the (?:adapter )?checkpoint in (?P<seconds>[\d.]+) seconds\.",
        _CLIENT,
        blocking_s=_SECONDS,
    ),
    _checkpoint(
        "save_begin",
        "save",
        "begin",
        "Saving checkpoint",
        r"Saving checkpoint(?:\. This may take some time| asynchronously)\. ",
        "0.5 to 0.7",
        "Before 0.5 only the files are told, each when it was written.",
    ),
    _checkpoint(
        "save_end",
        "save",
        "span",
        "Saving checkpoint took ",
        r"Saving checkpoint took (?P<seconds>[\d.]+) secs",
        "0.5 to 0.7",
        "The loop waits for all of it.",
        blocking_s=_SECONDS,
        ok=Value(const=True),
    ),
    _checkpoint(
        "async_blocked",
        "save",
        "blocked",
        "Saving asynchronous checkpoint took ",
        r"Saving asynchronous checkpoint took (?P<seconds>[\d.]+) secs",
        _CLIENT,
        blocking_s=_SECONDS,
    ),
    _checkpoint(
        "async_end",
        "save",
        "end",
        " asynchronously to ",
        r"Rank (?P<rank>\d+): Checkpoint (?P<how>is saved|failed to save) asynchronously to (?P<path>\S+) ",
        _CLIENT,
        path=Value("path"),
        rank=Value("rank", "int"),
        ok=Value("how", "bool", mapping={"is saved": "true", "*": "false"}),
    ),
    _phase(
        "validation",
        "eval",
        "point",
        ("Validation loss: ",),
        r"Validation loss: [\w.+-]+$",
        "0.7",
        "How long it took is not told; the clock of the bar goes on.",
    ),
)

KNOWN = (
    known_line(
        "bar_begin",
        ("it/s]",),
        r"^\s*0%\|[^|]*\| 0/\d+ \[00:00<\?, \?it/s\]$",
        note="A bar that was just drawn.",
    ),
    known_line(
        "set_up",
        (" initialized", "optimizers are set up.", "No learning rate scheduler ", "rofil"),
        _HEAD
        + r"(?:(?:Tokenizer|Optimizer|Loss|Optimizer and loss|Learning rate scheduler) (?:is|are) initialized"
        r"|In-backward optimizers are set up\.|No learning rate scheduler configured\. | ?Profil)",
    ),
    known_line(
        "seed",
        ("Setting manual seed to local seed ",),
        _HEAD + r"Setting manual seed to local seed \d+\. Local seed is seed \+ rank = ",
    ),
    known_line("memory", ("Memory stats after ",), _HEAD + r"Memory stats after "),
    known_line("memory_value", (" peak memory ",), r"^\s*[A-Z]+ peak memory \w+: [\d.]+ GiB$"),
    known_line(
        "parts",
        (
            "checkpoint of size ",
            "state dict",
            "Saving final epoch checkpoint.",
            "The full model checkpoint, ",
        ),
        _HEAD + r"(?:(?:Model|Adapter|Recipe) checkpoint of size [\d.]+ Gi?B saved to "
        r"|Getting (?:full model|optimizer) state dict(?: took |\.\.\.)"
        r"|Saving final epoch checkpoint\.|The full model checkpoint, including all weights )",
        note="Parts of a checkpoint.",
    ),
    known_line(
        "async_rank",
        ("Trainer was blocked for ", "previous checkpoint "),
        _HEAD
        + r"Rank \d+: (?:Trainer was blocked for |previous checkpoint has not |waited [\d.]+ seconds for )",
        _CLIENT,
        note="Each rank tells its own; the wait for a save that goes on lies in the time of the next one.",
    ),
    known_line("validation_metric", (" | val_loss:",), r"(?:^|\])Step \d+ \| val_loss:", "0.7"),
)

FORMAT = Format(
    name="torchtune",
    title="torchtune, console of its recipes",
    link="https://github.com/pytorch/torchtune/tree/main/recipes",
    role="trainer",
    patterns=(*STEPS, *START, *CHECKPOINTS, *KNOWN),
    step_time="There is none, but the clock of the bar, in whole seconds since an epoch began: data and "
    "validation lie in it, the save at the end of an epoch does not. The rate beside it is smoothed and "
    "not read.",
    step_time_excludes_stalls=False,
    deciding=("process_start", "model_begin", "bar", "bar_of_first_step", "async_end"),
    needs_proof=True,
    unrendered="Its lines carry no time, and its bars count whole seconds with a clock that begins anew in "
    "each epoch: no story could come out of them exactly.",
    versions=_ALL,
    elapsed_per_epoch=True,
    next_save_waits=True,
)
