"""The PyTorch launcher (torchrun, torchelastic): its remarks, and the block that it prints last.

Every node runs a launcher of its own, which prints its own block. ``Root Cause (first observed failure)``
is the first failure among the workers of that node, to the second: the first of the whole job is the
smallest time over all blocks. Remarks at level INFO are missing unless somebody asked for them; failures
never are.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

# Three generations of headers before the same messages:
#   ERROR:torch.distributed.elastic.multiprocessing.api:                        to 2.0, without a time
#   [2026-01-08 08:47:31,877] torch.distributed.elastic.agent.server.api: [ERROR]     2.1 and 2.2
#   E0801 13:23:20.000000 32974 torch/distributed/elastic/multiprocessing/api.py:874]  from 2.3 on
_PACKAGE = "(?:elastic|run|launcher)"
_HEADER = (
    rf"^(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):torch\.distributed\.{_PACKAGE}[\w.]*:"
    rf"|\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d,\d{{3}}\] torch\.distributed\.{_PACKAGE}[\w.]*: \[[A-Z]+\]"
    rf"|[VIWEC]\d{{4}} \d\d:\d\d:\d\d\.\d+ \d+ (?:\S*/)?torch/distributed/{_PACKAGE}[\w./]*:\d+\]) ?"
)
# The role stands in brackets before some remarks: [default], [trainer].
_ROLE = r"(?:\[[\w-]+\] )?"

_REMARKS = (
    r"Starting elastic_operator with launch configs"
    r"|starting workers for entrypoint|Rendezvous'ing worker group|Rendezvous complete for workers"
    r"|Stopping worker group|worker group successfully finished|Local worker group finished"
    r"|Done waiting for other agents|Unable to shutdown process"
    r"|The node '|Rendezvous gracefully exited|local_rank \d+ FAILED with no error file|Using nproc_per_node"
    r"|Setting OMP_NUM_THREADS|log directory set to|Setting worker\d+ reply file|\*{5}|Reading log"
)


def _remark(name: str, message: str, columns: dict[str, Value] | None = None, literal: str = "") -> Pattern:
    """Return the pattern of a remark; without columns it is known and carries nothing."""
    return Pattern(
        name=name,
        table="phases" if columns else "",
        columns=columns or {},
        literals=(literal,) if literal else ("torch.distributed.", "torch/distributed/"),
        regex=_HEADER + _ROLE + message,
    )


def _point(phase: str, **columns: Value) -> dict[str, Value]:
    """Return the columns of a moment of a phase."""
    return {"phase": Value(const=phase), "edge": Value(const="point"), **columns}


FORMAT = Format(
    name="torchrun",
    title="PyTorch launcher (torchrun, torchelastic)",
    link="https://docs.pytorch.org/docs/stable/elastic/run.html",
    role="any",
    primary=False,
    versions="1.9 to 2.9",
    patterns=(
        _remark(
            "worker_failed",
            r"(?P<what>failed \(exitcode: -?\d+\) local_rank: \d+)",
            _point("exit", detail=Value("what")),
            literal="failed (exitcode: ",
        ),
        _remark(
            # The first thing that it does about a failure: it says what failed when the others have gone.
            "closing_others",
            r"Sending process \d+ closing signal ",
            _point("exit", detail=Value(const="closing_others")),
            literal=" closing signal ",
        ),
        _remark(
            "group_restart",
            r"(?P<what>Worker group (?:FAILED|UNHEALTHY)\. \d+/\d+ attempts left; will restart worker group)",
            _point("exit", detail=Value("what")),
            literal="will restart worker group",
        ),
        _remark(
            "membership_change",
            r"(?P<what>Detected \d+ new nodes from group_rank=\d+; will restart worker group)",
            _point("exit", detail=Value("what")),
            literal="will restart worker group",
        ),
        _remark(
            "told_to_stop",
            r"(?P<what>Received \S+ death signal, shutting down workers)",
            _point("exit", detail=Value("what")),
            literal="death signal, shutting down workers",
        ),
        _remark(
            # A start of one node's workers; the trainer's own first line starts the attempt.
            "workers_start",
            r"(?P<what>Starting worker group)",
            _point("custom", detail=Value("what")),
            literal="Starting worker group",
        ),
        # Its time says that the launcher lived, long before a trainer speaks.
        _remark("remark", rf"(?:{_REMARKS})", _point("custom", detail=Value(const="launcher"))),
        _remark("continued", r"(?: {2,}\S|\s*$)"),
        known_line("block_rule", ("=" * 60, "-" * 60), r"^(?:={60}|-{60})\s*$"),
        known_line("block_title", (" FAILED",), r"^\S+ FAILED\s*$"),
        known_line(
            "block_heading",
            ("Failures:", "Root Cause", "<NO_OTHER_FAILURES>"),
            r"^\s*(?:(?:Other )?Failures:|Root Cause(?: \([a-z ]+\))?:|<NO_OTHER_FAILURES>)\s*$",
        ),
        known_line("block_number", tuple(f"[{digit}]:" for digit in range(10)), r"^\[\d\]:\s*$"),
        Pattern(
            name="block_time",
            table="phases",
            columns={
                "ts": Value("at", "stamp", stamp="iso"),
                **_point("exit", detail=Value(const="worker failed")),
            },
            literals=("  time      : ", "  time: "),
            regex=r"^\s+time\s*: (?P<at>\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d)\s*$",
            note="Local time of the node, with the year that the headers lack; without an error file it is "
            "the moment at which the launcher noticed.",
        ),
        known_line(
            "block_field",
            ("  host      : ", "(local_rank: ", "  exitcode", "  error_file: ", "  traceback : ", "  msg: "),
            r"^\s+(?:host\s*: \S|rank\s*: \d+ \(local_rank: \d+\)|exitcode\s*: -?\d+|error_file\s*: \S"
            r"|traceback\s*: \S|msg\s*: \")",
        ),
    ),
)
