"""Cases of causal chains: one text file each, unpacked into a folder of logs.

A case is a head of ``key = value`` lines in TOML between its reason and its files, and files that each begin
with ``==== path``. What every case has in common is written for it: sixteen GPUs on two hosts, a job of Slurm
that starts at 10:00:00 on 2026-03-02, and a trainer whose steps take ten seconds each, from 10:01:10 (step 1)
to 10:06:00 (step 30), with a save at step 20. A file of the case that has the same path as a common one is
appended to it, or takes its place where it begins with ``===! path``.

``[expect]`` holds columns of the incident, ``[phases]`` its points and when they were, or why nothing tells,
and ``[recovery]`` columns of `marts.recovery`; all of attempt 1, or of ``expect.attempt``. ``[attempts]``
holds columns of all incidents of the run, in the order of its attempts. A line ``@restart 10:06:30 20 40``
stands for what the trainer prints when it starts again: its first stamp 20 s after that time, the load of
step 20, and steps to 40, of which the first begins 40 s after it.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

CASES = Path(__file__).resolve().parent / "chains"
START = datetime(2026, 3, 2, 10, tzinfo=UTC)
ACCOUNTING = (
    "JobIDRaw|JobID|Cluster|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|Suspended|"
    "TimelimitRaw|NNodes|AllocTRES|ExitCode|DerivedExitCode|FailedNode|Reason|NodeList|Restarts|JobName\n"
)
HEAD = """\
 0: using world size: 16, data-parallel size: 2, context-parallel size: 1, tensor-model-parallel size: 8, \
pipeline-model-parallel size: 1
 0: > initializing torch distributed ...
 0: time to initialize megatron (seconds): 12.000
 0: [after megatron is initialized] datetime: 2026-03-02 10:00:40.000000
 0: WARNING: could not find the metadata file /ckpt/heron/latest_checkpointed_iteration.txt
 0:     will not load any checkpoints and will start from random
 0: [after dataloaders are built] datetime: 2026-03-02 10:00:50.000000
 0: [before the start of training step] datetime: 2026-03-02 10:01:00.000000
"""
STEP = (
    "15:  [{at:%Y-%m-%d %H:%M:%S.%f}] iteration {step:8d}/     400 | consumed samples: {samples:12d} | "
    "elapsed time per iteration (ms): 10000.0 | learning rate: 1.000000E-04 | global batch size:    64 | "
    "lm loss: 3.412205E+00 | loss scale: 1.0 | grad norm: 0.912 | number of skipped iterations:   0 | "
    "number of nan iterations:   0 |\n"
)
SAVED = (
    " 0: [2026-03-02 10:04:20.100000] saving checkpoint at iteration      20 to /ckpt/heron "
    "in torch_dist format\n"
    " 0: [2026-03-02 10:04:21.100000]   successfully saved checkpoint from iteration      20 to /ckpt/heron "
    "[ t 1/8, p 1/1 ]\n"
)
#: A restart: processes are up at second 8, 12 s before the first stamp; the load ends with the second.
RESTART = """\
 0: using world size: 16, data-parallel size: 2, context-parallel size: 1, tensor-model-parallel size: 8, \
pipeline-model-parallel size: 1
 0: > initializing torch distributed ...
 0: time to initialize megatron (seconds): 12.000
 0: [after megatron is initialized] datetime: {0:%Y-%m-%d %H:%M:%S.%f}
 0:  loading checkpoint from /ckpt/heron at iteration {loaded}
 0:   successfully loaded checkpoint from /ckpt/heron [ t 1/8, p 1/1 ] at iteration {loaded}
 0: [after model, optimizer, and learning rate scheduler are built] datetime: {1:%Y-%m-%d %H:%M:%S.%f}
 0: [after dataloaders are built] datetime: {2:%Y-%m-%d %H:%M:%S.%f}
 0: [before the start of training step] datetime: {3:%Y-%m-%d %H:%M:%S.%f}
