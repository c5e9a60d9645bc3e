"""Measures reading: one invented log of 500 MB, of which one line in ten is a step line.

Prints the speed of ingest with everything on, beside that of ``rg`` counting the lines that hold one of 100
literals, of ``rg`` printing five fields of each step line, and of a bare pass of polars: the same literals,
the same five fields, a line number, and nothing written. All are whole processes, start-up included, and the
figures are medians of three runs in one go. Run it with ``make bench``.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SIZE = 500_000_000
RUNS = 3
SEED = 20261005

#: Reads lines, keeps those with a literal, numbers them, and takes the five fields out of them.
BARE = """
import sys
import polars as pl
log, literals, fields = sys.argv[1:]
lines = pl.scan_lines(log).with_row_index().filter(pl.col("line").str.contains(literals))
lines.select("index", pl.col("line").str.extract_groups(fields)).collect(engine="streaming")
"""

#: The five fields that ``rg -or`` prints.
FIVE = (
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+)\] iteration\s+(\d+)/\s*\d+ \| consumed samples:\s+(\d+) \|"
    r" elapsed time per iteration \(ms\): ([\d.]+) \|.* lm loss: ([\d.E+-]+) \|"
)


def step_line(rng: random.Random, number: int) -> str:
    """Return a step line of Megatron, printed by the last rank."""
    second, micro = 9 * number, rng.randrange(10**6)
    day, rest = divmod(second, 86_400)
    stamp = f"2026-10-{1 + day % 28:02d} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}.{micro:06d}"
    return (
        f"127: [default7]: [{stamp}] iteration {number:8d}/  900000 | consumed samples: {number * 1024:12d} |"
        f" elapsed time per iteration (ms): {8800 + 300 * rng.random():.1f} |"
        f" throughput per GPU (TFLOP/s/GPU): {400 + 20 * rng.random():.1f} | learning rate: 1.000000E-04 |"
        f" global batch size:  1024 | lm loss: {2 + rng.random():.6E} | loss scale: 1.0 |"
        f" grad norm: {rng.random():.3f} | number of skipped iterations:   0 |"
        f" number of nan iterations:   0 |"
    )


def noise_line(rng: random.Random) -> str:
    """Return a line that some rank prints and nobody counts: NCCL, Gloo, warnings, data loaders."""
    rank, local, peer = rng.randrange(1024), rng.randrange(8), rng.randrange(1024)
    shard, count = rng.randrange(10**4), rng.randrange(10**7)
    origin = f"gx{rng.randrange(128):03d}:{rng.randrange(10**5)}:{rng.randrange(10**5)} [{local}]"
    text = (
        f"{origin} NCCL INFO Channel {rng.randrange(32):02d}/0 : {rank}[{local}] -> {peer}[{local}] [send]"
        f" via NET/IB/{rng.randrange(8)}/GDRDMA",
        f"{origin} NCCL INFO comm 0x{rng.randrange(16**12):x} rank {rank} nranks 1024 cudaDev {local} busId"
        f" {rng.randrange(16**5):x} - Init START",
        f"[Gloo] Rank {rank} is connected to {peer} peer ranks. Expected number of connected peer ranks is :"
        f" {peer}",
        f"/opt/heron/lib/python3.12/site-packages/heron/nn/modules.py:{rng.randrange(2000)}: UserWarning: the"
        " buffer is not writable, and the loader copies it before it is pinned",
        f"loader {rng.randrange(16)}: shard {shard:05d} of heron-corpus opened, {count} documents,"
        f" {rng.random() * 9:.2f} s behind",
        f"{count} documents dropped by the filter of length at shard {shard:05d}",
    )[rng.randrange(6)]
    prefix = ("{r}: [default{l}]:", "{r}: ", "[default{l}]:[rank{r}]: ")[rng.randrange(3)]
    return prefix.format(r=rank, l=local) + text


def write_log(path: Path) -> None:
    """Write the log; its lines repeat after a while, as those of a run do."""
    rng = random.Random(SEED)
    block = ["".join(noise_line(rng) + "\n" for _ in range(9)) for _ in range(5000)]
    written = number = 0
    with path.open("w", encoding="ascii") as log:
        while written < SIZE:
            number += 1
            written += log.write(f"{step_line(rng, number)}\n{block[number % len(block)]}")


def literals(count: int) -> list[str]:
    """Return literals of the formats and the catalogue, evenly taken."""
    from pipeline.ingest.rules import rules_for

    known = [literal for literal in rules_for("megatron").literals if len(literal) > 5]
    step = "elapsed time per iteration (ms): "
    return [step, *known[:: max(1, len(known) // (count - 1))][: count - 1]]


def measure(run: Callable[[], list[str]]) -> float:
    """Return the median wall time of a command, in seconds, after a run that does not count."""
    times = []
    # An installed program is compiled.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(RUNS + 1):
        command = run()
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:])


def commands(folder: Path) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    """Yield what is measured: a name and how the command of the next run is made."""
    log, store, patterns = folder / "logs" / "heron.out", folder / "store", folder / "literals"

    def ingest() -> list[str]:
        shutil.rmtree(store, ignore_errors=True)
        return [sys.executable, "-m", "pipeline", "ingest", str(log.parent), "--store", str(store)]

    yield "ingest", ingest
    special = set("\\.+*?()|[]{}^$")
    quoted = "|".join("".join(f"\\{c}" if c in special else c for c in one) for one in literals(100))
    # Classes of ASCII, which polars runs faster.
    fields = FIVE.replace(r"\d", "[0-9]").replace(r"\s", " ")
    yield "polars, bare pass", lambda: [sys.executable, "-c", BARE, str(log), quoted, fields]
    if shutil.which("rg") is None:
        print("rg is not installed, so there is nothing else to compare with")
        return
    patterns.write_text(f"{quoted}\n", encoding="utf-8")
    yield "rg -c, 100 literals", lambda: ["rg", "-c", "-f", str(patterns), str(log)]
    yield "rg -or, five fields", lambda: ["rg", "-or", "$1 $2 $3 $4 $5", FIVE, str(log)]


def main() -> None:
    """Write the log, measure, print."""
    with tempfile.TemporaryDirectory(prefix="goodput-bench-") as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        write_log(folder / "logs" / "heron.out")
        size = (folder / "logs" / "heron.out").stat().st_size
        speeds: dict[str, float] = {}
        peak = 0.0
        for what, run in commands(folder):
            seconds = measure(run)
            speeds[what] = size / seconds / 1e6
            if what == "ingest":
                # The largest child so far: the others are small, and come later.
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
            ratio = f", ingest is {speeds['ingest'] / speeds[what]:.2f} of it" if what != "ingest" else ""
            print(f"{what:22} {speeds[what]:7.0f} MB/s  {seconds:6.2f} s{ratio}", flush=True)
        print(f"peak memory of ingest {peak:.2f} GB; {os.cpu_count()} processors")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
