"""torchft in a program of one's own: committed steps, quorums and recoveries of replica groups.

Under torchtitan the same lines stand in its console, which tells the steps itself.
"""

from __future__ import annotations

from pipeline.formats._torchft_lines import EVENTS, RANK, STEP, VERSIONS, WHO
from pipeline.formats.format import Format, Pattern, Value, known_line

#: `2026-05-02T10:20:31.551 [INFO] [torchft::manager] - [Replica rep_2] `, of the part in Rust.
_RUST = r"^(?P<ts>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+) \[[A-Z]+\] \[torchft::\w+\] - (?:\[Replica \S+\] )?"
#: `torchft::lighthouse: 2026-05-02T10:20:31.551+00:00 - INFO `, of the binary that all groups ask.
_LIGHTHOUSE = r"^torchft::lighthouse: (?P<ts>\d{4}-\d\d-\d\dT\S+) - [A-Z]+ "
_STAMP = Value(group="ts", kind="stamp", stamp="iso")

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=VERSIONS,
        literals=("should_commit=True ",),
        unique=True,
        regex=WHO + r"should_commit=True enough_replicas=",
        columns={"step_last": STEP, "ts_edge": Value(const="end"), "rank": RANK},
        note="One a step and rank. Steps count from 0: the line names those that were committed before it. A "
        "group that is healing adds nothing to the step, and prints the line all the same.",
    ),
)


def _said(name: str, head: str, literal: str, message: str, phase: str = "custom") -> Pattern:
    """Return the pattern of a moment that the part in Rust tells of."""
    columns = {
        "ts": _STAMP,
        "phase": Value(const=phase),
        "edge": Value(const="point"),
        "detail": Value(group="detail"),
    }
    return Pattern(name, "phases", columns, (literal,), f"{head}(?P<detail>{message})", versions=VERSIONS)


OTHERS = (
    Pattern(
        name="process_start",
        table="phases",
        versions=VERSIONS,
        literals=("Started CheckpointServer on ",),
        regex=r"Started CheckpointServer on \S+",
        columns={"phase": Value(const="process_start"), "edge": Value(const="point")},
    ),
    _said("killed", _RUST, "got kill request: ", r"got kill request: .*", "exit"),
    _said("quorum_late", _RUST, "lighthouse quorum timeout", r"lighthouse quorum timeout.*"),
    _said("quorum_changed", _LIGHTHOUSE, ", bumping quorum_id to ", r"Detected .*, bumping quorum_id to \d+"),
    known_line(
        "manager",
        ("[torchft::",),
        _RUST
        + r"(?:All workers joined|got lighthouse quorum [^t]|should_commit|Finished quorum|Start quorum)",
        VERSIONS,
    ),
    known_line(
        "lighthouse",
        ("torchft::lighthouse: ",),
        _LIGHTHOUSE + r"(?:Lighthouse listening on|Quorum status: |Quorum! |Replica \S+ not in quorum)",
        VERSIONS,
        note="What a status says of the next quorum is no failure.",
    ),
)

FORMAT = Format(
    name="torchft",
    title="torchft, manager of replica groups",
    link="https://github.com/meta-pytorch/torchft/blob/main/torchft/manager.py",
    role="trainer",
    patterns=(*STEPS, *EVENTS, *OTHERS),
    step_time="No step time is printed: a line ends a step, and everything between two lines is inside.",
    step_time_excludes_stalls=False,
    deciding=("step", "process_start", "not_committed", "reconfigure", "lighthouse", "quorum_changed"),
    # torchtitan tells of its steps itself.
    foreign=("[titan] ",),
    versions=VERSIONS,
)
