"""torchft: what the manager of a replica group says, behind the header of whatever program it runs in."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value, known_line

VERSIONS = "2025-02 to 2026-04"
#: `[rep_2:7c1e0f9a/0 - step 881] `: replica group, rank in it, and the steps that were committed so far.
WHO = r"\[(?P<replica>[^\s\[\]]+)/(?P<rank>\d+) - step (?P<step>\d+)\] "
RANK = Value(group="rank", kind="int")
STEP = Value(group="step", kind="int")


def event(name: str, literal: str, message: str, phase: str = "custom", note: str = "") -> Pattern:
    """Return the pattern of a moment that the manager tells of; ``message`` captures the detail."""
    return Pattern(
        name,
        "phases",
        {
            "phase": Value(const=phase),
            "edge": Value(const="point"),
            "step": STEP,
            "rank": RANK,
            "detail": Value(group="detail"),
        },
        (literal,),
        WHO + f"(?P<detail>{message})",
        versions=VERSIONS,
        note=note,
    )


EVENTS = (
    event(
        "not_committed",
        "should_commit=False",
        r"should_commit=False enough_replicas=\w+.*",
        note="The step is lost for every replica, and is tried again under the same number.",
    ),
    event("reconfigure", "reconfiguring for quorum_id=", r"reconfiguring for quorum_id=\d+"),
    event("heals_others", "peers need recovery from us", r"peers need recovery from us \[[\d, ]*\]"),
    event(
        "replica_error",
        "] got exception ",
        r"got exception (?:in pg configure|in recovery|waiting for work|in future).*",
    ),
    event(
        "gave_up",
        "exceeding max_retries=",
        r"should_commit failed \d+ times consecutively, exceeding max_retries=\d+",
        phase="exit",
    ),
    Pattern(
        name="healing",
        table="checkpoints",
        versions=VERSIONS,
        literals=("healing required, ",),
        # A group that has committed nothing yet has just begun; a later one goes on where it is.
        regex=r"\[\S+/(?P<rank>\d+) - step 0\] healing required, fetching checkpoint metadata from .*"
        r"max_step=(?P<step>\d+)",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="begin"),
            "step": STEP,
            "rank": RANK,
            "tier": Value(const="memory"),
        },
        note="From the memory of another group.",
    ),
    Pattern(
        name="healing_again",
        table="phases",
        versions=VERSIONS,
        literals=("healing required, ",),
        regex=r"\[\S+/(?P<rank>\d+) - step [1-9]\d*\] (?P<detail>healing required), .*max_step=(?P<step>\d+)",
        columns={
            "phase": Value(const="custom"),
            "edge": Value(const="point"),
            "step": STEP,
            "rank": RANK,
            "detail": Value(group="detail"),
        },
    ),
    known_line(
        "healing_steps",
        ("fetching checkpoint from recover_src", "applying pending state dict", "Loaded state dict."),
        WHO + r"(?:fetching checkpoint from recover_src|applying pending state dict|Loaded state dict\.)",
        VERSIONS,
    ),
    known_line(
        "transfer",
        (" took ",),
        r"(?:transferring state_dict to CPU|preparing state_dict|send (?:tensors|pickle)) took [\d.e-]+s",
        VERSIONS,
    ),
    known_line(
        "fragment",
        (" fragment=",),
        r"(?:Preparing|Syncing) fragment=\d+ step=\d+",
        VERSIONS,
    ),
)
