"""What stands before a line in a file, and in which order lines of several ranks get there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from random import Random
from types import MappingProxyType

from pipeline.simulate.blemishes import Blemishes, Prefix
from pipeline.simulate.lines import Printed
from pipeline.simulate.story import Job, Run

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: The longest time for which a line of a rank is held up, in microseconds.
LATEST = 250_000

#: The stream of what a library writes into a store of its own: no launcher and no collector sees it.
RECORDS = "jsonl"

#: Stands in prefixes where the time comes in later.
TIME_MARK = "\0K"

#: Ends a text that is cut off: no line end follows.
CUT_MARK = "\0C"


@dataclass(frozen=True, slots=True)
class Place:
    """A rank in its job.

    Attributes:
        width: digits of the largest rank.
        local: number of the rank on its host.
    """

    rank: int
    width: int
    local: int
    node: int
    host: str
    stream: str


_SHAPES: dict[Prefix, Callable[[Place], str]] = {
    "none": lambda at: "",
    "srun": lambda at: f"{at.rank:>{at.width}}: ",
    "torchrun": lambda at: f"[default{at.local}]:",
    "rank": lambda at: f"[rank{at.rank}]:",
    "stacked": lambda at: f"{at.node}: [default{at.local}]:[rank{at.rank}]:",
    "host": lambda at: f"{at.host}: ",
    "kubectl": lambda at: f"{TIME_MARK} ",
    "mpirun": lambda at: f"[1,{at.rank}]<std{at.stream}>: ",
}


def prefix_of(run: Run, job: Job, kind: Prefix, rank: int, stream: str = "out") -> str:
    """Return what stands before each line of a rank, TIME_MARK for its time; the scheduler has no label."""
    if stream.endswith(RECORDS):
        return ""
    if rank < 0:
        return f"{TIME_MARK} " if kind == "kubectl" else ""
    node = rank // run.gpus_per_host
    where = Place(rank, len(str(job.gpus - 1)), rank % run.gpus_per_host, node, job.hosts[node], stream)
    return _SHAPES[kind](where)


def collector_time(time_us: int) -> str:
    """Return a time as the container runtime stamps it: UTC, nanoseconds."""
    return f"{_EPOCH + timedelta(microseconds=time_us):%Y-%m-%dT%H:%M:%S.%f}000Z"


def torn(lines: list[Printed]) -> list[Printed]:
    """Return lines of which the last on standard output was cut in its middle, when its buffer was lost."""
    for at in reversed(range(len(lines))):
        if lines[at].stream == "out":
            text = lines[at].text
            return [*lines[:at], lines[at]._replace(text=text[: len(text) // 2] + CUT_MARK), *lines[at + 1 :]]
    return lines


def as_printed(
    lines: Iterable[Printed],
    job: Job,
    blemishes: Blemishes,
    rng: Random,
    own: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> Iterator[Printed]:
    """Yield lines in the order of the file, those that every rank prints once for each rank.

    Args:
        lines: by the clock of the first host.
        job: whose ranks print.
        blemishes: what happens to lines on their way.
        rng: decides which line comes when.
        own: by host what its ranks print in place of a line, where their clocks differ.
    """
    if blemishes.every_rank:
        lines = _by_every_rank(lines, job, own)
    return _interleaved(lines, rng) if blemishes.interleaved else iter(lines)


def _by_every_rank(
    lines: Iterable[Printed], job: Job, own: Mapping[str, Mapping[str, str]]
) -> Iterator[Printed]:
    """Yield what goes to standard output once for each rank; errors are each rank's own."""
    for line in lines:
        if line.rank < 0 or line.stream != "out":
            yield line
            continue
        for rank in range(job.gpus):
            host = job.hosts[rank * len(job.hosts) // job.gpus]
            yield line._replace(rank=rank, text=own.get(host, {}).get(line.text, line.text))


def _interleaved(lines: Iterable[Printed], rng: Random) -> Iterator[Printed]:
    """Yield lines, of which each is held up for a moment, in order of their arrival.

    Lines of one rank keep their order. Only lines of one moment are held in memory.
    """
    last: dict[tuple[int, str], int] = {}
    held: list[tuple[int, int, Printed]] = []
    for number, line in enumerate(lines):
        while held and held[0][0] <= line.time_us:
            arrival, _, early = heappop(held)
            yield early._replace(time_us=arrival)
        key = (line.rank, line.stream)
        arrival = max(last.get(key, 0), line.time_us + rng.randrange(LATEST))
        last[key] = arrival
        heappush(held, (arrival, number, line))
    while held:
        arrival, _, early = heappop(held)
        yield early._replace(time_us=arrival)
