"""Lines that a story leaves behind, before they are put into files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from pipeline.simulate.faults import BY_NAME, Line
from pipeline.simulate.story import SECOND, Attempt, Job, Run

#: Stamps are the clock of the host that prints them.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Printed(NamedTuple):
    """A line: when it was printed, by which rank (-1 for the scheduler), on which stream, and its text."""

    time_us: int
    rank: int
    stream: str
    text: str


@dataclass(frozen=True, slots=True)
class Style:
    """How programs print.

    Attributes:
        log_interval: steps for each step line.
        offset_s: what local clocks are ahead of UTC.
        stamps: False for versions of a trainer that print no times.
        skew_us: by host, what its clock is ahead of the others; by no name, that of the host that prints.
    """

    log_interval: int = 1
    offset_s: int = 0
    stamps: bool = True
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


def last_words(run: Run, job: Job, attempt: Attempt, style: Style, place: str) -> Iterator[Printed]:
    """Yield what the end of an attempt leaves in one kind of place: ``kernel``, ``rank``, ``scheduler``, …"""
    end = attempt.end
    assert end is not None
    for line in BY_NAME[end.fault].lines:
        if line.place == place or (place == "rank" and line.place == "ranks"):
            yield from _said(run, job, attempt, style, line)


def _said(run: Run, job: Job, attempt: Attempt, style: Style, line: Line) -> Iterator[Printed]:
    """Yield a line of an end, once for every rank that prints it."""
    end = attempt.end
    assert end is not None
    moments = {"stop": end.stop_us, "detected": end.detected_us, "left": end.left_us}
    time_us = moments[line.moment] + round(line.after_s * SECOND)
    ranks = [end.rank]
    if line.place == "ranks":
        # The rank at fault says nothing; of the others a few are enough.
        others = [
            rank
            for rank in range(attempt.gpus(run))
            if rank // run.gpus_per_host != end.rank // run.gpus_per_host
        ]
        ranks = others[:: max(1, len(others) // 3)] or [(end.rank + 1) % attempt.gpus(run)]
    elif line.place in ("scheduler", "kernel"):
        ranks = [-1]
    for at, rank in enumerate(ranks):
        when = time_us + 110_000 * at
        host = end.host if rank < 0 else attempt.hosts[rank // run.gpus_per_host]
        local = style.local(when, host)
        ran = round(end.waited_s * 1000)
        text = line.text.format_map(
            {
                "host": end.host or attempt.hosts[0],
                "first": attempt.hosts[0],
                "rank": rank,
                "gpu": end.gpu,
                "pci": f"0000:{0x1B + 0x20 * end.gpu % 0xE0:02x}:00",
                "job": job.job_id,
                "pid": 40_000 + 7 * attempt.number,
                "clock": local.strftime("%Y-%m-%dT%H:%M:%S"),
                "glog": local.strftime(f"{local.month}%d %H:%M:%S.%f000"),
                "ms": ran,
                "ran": ran,
                "seq": 1000 * attempt.number + len(attempt.steps),
            }
        )
        yield Printed(when, rank, "err", text)


def in_order(*groups: Iterable[Printed]) -> list[Printed]:
    """Return lines by time; those of one moment keep their order."""
    return sorted((line for group in groups for line in group), key=lambda line: line.time_us)
