"""What torch.distributed.checkpoint says by itself, inside of any trainer: little, and only where it logs.

A process beside the trainer writes asynchronous saves and says when each is done, which most trainers do not.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_STEP = r"(?:(?:global_)?step[-_=]?|iter[-_]|checkpoint-)(?P<step>\d+)"
#: A path that names its step, alone or inside of the printed object.
_REQUEST = rf"(?:_CheckpointRequestIdentifier\(checkpoint_id=)?'?(?P<path>[^', ]*?{_STEP}[^', :]*)"


def _save(name: str, literals: tuple[str, ...], text: str, ok: bool, versions: str) -> Pattern:
    """Return the pattern of the end of a save in the process beside."""
    return Pattern(
        name=name,
        table="checkpoints",
        literals=literals,
        regex=rf"{text} checkpoint_id={_REQUEST}",
        columns={
            "op": Value(const="save"),
            "edge": Value(const="end"),
            "step": Value("step", "int"),
            "path": Value("path"),
            "ok": Value(const=ok),
        },
        versions=versions,
        note="Every rank's own process prints it; the checkpoint is durable when the last one has. A path "
        "without a step says nothing.",
    )


FORMAT = Format(
    name="torch_dcp",
    title="PyTorch distributed checkpoints (torch.distributed.checkpoint)",
    link="https://github.com/pytorch/pytorch/tree/main/torch/distributed/checkpoint",
    role="any",
    primary=False,
    versions="2.4 to 2.11",
    unrendered="Few trainers let it speak; what their own lines say of saves is simulated.",
    patterns=(
        _save(
            "saved",
            ("Submitted checkpoint save request for ", "Completed checkpoint save request for "),
            r"(?:Submitted|Completed) checkpoint save request for",
            True,
            "2.4 to 2.8 (`Submitted`), 2.9 to 2.11 (`Completed`)",
        ),
        _save("failed", ("Checkpoint save failed for ",), "Checkpoint save failed for", False, "2.9 to 2.11"),
        known_line(
            "process",
            (
                *("in checkpoint background process", "Checkpoint background process is "),
                *("Waiting for checkpoint save request...", "Received async checkpoint request with id="),
                *(
                    "Terminating the checkpoint background process.",
                    "Checkpoint background process encountered",
                ),
                "Checkpoint background process failed during initialization",
            ),
            r"(?:Initializing dist\.ProcessGroup in checkpoint background process"
            r"|Checkpoint background process (?:is (?:running|shutting down)\.\.\.|encountered an exception: "
            r"|failed during initialization: )"
            r"|Waiting for checkpoint save request\.\.\.|Received async checkpoint request with id="
            r"|Terminating the checkpoint background process\.)",
            "2.4 to 2.11",
        ),
        known_line(
            "advice",
            (
                "assuming the intent is to save in a single process",
                "assuming the intent is to load in a single process",
                "Detected an existing checkpoint in ",
            ),
            r"(?:assuming the intent is to (?:save|load) in a single process"
            r"|Detected an existing checkpoint in .*, overwriting since self\.overwrite)",
            "2.0 to 2.11",
        ),
    ),
)
