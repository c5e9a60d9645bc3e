"""What ranks print beside: channels of collectives, warnings, data loaders. Any volume, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pipeline.simulate.blemishes import Prefix
from pipeline.simulate.lines import Style
from pipeline.simulate.story import Job, Run
from pipeline.simulate.transports import TIME_MARK, collector_time, prefix_of

#: Bytes of different noise of an attempt; more is made of it by repeating it from another place.
POOL = 2 << 20

#: Smallest and largest piece that is handed on.
_LEAST, _PIECE = 200, 256 << 10

#: Where the time of a line comes in, as the loggers of Google and PyTorch write it.
_GLOG_MARK = "\0G"

_KINDS = (
    "{host}:{pid}:{tid} [{local}] NCCL INFO Channel {a:02d}/0 : {rank}[{local}] -> {b}[{c}] [send] via"
    " NET/IB/{c}(3)/GDRDMA",
    "{host}:{pid}:{tid} [{local}] NCCL INFO Channel {a:02d}/0 : {rank}[{local}] -> {b}[{c}] via P2P/CUMEM",
    "{host}:{pid}:{tid} [{local}] NCCL INFO Trees [0] {b}/-1/-1->{rank}->{c} [1] {b}/-1/-1->{rank}->{c}",
    "{host}:{pid}:{tid} [{local}] NCCL INFO threadThresholds 8/8/64 | 512/8/64 | 512 | 512",
    "{host}:{pid}:{tid} [{local}] NCCL INFO AllGather: opCount {a:x} sendbuff 0x7f{tid:010x} recvbuff"
    " 0x7e{tid:010x} count {pid} datatype 9 op 0 root 0 comm 0x55{tid:010x} [nranks={ranks}]",
    "[rank{rank}]:W" + _GLOG_MARK + " {pid} torch/_dynamo/convert_frame.py:1016] [{c}/8] torch._dynamo hit"
    " config.recompile_limit (8)",
    "/opt/venv/lib/python3.12/site-packages/torch/utils/data/dataloader.py:627: UserWarning: This DataLoader"
    " will create {a} worker processes in total.",
    "dataloader worker {c} of rank {rank}: shard {tid} of {pid} opened, {a} documents in memory",
)


class Noise:
    """The noise of one attempt in one file."""

    def __init__(self, run: Run, job: Job, kind: Prefix, style: Style, seed: str, size: int) -> None:
        rng = Random(seed)
        self.style, self.host = style, job.hosts[0]
        self.pool = _pool(run, job, kind, rng, min(size, POOL))
        self.at = 0
        self.credit = 0.0

    def pieces(self, earned: float, time_us: int) -> Iterator[bytes]:
        """Yield whole lines of about so many bytes, together with what earlier calls left over."""
        self.credit += earned
        if self.credit < _LEAST:
            return
        shown = self.style.local(time_us, self.host)
        marks = (
            (TIME_MARK.encode(), collector_time(time_us).encode()),
            (_GLOG_MARK.encode(), f"{shown:%m%d %H:%M:%S.%f}".encode()),
        )
        while self.credit >= _LEAST:
            end = self.pool.rfind(b"\n", self.at, self.at + min(int(self.credit), _PIECE)) + 1
            if not end:
                return
            piece = self.pool[self.at : end]
            self.at = end if end < len(self.pool) else 0
            self.credit -= len(piece)
            for mark, text in marks:
                piece = piece.replace(mark, text)
            yield piece


def _pool(run: Run, job: Job, kind: Prefix, rng: Random, size: int) -> bytes:
    """Return lines of at least so many bytes, their times still open."""
    lines: list[str] = []
    made = 0
    prefixes = [prefix_of(run, job, kind, rank) for rank in range(job.gpus)]
    while made < size:
        rank = rng.randrange(job.gpus)
        node, local = divmod(rank, run.gpus_per_host)
        draw = rng.getrandbits(40)
        text = prefixes[rank] + _KINDS[draw % len(_KINDS)].format(
            host=job.hosts[node],
            rank=rank,
            local=local,
            ranks=job.gpus,
            pid=40_000 + rank,
            tid=40_000 + (draw >> 20),
            a=(draw >> 3) % 32,
            b=(rank + 1) % job.gpus,
            c=(draw >> 8) % run.gpus_per_host,
        )
        lines.append(text)
        made += len(text) + 1
    return "".join(f"{line}\n" for line in lines).encode()
