"""NeMo: lines of its logger whose meaning is known and which a ledger does not need."""

from __future__ import annotations

from pipeline.formats._nemo_events import ALL, BEGIN
from pipeline.formats.format import known_line

KNOWN = (
    known_line(
        "ranks",
        (
            " group: ",
            " groups: ",
            " group : ",
            " group ranks: ",
            " has embedding ",
            " parallel rank: ",
            "All embedding group ranks: ",
        ),
        BEGIN + r"(?:(?:All|Rank \d+ has|Ranks \d+ has) (?:[\w -]+ )?(?:group|groups|group ranks) ?:"
        r"|Ranks? \d+ has (?:model|tensor model|pipeline model|context parallel|embedding|combined group of)"
        r"[\w ]* rank: \d)",
        versions=ALL,
    ),
    known_line(
        "checkpoint_texts",
        (
            "Async checkpointing detected, waiting for it to complete",
            "Pending async checkpoint saves.",
            "Some async checkpoint saves might be not finalized",
            "Removing unfinished ",
            "Tried to remove ",
            "Using FullyParallel",
            " dist-ckpt ",
        ),
        BEGIN + r"(?:Async checkpointing detected, |Pending async checkpoint saves\."
        r"|Some async checkpoint saves |Removing unfinished (?:dist )?checkpoint: |Tried to remove "
        r"|Using FullyParallel|Using .* dist-ckpt )",
        versions=ALL,
    ),
    known_line(
        "start_texts",
        (
            "TFLOPs per sec per GPU will be calculated",
            "Enabling fault tolerance...",
            "Enabling straggler detection...",
            "Logger has been set up",
            "No version folders would be created ",
        ),
        BEGIN + r"(?:TFLOPs per sec per GPU will be |Enabling (?:fault tolerance|straggler detection)\.\.\."
        r"|\w+Logger has been set up|.*No version folders would be created )",
        versions=ALL,
    ),
)
