"""Orbax, console: what programs on JAX print of their checkpoints; `_orbax_checkpoints` holds what counts."""

from __future__ import annotations

from pipeline.formats._orbax_checkpoints import ALL, CHECKPOINTS, PROCESS
from pipeline.formats._orbax_records import EMERGENCY, RECORDS
from pipeline.formats.format import Format, known_line

KNOWN = (
    known_line(
        "background_thread",
        ("ackground save thread",),
        PROCESS + r"(?:Background save thread (?:started|done|was cancelled)"
        r"|(?:Waiting for|Done with waiting for|No errors found in) background save thread)",
        versions=ALL,
        note="Carries no step.",
    ),
    known_line(
        "finalize_texts",
        (
            "Starting CheckpointManager Save Finalize thread",
            "CheckpointManager Save Finalize is syncing ",
            "Save Finalize thread",
            "Finished synchronous save.",
        ),
        PROCESS + r"(?:\[wait_until_finished\] )?(?:Starting CheckpointManager Save Finalize thread"
        r"|CheckpointManager Save Finalize is syncing |No Save Finalize thread |Waiting for Save Finalize "
        r"|Done waiting for Save Finalize |Finished synchronous save\.\s*$)",
        versions=ALL,
    ),
    known_line(
        "manager_texts",
        ("CheckpointManager created,", "CheckpointManager init: ", " checkpoint steps in "),
        PROCESS + r"(?:CheckpointManager (?:created,|init: )|Found \d+ checkpoint steps in )",
        versions=ALL,
    ),
    known_line(
        "handler_texts",
        (
            "Handler Commit operations completed",
            "Initiated Pytree async_save.",
            "Commit + Array metadata written.",
            "Pytree save finalize ",
            "Using barrier_sync_fn: ",
            "CompositeCheckpointHandler.async_save.",
            "Creating tmp directory ",
            "Scheduling D2H of ",
            "Transferring arrays to host memory ",
        ),
        PROCESS + r"(?:\d+ Handler Commit operations completed|Initiated (?:Pytree|\"orbax.*\") async_save\."
        r"|Commit \+ Array metadata written\.|Pytree save finalize |Using barrier_sync_fn: "
        r"|Initiated CompositeCheckpointHandler\.async_save\.|Creating tmp directory |Scheduling D2H of "
        r"|Transferring arrays to host memory )",
        versions=ALL,
    ),
)

FORMAT = Format(
    name="orbax",
    title="Orbax checkpointing of JAX programs",
    link="https://github.com/google/orbax/tree/main/checkpoint",
    role="any",
    primary=False,
    patterns=(*CHECKPOINTS, *RECORDS, *EMERGENCY, *KNOWN),
    versions="to 0.12",
    unrendered="Its lines stand inside the logs of trainers: the simulator writes those of the third "
    "generation there.",
)
