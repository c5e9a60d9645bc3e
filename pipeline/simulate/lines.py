"""Lines that a story leaves behind, before they are put into files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from pipeline.simulate.faults import BY_NAME, Line
from pipeline.simulate.faults.kinds import Place
from pipeline.simulate.ranges import host_list, number_list
from pipeline.simulate.story import SECOND, Attempt, End, Job, Run

#: Stamps are the clock of the host that prints them.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Printed(NamedTuple):
    """A line: when it was printed, by which rank (-1 for none), on which stream, its text, and the host.

    A text may begin with a line end, where a program ends whatever line it finds before it prints its own.
    """

    time_us: int
    rank: int
    stream: str
    text: str
    host: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """How programs print.

    Attributes:
        log_interval: steps for each step line.
        offset_s: what local clocks are ahead of UTC.
        skew_us: by host, what its clock is ahead of the others; by no name, that of the host that prints.
    """

    log_interval: int = 1
    offset_s: int = 0
    skew_us: Mapping[str, int] = field(default_factory=dict)

    def local(self, time_us: int, host: str = "") -> datetime:
        """Return the time that a clock on a wall beside a host shows."""
        shown = time_us + self.skew_us.get(host, 0)
        return (_EPOCH + timedelta(microseconds=shown)).astimezone(timezone(timedelta(seconds=self.offset_s)))

    def at(self, host: str) -> Style:
        """Return the style of a program that runs on a host and prints its clock."""
        return (
            replace(self, skew_us={**self.skew_us, "": self.skew_us.get(host, 0)}) if self.skew_us else self
        )


#: Into which kind of file each place writes.
_FILES: dict[Place, str] = {
    "kernel": "kernel",
    "kernels": "kernel",
    "rank": "rank",
    "ranks": "rank",
    "launcher": "rank",
    "launchers": "rank",
    "scheduler": "scheduler",
    "daemon": "daemon",
}


def last_words(run: Run, job: Job, attempt: Attempt, style: Style, place: str) -> Iterator[Printed]:
    """Yield what the end of an attempt leaves in a file: ``rank``, ``scheduler``, ``kernel``, ``daemon``."""
    end = attempt.end
    assert end is not None
    for line in BY_NAME[end.fault].lines:
        if _FILES[line.place] == place:
            yield from _said(run, job, attempt, style, line)


def _said(run: Run, job: Job, attempt: Attempt, style: Style, line: Line) -> Iterator[Printed]:
    """Yield a line of an end, once for every rank, or every host, that prints it."""
    end = attempt.end
    assert end is not None
    moments = {"told": end.told_us, "stop": end.stop_us, "detected": end.detected_us, "left": end.left_us}
    time_us = (moments[line.moment] or end.stop_us) + round(line.after_s * SECOND)
    for at, rank in enumerate(_speakers(run, job, end, line.place)):
        when = time_us + 110_000 * at
        host = job.hosts[0] if line.place == "scheduler" else job.hosts[rank // run.gpus_per_host]
        facts = _facts(run, job, attempt, style.local(when, host), rank, style)
        if "{others}" in line.text:
            facts["others"] = others = _others(run, job, end)
            if not others:
                continue
        text = line.text.format_map(facts)
        silent = line.place in ("scheduler", "kernel", "kernels", "daemon")
        yield Printed(when, -1 if silent else rank, "err", text, host)


def _speakers(run: Run, job: Job, end: End, place: Place) -> list[int]:
    """Return the ranks that print a line; for hosts their first."""
    own = end.rank // run.gpus_per_host * run.gpus_per_host
    firsts = list(range(0, job.gpus, run.gpus_per_host))
    if place == "ranks":
        # The rank at fault says nothing; of the others a few are enough.
        others = [rank for rank in range(job.gpus) if rank - rank % run.gpus_per_host != own]
        return others[:: max(1, len(others) // 3)] or [(end.rank + 1) % max(job.gpus, 1)]
    if place == "launchers":
        return firsts[:3]
    if place == "kernels":
        return [first for first in firsts if first != own][:2]
    return [own] if place == "launcher" else [end.rank]


def _others(run: Run, job: Job, end: End) -> str:
    """Return the hosts and tasks of a step that no line told of before, or nothing: each task ends once."""
    texts = " ".join(line.text for line in BY_NAME[end.fault].lines)
    own = range(0)
    if "Node failure on {host}" in texts:
        first = end.rank // run.gpus_per_host * run.gpus_per_host
        own = range(first, first + run.gpus_per_host)
    elif "task {rank}:" in texts:
        own = range(end.rank, end.rank + 1)
    tasks = [task for task in range(job.gpus) if task not in own]
    if not tasks:
        return ""
    hosts = dict.fromkeys(job.hosts[task // run.gpus_per_host] for task in tasks)
    return f"{host_list(hosts)}: task{'s' * (len(tasks) > 1)} {number_list(tasks)}"


def _facts(
    run: Run, job: Job, attempt: Attempt, local: datetime, rank: int, style: Style
) -> dict[str, str | int]:
    """Return what a text may speak of; ``local`` is the time on the clock beside the speaker."""
    end = attempt.end
    assert end is not None
    ran = round(end.waited_s * 1000)
    seq = 1000 * attempt.number + len(attempt.steps)
    host = end.host or job.hosts[0]
    # A script that starts the trainer again starts another step of its job.
    launch = sum(1 for other in run.attempts[: attempt.number - 1] if other.job == attempt.job)
    return {
        "host": host,
        "first": job.hosts[0],
        "rank": rank,
        "failed": end.rank,
        "gpu": end.gpu,
        "pci": _pci(end.gpu),
        "peer_pci": _pci((end.gpu + 1) % run.gpus_per_host),
        "job": job.job_id,
        "launch": launch,
        # Of a job that goes on only the step is taken away.
        "taken": f"STEP {job.job_id}.{launch}" if end.job_goes_on else f"JOB {job.job_id}",
        "pid": 40_000 + 7 * attempt.number,
        "step": attempt.first_step + len(attempt.steps),
        "clock": local.strftime("%Y-%m-%dT%H:%M:%S"),
        "glog": local.strftime(f"{local.month}%d %H:%M:%S.%f000"),
        "torch": local.strftime("%m%d %H:%M:%S.%f"),
        "comma": local.strftime("%Y-%m-%d %H:%M:%S,") + f"{local.microsecond // 1000:03d}",
        # NCCL ends the line that it finds, whoever wrote it, before it warns.
        "nccl": f"\n[{local:%Y-%m-%d %H:%M:%S}] {job.hosts[rank // run.gpus_per_host]}:{4400 + rank}:4702",
        "failed_at": style.local(end.detected_us, host).strftime("%Y-%m-%d_%H:%M:%S"),
        "ms": ran,
        "ran": ran,
        "waited": f"{end.waited_s:.2f}",
        "whole": round(end.waited_s),
        "seq": seq,
        "done": seq - 1,
    }


def _pci(gpu: int) -> str:
    """Return the address of a GPU on its host."""
    return f"0000:{0x1B + 0x20 * gpu % 0xE0:02x}:00"


def in_order(*groups: Iterable[Printed]) -> list[Printed]:
    """Return lines by time; those of one moment keep their order."""
    return sorted((line for group in groups for line in group), key=lambda line: line.time_us)