"""


#: How the files of a case end that only kernels and drivers write.
KERNELS = (".dmesg.txt", ".syslog", ".nvidia-smi.txt")


@dataclass(frozen=True)
class Chain:
    """A case: its name, what is expected of it, what its common files need, and its own files."""

    name: str
    expect: dict[str, Any]
    phases: dict[str, str]
    recovery: dict[str, Any]
    attempts: dict[str, list[Any]]
    more: dict[str, Any]
    files: tuple[tuple[str, str, bool], ...]

    @property
    def run(self) -> str:
        """Name of the run: the folder of the case."""
        return self.name


def read_chain(path: Path) -> Chain:
    """Read a case of one file."""
    head, *parts = re.split(r"^===([=!]) (\S+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    more = tomllib.loads(head)
    expect = more.pop("expect")
    phases, recovery, attempts = (more.pop(part, {}) for part in ("phases", "recovery", "attempts"))
    files = tuple((parts[i + 1], parts[i + 2], parts[i] == "!") for i in range(0, len(parts), 3))
    return Chain(path.stem, expect, phases, recovery, attempts, more, files)


def read_chains() -> tuple[Chain, ...]:
    """Read all cases, by name."""
    return tuple(read_chain(path) for path in sorted(CASES.glob("*.txt")))


def without_kernels(chain: Chain) -> Chain:
    """Return a case of which the logs of kernels are lost, on other hosts and in another job."""

    def elsewhere(text: str) -> str:
        text = re.sub(r"\bgx(\d{3,4})\b", r"gx5\1", text)
        text = re.sub(r"\bgx\[(\d{3,4})([-,])(\d{3,4})\]", r"gx[5\1\g<2>5\3]", text)
        return text.replace(str(chain.more["job"]), str(chain.more["job"] + 20_000))

    more = {
        **chain.more,
        "job": chain.more["job"] + 20_000,
        "hosts": [elsewhere(host) for host in chain.more["hosts"]],
    }
    expect = {
        name: elsewhere(value) if isinstance(value, str) else value for name, value in chain.expect.items()
    }
    files = tuple(
        (elsewhere(path), elsewhere(text), instead)
        for path, text, instead in chain.files
        if not path.endswith(KERNELS)
    )
    return replace(chain, name=f"{chain.name}_blind", expect=expect, more=more, files=files)


def steps(first: int, last: int) -> str:
    """Return step lines, ten seconds apart, and the save that lies among them."""
    lines = ""
    for step in range(first, last + 1):
        at = START + timedelta(seconds=60 + 10 * step)
        lines += STEP.format(at=at, step=step, samples=64 * step) + (SAVED if step == 20 else "")
    return lines


def restart(order: re.Match[str]) -> str:
    """Return what a trainer prints that starts again, as a line ``@restart`` orders it."""
    begin = datetime.combine(START, time.fromisoformat(order[1]), UTC)
    loaded, last = int(order[2]), int(order[3])
    lines = RESTART.format(*(begin + timedelta(seconds=s) for s in (20, 28, 30, 40)), loaded=loaded)
    for step in range(loaded + 1, last + 1):
        at = begin + timedelta(seconds=40 + 10 * (step - loaded))
        lines += STEP.format(at=at, step=step, samples=64 * step)
    return lines


def common_files(chain: Chain) -> dict[str, str]:
    """Return the files that a case has in common with the others."""
    more = chain.more
    if more.get("bare", False):
        return {}
    job, (low, high) = more["job"], more["hosts"]
    end = datetime.strptime(f"2026-03-02 {more['end']}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    seconds = int((end - START).total_seconds())
    state, code = more.get("state", "FAILED"), more.get("code", "1:0")
    row = (
        f"{job}|{job}|aviary|mira|llm|h100|normal|{state}|2026-03-02T09:50:00|2026-03-02T09:50:00|"
        f"2026-03-02T10:00:00|{end:%Y-%m-%dT%H:%M:%S}|{seconds}|00:00:00|1440|2|billing=2,cpu=448,gres/gpu=16,"
        f"mem=3584G,node=2|{code}|{code}||None|gx[{low[2:]},{high[2:]}]|0|{chain.run}\n"
    )
    return {
        "sacct.txt": ACCOUNTING + row,
        # Copies of one file are read once: each case saves to a folder of its own.
        f"job-{job}.out": (HEAD + steps(1, more.get("steps", 30))).replace(
            "/ckpt/heron", f"/ckpt/{chain.run}"
        ),
    }


def unpack(chain: Chain, logs: Path) -> None:
    """Write the logs of a case below a folder that is the run's own."""

    def again(order: re.Match[str]) -> str:
        return restart(order).replace("/ckpt/heron", f"/ckpt/{chain.run}")

    files = common_files(chain)
    for path, text, instead in chain.files:
        name = path.replace("JOB", str(chain.more.get("job", "")))
        files[name] = text if instead or name not in files else files[name] + text
    for name, text in files.items():
        text = re.sub(r"^@restart (\S+) (\d+) (\d+)\n", again, text, flags=re.MULTILINE)
        target = logs / chain.run / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
