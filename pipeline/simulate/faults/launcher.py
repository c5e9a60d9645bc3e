"""What a rank and its launcher print of an exception: a traceback without a time, then a block with one."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.faults.kinds import GONE, STOPPED, Fault, Line, texts

_API = " 4102 torch/distributed/elastic/multiprocessing/api.py:"
_PAGE = "https://pytorch.org/docs/stable/elastic/errors.html"


def raised(*said: str) -> tuple[Line, ...]:
    """Return the traceback of a rank, which ends in what it said, and the launcher's account of it."""
    return (*traceback(*said), *worker_failed())


def traceback(*said: str) -> tuple[Line, ...]:
    """Return the traceback of a rank: nothing in it has a time."""
    frames = (
        "Traceback (most recent call last):",
        '  File "/opt/heron/pretrain.py", line 344, in <module>',
        "    main()",
        '  File "/opt/heron/training/loop.py", line 2110, in train',
        "    losses = step(batch)",
    )
    return texts("rank", "detected", 0.0, *(f"[rank{{rank}}]: {text}" for text in (*frames, *said)))


def worker_failed(exit_code: str = "1") -> tuple[Line, ...]:
    """Return what the launcher prints of a worker that failed: first remarks, then its block."""
    rule = "=" * 60
    thin = "-" * 60
    remarks = (
        f"W{{torch}}{_API}897] Sending process {{pid}} closing signal SIGTERM",
        f"E{{torch}}{_API}869] failed (exitcode: {exit_code}) local_rank: {{gpu}} (pid: {{pid}}) of binary:"
        " /usr/bin/python3",
    )
    block = (
        "Traceback (most recent call last):",
        '  File "/usr/local/bin/torchrun", line 8, in <module>',
        "    sys.exit(main())",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        rule,
        "pretrain.py FAILED",
        thin,
        "Failures:",
        "  <NO_OTHER_FAILURES>",
        thin,
        "Root Cause (first observed failure):",
        "[0]:",
        "  time      : {failed_at}",
        "  host      : {host}",
        "  rank      : {failed} (local_rank: {gpu})",
        f"  exitcode  : {exit_code} (pid: {{pid}})",
        "  error_file: <N/A>",
        f"  traceback : To enable traceback see: {_PAGE}",
        rule,
    )
    return (
        *texts("launcher", "detected", 0.9, *remarks),
        *texts("launcher", "detected", 3.0, *block),
    )


TASK_EXITED = Line("scheduler", "srun: error: {host}: task {rank}: Exited with exit code 1", "left", -0.3)


def raises(name: str, cause: str, *said: str, when: str = "any") -> Fault:
    """Return an end by an exception of one rank: only the block of the launcher has a time."""
    lines = (*raised(*said), TASK_EXITED, *STOPPED)
    found = Fault(name, cause, "unplanned", "undated", lines, (0.1, 0.5))
    return replace(found, when="start") if when == "start" else found


def dies(name: str, cause: str, *lines: Line, exit_code: str = "1:0") -> Fault:
    """Return an end of one process that the scheduler sees at once: it takes the others down."""
    said = (*lines, replace(STOPPED[0], moment="detected", after_s=0.2), GONE)
    return Fault(name, cause, "unplanned", "error", said, (0.1, 0.6), (5.0, 60.0), exit_code=exit_code)
