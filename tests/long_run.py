"""Random stories by the hundred, outside the suite: ``python -m tests.long_run --stories 500``.

Each story is written with blemishes, read, and compared with its truth. Every other one then loses a source,
which must never make more of a run. Printed at the end: what differs, the error of each category, and the
fault × blemish pair that occurred least often. Stories that are already in the file of results are not run
again, so that a run that was stopped goes on.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import click

from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.faults import FAULTS
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.renderers import trainers
from pipeline.simulate.story import SECOND, Run, Story
from pipeline.simulate.verdict import sentences
from pipeline.simulate.write import write_story
from tests.simulated import classify, judged, random_maintenance, random_plan, secured

#: Kinds of ends that a story may be given, and how many of them each is.
KINDS = tuple(sorted(fault.name for fault in FAULTS if fault.kind not in ("completed", "ongoing")))
KINDS_EACH = 4

#: Share of stories that have a blemish.
EACH = 0.35

#: A pair of fault and blemish that occurs less often than this in a whole run is not covered.
PAIRED = 20


def worn(rng: Random, hosts: Iterable[str], told_by_all: bool) -> tuple[Style, Blemishes]:
    """Return how a story is printed and kept: each blemish is there with the same share."""

    def maybe(*values: Any) -> Any:
        return rng.choice(values) if rng.random() < EACH else None

    skew = maybe(0.4, 1.5) or 0.0
    skews = {host: round(rng.uniform(-skew, skew) * SECOND) for host in hosts} if skew else {}
    style = Style(maybe(5, 10) or 1, maybe(7200, -18_000) or 0, skews)
    found = Blemishes(
        prefix=maybe("none", "torchrun", "rank", "stacked", "host", "kubectl", "mpirun") or "srun",
        every_rank=told_by_all,
        interleaved=bool(maybe(True)),
        files=maybe("attempt") or maybe("run") or "job",
        together=bool(maybe(True)),
        rotate_bytes=maybe(4_000, 30_000) or 0,
        compression=maybe("gzip", "zstd") or "none",
        torn=bool(maybe(True)),
        kernel=maybe("syslog") or maybe("ctime", "boot") or "iso",
        noise_mb=maybe(0.05, 0.2) or 0.0,
    )
    return style, found


def loss(rng: Random, run: Run) -> Blemishes:
    """Return what is missing from the logs of a run.

    The console that held a restore tells that work was overwritten: only later ones are ever lost.
    """
    last = max((a.number for a in run.attempts if a.restore is not None), default=0)
    losses = [Blemishes(no_accounting=True), Blemishes(kernel_lost=1.0), Blemishes(no_errors=True)]
    losses += [Blemishes(lost_console=a.number) for a in run.attempts if a.number > last]
    return rng.choice(losses)


def marks(style: Style, found: Blemishes, lost: Blemishes) -> Iterator[str]:
    """Yield the blemishes that a story has."""
    told = {
        "log interval": style.log_interval > 1,
        "local time zone": style.offset_s != 0,
        "clock offsets": bool(style.skew_us),
        "launcher prefix": found.prefix not in ("srun", "none"),
        "no prefix": found.prefix == "none",
        "duplicated rank lines": found.every_rank,
        "interleaved ranks": found.interleaved,
        "one file per attempt": found.files == "attempt",
        "one file per run": found.files == "run",
        "errors in the same file": found.together,
        "rotation": found.rotate_bytes > 0,
        "compression": found.compression != "none",
        "cut last lines": found.torn,
        "missing year": found.kernel == "syslog",
        "other kernel stamps": found.kernel in ("ctime", "boot"),
        "rank noise": found.noise_mb > 0,
        "missing files": lost.loses,
    }
    return (name for name, there in told.items() if there)


def tell(job: tuple[str, int]) -> dict[str, Any]:
    """Return what came of one story: what differs, and what there was in it."""
    trainer, seed = job
    rng = Random(f"{trainer}/{seed}")
    deck = list(KINDS)
    Random(f"{trainer}/{seed * KINDS_EACH // len(deck)}").shuffle(deck)
    kinds = tuple(deck[(seed * KINDS_EACH + at) % len(KINDS)] for at in range(KINDS_EACH))
    plan = replace(random_plan(rng, trainer, kinds), max_attempts=rng.randint(2, 6))
    told_by_all = rng.random() < EACH
    if told_by_all:
        # What every rank prints is as many times as long.
        plan = replace(plan, gpus=16)
    story = invent(seed, (plan,), random_maintenance(rng))
    run = story.runs[0]
    style, blemishes = worn(rng, {host for job in run.jobs for host in job.hosts}, told_by_all)
    lost = loss(rng, run) if seed % 2 else CLEAN
    told: dict[str, Any] = {"trainer": trainer, "seed": seed, "differs": [], "errors": {}}
    told["faults"] = sorted({attempt.end.fault for attempt in run.attempts if attempt.end is not None})
    told["marks"] = ["missing stamps"] if trainer == "megatron_core_0_5" else []
    told["marks"] += marks(style, blemishes, lost)
    told["how"] = f"{style} {blemishes} {lost}"
    with TemporaryDirectory() as name:
        said, found = judged(story, Path(name) / "whole", style, blemishes)
        told["differs"] += [said] if said else []
        told["differs"] += [] if found.agrees else list(sentences(found, 2))
        whole = sum(found.whole_us.values())
        told["errors"] = {key[1]: error / whole for key, error in found.errors.items()}
        if lost.loses:
            told["differs"] += more(story, Path(name), style, blemishes, lost)
    return told


def more(story: Story, folder: Path, style: Style, blemishes: Blemishes, lost: Blemishes) -> list[str]:
    """Return what a missing source makes more of, a sentence, or nothing."""
    names = ("no_accounting", "kernel_lost", "lost_console", "no_errors")
    write_story(story, folder / "less", style, replace(blemishes, **{n: getattr(lost, n) for n in names}))
    said = classify(folder / "less")
    before, after = secured(folder / "whole"), secured(folder / "less")
    differs = [f"with a source less: {said}"] if said else []
    if after > before + 1e-6:
        differs.append(f"with a source less: {after:,.1f} GPU-seconds secured instead of {before:,.1f}")
    return differs


def report(told: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what came of all stories."""
    for trainer in sorted({row["trainer"] for row in told}):
        own = [row for row in told if row["trainer"] == trainer]
        wrong = [row for row in own if row["differs"]]
        yield f"{trainer}: {len(own)} stories, {len(wrong)} that differ"
        for row in wrong:
            yield f"  seed {row['seed']}: " + "\n    ".join([*row["differs"], row["how"]])
    yield "error of a category, in points of all GPU time of a story: median, 99th percentile, worst"
    errors: dict[str, list[float]] = {}
    for row in told:
        for category, error in row["errors"].items():
            errors.setdefault(category, []).append(100 * abs(error))
    for category, found in sorted(errors.items()):
        found.sort()
        middle, high = found[len(found) // 2], found[math.ceil(0.99 * len(found)) - 1]
        yield f"  {category:18} {middle:9.5f} {high:9.5f} {found[-1]:9.5f}   in {len(found)} stories"
    pairs: Counter[tuple[str, str]] = Counter()
    for row in told:
        pairs.update(product(row["faults"], row["marks"]))
    blemishes = sorted({mark for row in told for mark in row["marks"]})
    rare = [(pairs[pair], *pair) for pair in product(KINDS, blemishes) if pairs[pair] < PAIRED]
    fewest = min((pairs[pair], *pair) for pair in product(KINDS, blemishes))
    yield f"{len(KINDS)} faults × {len(blemishes)} blemishes: {len(rare)} pairs in fewer than {PAIRED}"
    yield f"fewest: {fewest[1]} × {fewest[2]} in {fewest[0]}"


@click.command()
@click.option("--stories", default=500, show_default=True, help="Stories of each trainer format.")
@click.option("--trainer", "wanted", multiple=True, help="Only this format; may be given several times.")
@click.option("--first", default=0, show_default=True, help="First seed.")
@click.option("--processes", default=2, show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("build/long_run.jsonl"), show_default=True
)
def main(stories: int, wanted: tuple[str, ...], first: int, processes: int, out: Path) -> None:
    """Run random stories of each trainer format, and print what came of them."""
    formats = wanted or tuple(sorted(trainers()))
    jobs = [(trainer, seed) for seed in range(first, first + stories) for trainer in formats]
    out.parent.mkdir(parents=True, exist_ok=True)
    told = [json.loads(row) for row in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    done = {(row["trainer"], row["seed"]) for row in told}
    with out.open("a", encoding="utf-8") as file, ProcessPoolExecutor(processes) as pool:
        for row in pool.map(tell, [job for job in jobs if job not in done], chunksize=1):
            told.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
    for sentence in report([row for row in told if (row["trainer"], row["seed"]) in set(jobs)]):
        click.echo(sentence)
    raise SystemExit(any(row["differs"] for row in told))


if __name__ == "__main__":
    main()
