"""Measures reading: one invented log of 500 MB, of which one line in ten is a step line.

Prints the speed of ingest with everything on, beside that of ``rg`` counting the lines that hold one of 100
literals, of ``rg`` printing five fields of each step line, and of a bare pass of polars: the same literals,
the same five fields, a line number, and nothing written; then compressed logs beside ``zcat | rg -c``, and
one processor beside two. All are whole processes, start-up included, and the figures are medians of three
runs in one go. Run it with ``make bench``; ``python bench/ingest.py --large`` adds logs of 2 and 8 GB, and
100,000 files of 2 KB, each once.
"""

from __future__ import annotations

import contextlib
import os
import random
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
    log, patterns = folder / "logs" / "heron.out", folder / "literals"
    yield "ingest", lambda: ingest_of(log.parent, folder / "store")
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


def show(what: str, size: int, seconds: float, beside: str = "") -> None:
    """Print a measurement."""
    print(f"{what:24} {size / seconds / 1e6:7.0f} MB/s  {seconds:7.2f} s{beside}", flush=True)


def compressed(folder: Path) -> None:
    """Measure logs that are compressed; sizes are those of their content."""
    log = folder / "logs" / "heron.out"
    patterns = folder / "literals"
    for name, ending, pack in (("gzip", "gz", ["gzip", "-6c"]), ("zstd", "zst", ["zstd", "-3qc"])):
        unpack = {"gzip": "zcat", "zstd": "zstdcat"}[name]
        if any(shutil.which(tool) is None for tool in (pack[0], unpack, "rg")):
            print(f"{name}, {unpack} or rg is not installed: {name} is not measured")
            continue
        logs = folder / name
        logs.mkdir()
        packed = logs / f"heron.out.{ending}"
        with packed.open("wb") as file:
            subprocess.run([*pack, str(log)], check=True, stdout=file)
        own = measure(lambda logs=logs: ingest_of(logs, folder / "store"))  # type: ignore[misc]
        show(f"ingest, {name}", log.stat().st_size, own)
        piped = f"{unpack} '{packed}' | rg -c -f '{patterns}'"
        other = measure(lambda piped=piped: ["sh", "-c", piped])  # type: ignore[misc]
        show(f"{unpack} | rg -c", log.stat().st_size, other, f", ingest is {other / own:.2f} of it")


def large(folder: Path) -> None:
    """Measure logs of growing size and very many small files, each once."""
    first = folder / "logs" / "heron.out"
    for times in (4, 16):
        logs = folder / f"times{times}"
        logs.mkdir()
        with (logs / "heron.out").open("wb") as grown:
            for _ in range(times):
                with first.open("rb") as part:
                    shutil.copyfileobj(part, grown, 1 << 24)
        size = (logs / "heron.out").stat().st_size
        seconds, peak = once(ingest_of(logs, folder / "store"))
        show(f"ingest, {size / 1e9:.1f} GB", size, seconds, f", peak memory {peak:.2f} GB")
        if shutil.which("taskset"):
            alone, peak = once(["taskset", "-c", "0", *ingest_of(logs, folder / "store")])
            ratio = f", all are {alone / seconds:.2f} times as fast; peak memory {peak:.2f} GB"
            show("  on one processor", size, alone, ratio)
        shutil.rmtree(logs)
    small = folder / "small"
    text = "".join(noise_line(random.Random(SEED + at)) + "\n" for at in range(16))
    for rank in range(100_000):
        own = small / f"{rank // 1000:03d}"
        own.mkdir(parents=True, exist_ok=True)
        (own / f"{rank:06d}.err").write_text(f"{text}rank {rank} of 100000 is up\n", encoding="ascii")
    size = sum(path.stat().st_size for path in small.glob("*/*"))
    seconds, peak = once(ingest_of(small, folder / "store"))
    parts = sum(1 for _ in (folder / "store").glob("events/*/*.parquet"))
    show("ingest, 100,000 files", size, seconds, f", peak memory {peak:.2f} GB, {parts} parts")


def once(command: list[str]) -> tuple[float, float]:
    """Return wall time in seconds and peak memory in GB of one run of a command and of all that it starts."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(resident, family(process.pid))))
        time.sleep(0.005)
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, peak / 1e9


def family(process: int) -> Iterator[int]:
    """Yield a process and all that it has started."""
    yield process
    with contextlib.suppress(OSError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in children.read_text(encoding="ascii").split():
                yield from family(int(child))


def resident(process: int) -> int:
    """Return the bytes that a process has in memory; those that it shares with another count in both."""
    with contextlib.suppress(OSError):
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def ingest_of(logs: Path, store: Path) -> list[str]:
    """Return the command that reads logs into an empty store."""
    shutil.rmtree(store, ignore_errors=True)
    return [sys.executable, "-m", "pipeline", "ingest", str(logs), "--store", str(store)]


def main() -> None:
    """Write the log, measure, print."""
    with tempfile.TemporaryDirectory(prefix="goodput-bench-") as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        write_log(folder / "logs" / "heron.out")
        size = (folder / "logs" / "heron.out").stat().st_size
        times: dict[str, float] = {}
        for what, run in commands(folder):
            times[what] = measure(run)
            beside = f", ingest is {times[what] / times['ingest']:.2f} of it" if what != "ingest" else ""
            show(what, size, times[what], beside)
        _, peak = once(ingest_of(folder / "logs", folder / "store"))
        print(f"peak memory of ingest {peak:.2f} GB; {len(os.sched_getaffinity(0))} processors")
        if len(os.sched_getaffinity(0)) > 1 and shutil.which("taskset"):
            alone = measure(lambda: ["taskset", "-c", "0", *ingest_of(folder / "logs", folder / "store")])
            ratio = f", all processors are {alone / times['ingest']:.2f} times as fast"
            show("ingest, one processor", size, alone, ratio)
        compressed(folder)
        if "--large" in sys.argv:
            large(folder)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
