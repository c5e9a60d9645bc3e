"""Random stories by the hundred, outside the suite: ``python -m tests.long_run --stories 500``.

A story is the life of a run. Those of a cluster are written into one folder with the same blemishes, read,
and compared with their truth. Every third cluster then loses a source, which must never make more of a run.
Printed at the end: what differs, the error of each category, and the fault × blemish pairs that occurred
least often. Clusters that the file of results knows are not run again: a run that was stopped goes on.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import click

from pipeline.simulate.blemishes import CLEAN, LOSING, Blemishes
from pipeline.simulate.faults import BY_NAME, FAULTS
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.renderers import trainers
from pipeline.simulate.story import SECOND, Run, Story
from pipeline.simulate.write import write_story
from tests.simulated import classify, judged, random_maintenance, random_plan, secured
from tests.together import differing

#: Kinds of ends that a story may be given, and how many of them each is.
KINDS = tuple(sorted(fault.name for fault in FAULTS if fault.kind not in ("completed", "ongoing")))
KINDS_EACH = 4

#: How often a kind is in the deck of a trainer that tells of it, where few trainers do.
RARE = 4

#: Stories of one cluster. What a cluster costs does not grow as fast as their number.
RUNS = 20

#: Share of clusters that have a blemish.
EACH = 0.35

#: A pair of fault and blemish that occurs less often than this in a whole run is not covered.
PAIRED = 20


def story_of(trainer: str, number: int) -> tuple[Story, Style, Blemishes, Blemishes]:
    """Return the story of a cluster, how it is printed and kept, and what of it is lost in the end."""
    rng = Random(f"{trainer}/{number}")
    told_by_all = rng.random() < EACH
    plans = []
    for at in range(RUNS):
        seed = number * RUNS + at
        plan = random_plan(rng, trainer, kinds_of(trainer, seed))
        plan = replace(plan, name=f"heron-{seed}", max_attempts=rng.randint(2, 6))
        # What every rank prints is as many times as long.
        plans.append(replace(plan, gpus=16) if told_by_all else plan)
    story = invent(number, tuple(plans), random_maintenance(rng))
    hosts = sorted({host for run in story.runs for job in run.jobs for host in job.hosts})
    style, blemishes = worn(rng, hosts, told_by_all)
    return story, style, blemishes, CLEAN if number % 3 else loss(rng, story.runs)


def kinds_of(trainer: str, seed: int) -> tuple[str, ...]:
    """Return the kinds of ends of a story: dealt out of a deck, so that each comes as often as any other."""
    told = trainers()[trainer].farewells
    deck = [kind for kind in KINDS for _ in range((RARE if told else 0) if BY_NAME[kind].farewell else 1)]
    Random(f"{trainer}/{seed * KINDS_EACH // len(deck)}").shuffle(deck)
    return tuple(dict.fromkeys(deck[(seed * KINDS_EACH + at) % len(deck)] for at in range(KINDS_EACH)))


def worn(rng: Random, hosts: Iterable[str], told_by_all: bool) -> tuple[Style, Blemishes]:
    """Return how a story is printed and kept: each blemish is there with the same share."""

    def maybe(*values: Any) -> Any:
        return rng.choice(values) if rng.random() < EACH else None

    skew = maybe(0.4, 1.5) or 0.0
    skews = {host: round(rng.uniform(-skew, skew) * SECOND) for host in hosts} if skew else {}
    style = Style(maybe(5, 10) or 1, maybe(7200, -18_000) or 0, skews)
    found = Blemishes(
        prefix=maybe("none") or maybe("torchrun", "rank", "stacked", "host", "kubectl", "mpirun") or "srun",
        every_rank=told_by_all,
        interleaved=bool(maybe(True)),
        files=maybe("attempt") or maybe("run") or "job",
        together=bool(maybe(True)),
        rotate_bytes=maybe(12_000, 60_000) or 0,
        compression=maybe("gzip", "zstd") or "none",
        torn=bool(maybe(True)),
        kernel=maybe("syslog") or maybe("ctime", "boot", "journal", "json") or "iso",
        noise_mb=maybe(0.1, 0.4) or 0.0,
        accounting=maybe("json") or "text",
    )
    return style, found


def loss(rng: Random, runs: list[Run]) -> Blemishes:
    """Return what is missing from the logs of a cluster.

    The console that held a restore tells that work was overwritten: only later ones are ever lost. One that
    alone tells that a later launch left a host out is not lost either. Where no trainer says on how many GPUs
    it runs, accounting is the only word about a job that got fewer: it stays.
    """
    last = max((a.number for run in runs for a in run.attempts if a.restore is not None), default=0)
    losses = [Blemishes(kernel_lost=1.0), Blemishes(no_errors=True)]
    if all(trainers()[run.trainer].shows_world for run in runs):
        losses.append(Blemishes(no_accounting=True))
    losses += [
        Blemishes(lost_console=a.number)
        for run in runs
        for a in run.attempts
        if a.number > last and not any(alone_tells_width(other, a.number) for other in runs)
    ]
    return rng.choice(losses)


def alone_tells_width(run: Run, number: int) -> bool:
    """Return whether only the console of an attempt tells that a later launch in its job left a host out.

    A launch that is as wide as any before it, as far as one knows, left none out.
    """
    for it in run.attempts[number:]:
        before = run.attempts[: it.number - 1]
        widest = max((len(a.hosts) for a in before if a.job == it.job), default=0)
        others = (len(a.hosts) for a in before if a.number != number and a.init_us is not None)
        if len(it.hosts) < widest and max(others, default=0) < widest:
            return True
    return False


def marks(trainer: str, style: Style, found: Blemishes, lost: Blemishes) -> Iterator[str]:
    """Yield the blemishes that a story has."""
    told = {
        "missing stamps": not trainers()[trainer].dates_steps,
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
        "other kernel stamps": found.kernel in ("ctime", "boot", "journal", "json"),
        "accounting as JSON": found.accounting == "json",
        "rank noise": found.noise_mb > 0,
        "missing files": lost.loses,
    }
    return (name for name, there in told.items() if there)


def tell(job: tuple[str, int]) -> list[dict[str, Any]]:
    """Return what came of the stories of a cluster: what differs, and what there was in each."""
    trainer, number = job
    story, style, blemishes, lost = story_of(trainer, number)
    with TemporaryDirectory() as name:
        said, found = judged(story, Path(name) / "whole", style, blemishes)
        more = secured_more(story, Path(name), style, blemishes, lost) if lost.loses else {}
    return [
        {
            "trainer": trainer,
            "cluster": number,
            "run": run.name,
            "faults": sorted({attempt.end.fault for attempt in run.attempts if attempt.end is not None}),
            "marks": list(marks(trainer, style, blemishes, lost)),
            "differs": ([said] if said else []) + differing(found, run.name) + more.get(run.name, []),
            "errors": {
                category: error / found.whole_us[name]
                for (name, category), error in found.errors.items()
                if name == run.name and name in found.whole_us
            },
            "how": f"{style} {blemishes} {lost}",
        }
        for run in story.runs
    ]


def secured_more(
    story: Story, folder: Path, style: Style, blemishes: Blemishes, lost: Blemishes
) -> dict[str, list[str]]:
    """Return by run what a missing source makes more of it.

    The end of a warm-up is worked out from the clean step of a run, which is the median of the steps that are
    known: with fewer of them it moves by what steps differ from each other.
    """
    gone = {name: getattr(lost, name) for name in LOSING}
    write_story(story, folder / "less", style, replace(blemishes, **gone))
    said = classify(folder / "less")
    before, after = secured(folder / "whole"), secured(folder / "less")
    found: dict[str, list[str]] = {}
    for run in story.runs:
        jitter = 0.01 * max(attempt.step_us for attempt in run.attempts) / SECOND
        had, has = before[run.name], after.get(run.name, 0.0)
        if has > had + jitter * run.gpus * len(run.attempts):
            found[run.name] = [f"with a source less {has:,.1f} GPU-seconds are secured, not {had:,.1f}"]
        if said:
            found.setdefault(run.name, []).append(f"with a source less: {said}")
    return found


def report(told: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what came of all stories."""
    for trainer in sorted({row["trainer"] for row in told}):
        own = [row for row in told if row["trainer"] == trainer]
        wrong = [row for row in own if row["differs"]]
        yield f"{trainer}: {len(own)} stories, {len(wrong)} that differ"
        for row in wrong:
            told_of = [*row["differs"], row["how"]]
            yield f"  cluster {row['cluster']}, {row['run']}: " + "\n    ".join(told_of)
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
    rare = [pair for pair in product(KINDS, blemishes) if pairs[pair] < PAIRED]
    fewest = sorted((pairs[pair], *pair) for pair in product(KINDS, blemishes))[:5]
    yield f"{len(KINDS)} faults × {len(blemishes)} blemishes: {len(rare)} pairs in fewer than {PAIRED}"
    yield "fewest: " + "; ".join(f"{fault} × {mark} in {count}" for count, fault, mark in fewest)


@click.command()
@click.option("--stories", default=500, show_default=True, help="Stories of each trainer format.")
@click.option("--trainer", "wanted", multiple=True, help="Only this format; may be given several times.")
@click.option("--first", default=0, show_default=True, help="First cluster.")
@click.option("--processes", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=Path("build/long_run.jsonl"))
def main(stories: int, wanted: tuple[str, ...], first: int, processes: int, out: Path) -> None:
    """Run random stories of each trainer format, and print what came of them."""
    formats = wanted or tuple(sorted(trainers()))
    jobs = [(trainer, number) for number in range(first, first + -(-stories // RUNS)) for trainer in formats]
    out.parent.mkdir(parents=True, exist_ok=True)
    told = [json.loads(row) for row in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    done = {(row["trainer"], row["cluster"]) for row in told}
    with (
        out.open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(processes, get_context("spawn")) as pool,
    ):
        for rows in pool.map(tell, [job for job in jobs if job not in done], chunksize=1):
            told += rows
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
    for sentence in report([row for row in told if (row["trainer"], row["cluster"]) in set(jobs)]):
        click.echo(sentence)
    raise SystemExit(any(row["differs"] for row in told))


if __name__ == "__main__":
    main()
