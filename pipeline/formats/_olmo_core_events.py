"""OLMo-core: start, evaluations, pauses and end of a process."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._olmo_head import head, told
from pipeline.formats.format import Pattern, Value

_TRAINER = head(r"olmo_core\.train\.trainer")
_EVALUATOR = head(r"olmo_core\.train\.callbacks\.evaluator_callback")
_DETAIL = Value(group="detail")
_ALL = "1.0.0 to 2.5.0"


def _columns(phase: str, edge: str, **more: Value) -> Mapping[str, Value]:
    """Return the columns of one kind of line: its phase and edge, and what else it tells."""
    return told(phase=Value(const=phase), edge=Value(const=edge), **more)


START = (
    Pattern(
        name="initialized",
        table="phases",
        versions=_ALL,
        literals=("Using distributed backend ",),
        regex=head(r"olmo_core\.train") + r"Using distributed backend (?P<detail>\S+)",
        columns=_columns("init", "end", detail=_DETAIL),
        note="The first line of a process: before it the ranks have met.",
    ),
    Pattern(
        name="optimizer",
        table="phases",
        versions="2.0.0 to 2.5.0",
        literals=("Building optimizer",),
        regex=head(r"olmo_core\.train\.train_module\.[\w.]+") + r"Building optimizer(?:\(s\))?\.\.\.",
        columns=_columns("model_setup", "point"),
        note="The model is built and spread over the ranks.",
    ),
    Pattern(
        name="dry_run_begin",
        table="phases",
        versions="1.8.0 to 2.5.0",
        literals=("Starting forward/backward dry-run batch...",),
        regex=_TRAINER + r"Starting forward/backward dry-run batch",
        columns=_columns("compile", "begin"),
        note="A batch that trains nothing: what is compiled is compiled here.",
    ),
    Pattern(
        name="dry_run_end",
        table="phases",
        versions="1.8.0 to 2.5.0",
        literals=("Dry-run complete",),
        regex=_TRAINER + r"Dry-run complete",
        columns=_columns("compile", "end"),
    ),
    Pattern(
        name="loop",
        table="phases",
        versions=_ALL,
        literals=("Starting epoch ",),
        regex=_TRAINER + r"Starting (?P<detail>epoch \d+)\.\.\.",
        columns=_columns("loop", "begin", detail=_DETAIL),
    ),
)

PAUSES = (
    Pattern(
        name="eval_begin",
        table="phases",
        versions="1.8.0 to 2.5.0",
        literals=(" evals...",),
        regex=_EVALUATOR + r"Running (?P<detail>.+) evals\.\.\.",
        columns=_columns("eval", "begin", detail=_DETAIL),
    ),
    Pattern(
        name="eval_end",
        table="phases",
        versions="1.8.0 to 2.5.0",
        literals=(" seconds. Metrics:",),
        regex=_EVALUATOR + r"Finished (?P<detail>.+) evals in (?P<seconds>[\d.,]+) seconds\. Metrics:",
        columns=_columns("eval", "end", detail=_DETAIL, duration_s=Value(group="seconds", kind="float")),
        note="An evaluation comes before the line of the step after which it runs.",
    ),
    Pattern(
        name="gc",
        table="phases",
        versions=_ALL,
        literals=("Running garbage collection",),
        regex=head(r"olmo_core\.train\.callbacks\.garbage_collector") + r"Running garbage collection",
        columns=_columns("gc", "point"),
    ),
    Pattern(
        name="profile_begin",
        table="phases",
        versions=_ALL,
        literals=("Saving chrome trace from profiler...",),
        regex=head(r"olmo_core\.train\.callbacks\.profiler") + r"Saving chrome trace from profiler",
        columns=_columns("profile", "begin"),
    ),
    Pattern(
        name="profile_end",
        table="phases",
        versions=_ALL,
        literals=("Chrome trace saved to '",),
        regex=head(r"olmo_core\.train\.callbacks\.profiler") + r"Chrome trace saved to '",
        columns=_columns("profile", "end"),
    ),
)

END = (
    Pattern(
        name="canceled",
        table="phases",
        versions=_ALL,
        literals=("Run canceled from ",),
        regex=_TRAINER + r"Run (?P<detail>canceled from (?:rank \d+|all ranks)\. Reason: .*)",
        columns=_columns("exit", "point", detail=_DETAIL),
        note="The loop ends after this step, and the last checkpoint is saved.",
    ),
    Pattern(
        name="failed",
        table="phases",
        versions="1.8.0 to 2.5.0",
        literals=("Training failed due to:",),
        regex=_TRAINER + r"Training failed due to:",
        columns=_columns("exit", "point", detail=Value(const="failed")),
        note="The reason stands in the next line.",
    ),
    Pattern(
        name="ended",
        table="phases",
        versions=_ALL,
        literals=("Training complete",),
        regex=_TRAINER + r"(?P<detail>Training complete)$",
        columns=_columns("exit", "point", detail=_DETAIL),
        note="Printed by a run that was canceled as well: only the last step tells whether it is finished.",
    ),
)

EVENTS = (*START, *PAUSES, *END)
