"""How often the ledger is right, by what it says of its confidence: ``python -m tests.calibration``.

Random stories with blemishes, with faults beside the run that ended nothing, and with sources missing, are
written, read, and each end is compared with its truth. ``evidence`` promises that at least 95 of 100 are
right, ``inferred`` that 70 are; ``unknown`` promises nothing. An end is right where its cause is the true
one. An attempt that completed or goes on is no end, unless the ledger makes one of it: that is wrong.
Clusters that a file of results knows are not run again: a count that was stopped goes on with ``--out``.
A ledger that has changed wants a new file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import click

from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.decoys import add_decoys
from pipeline.simulate.write import write_story
from pipeline.simulate.written import read_truth
from tests.long_run import story_of
from tests.simulated import classify, ledger

#: Share of its ends of which a confidence promises that they are right.
PROMISED = {"evidence": 0.95, "inferred": 0.70}

#: Faults a day and host that ended nothing, half as many of them on hosts that no run held.
DECOYS = 60.0

#: Sources that a cluster may lack beside its blemishes.
LACKING = {
    "nothing": Blemishes(),
    "half": Blemishes(kernel_lost=0.5),
    "errors": Blemishes(no_errors=True),
    "accounting": Blemishes(no_accounting=True),
}

#: What every cluster may be made to lack instead.
LOST = LACKING | {"kernel": Blemishes(kernel_lost=1.0)}

#: Trainers of different families: stamped and not, with records, with one clock or several.
TRAINERS = (
    *("axlearn", "deepspeed", "goodput_records", "hf_trainer", "maxtext", "megatron", "mlperf"),
    *("nanogpt", "nemo", "olmo_core", "torchtitan", "verl"),
)

#: Kinds of attempts that nothing ended.
GOOD = ("completed", "ongoing")


@dataclass(frozen=True, slots=True)
class End:
    """The end of an attempt.

    Attributes:
        place: cluster, run and attempt.
        confidence: what the ledger says of it, or ``left out`` where it has not the attempts of the run.
        true, told: the true cause, and that of the ledger.
        text: the line that it goes by.
    """

    place: str
    confidence: str
    true: str
    told: str
    text: str = ""


def ends_of(trainer: str, number: int, lost: str | None = None) -> Iterator[End]:
    """Yield the ends of a cluster of stories, which lacks what is drawn, or what is said."""
    story, style, blemishes, _ = story_of(trainer, number)
    rng = Random(f"calibration/{trainer}/{number}")
    add_decoys(story, DECOYS)
    drawn = rng.choice(list(LACKING))
    lacking = LOST[lost or drawn]
    blemishes = replace(
        blemishes,
        kernel_lost=lacking.kernel_lost,
        no_errors=lacking.no_errors,
        no_accounting=lacking.no_accounting,
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_story(story, folder, style, blemishes)
        classify(folder)
        truth = read_truth(folder).ends
        with ledger(folder) as con:
            rows = con.execute(
                "select run_id, attempt, confidence, cause, kind, coalesce(evidence_text, '') "
                "from ledger.incidents"
            ).fetchall()
    told = {(run, attempt): facts for run, attempt, *facts in rows}
    counts = Counter(run for run, _ in told)
    expected = Counter(truth["run_id"].to_list())
    for row in truth.iter_rows(named=True):
        run = row["run_id"]
        place = f"{trainer} {number} (without {lost or drawn}) {run}/{row['attempt']}"
        # Where an attempt left no trace, the numbers of those after it are others.
        if counts[run] != expected[run]:
            if row["kind"] not in GOOD:
                yield End(place, "left out", row["cause"], f"{counts[run]} attempts of {expected[run]}")
            continue
        confidence, cause, kind, text = told[run, row["attempt"]]
        if row["kind"] not in GOOD:
            yield End(place, confidence, row["cause"], cause, text)
        elif kind not in (*GOOD, "unknown"):
            yield End(place, confidence, row["kind"], cause, text)


def shares(ends: Iterable[End]) -> dict[str, tuple[int, int]]:
    """Return by confidence how many ends were right, and how many there were."""
    right: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for end in ends:
        whole[end.confidence] += 1
        right[end.confidence] += end.true == end.told
    return {confidence: (right[confidence], whole[confidence]) for confidence in sorted(whole)}


@click.command(help="Count how often the ledger is right, by its confidence.")
@click.option("--incidents", default=2000, show_default=True, help="Ends to look at, at least.")
@click.option("--trainer", "trainers", multiple=True, default=TRAINERS, help="May be given several times.")
@click.option("--first", default=0, show_default=True, help="First cluster.")
@click.option("--lost", type=click.Choice(list(LOST)), help="What all clusters lack, instead of a draw.")
@click.option("--out", type=click.Path(path_type=Path), help="File of results, to go on with later.")
def main(incidents: int, trainers: tuple[str, ...], first: int, lost: str | None, out: Path | None) -> None:
    """Print the table, and exit with 1 where a promise was broken."""
    rows = []
    if out is not None and out.exists():
        rows = [json.loads(row) for row in out.read_text(encoding="utf-8").splitlines()]
    known = {(row["trainer"], row["cluster"], row["lost"]): row["ends"] for row in rows}
    ends: list[End] = []
    clusters = 0
    while sum(end.confidence != "left out" for end in ends) < incidents:
        trainer, number = trainers[clusters % len(trainers)], first + clusters
        clusters += 1
        if (found := known.get((trainer, number, lost))) is not None:
            ends += [End(**end) for end in found]
            continue
        told = list(ends_of(trainer, number, lost))
        ends += told
        row = {"trainer": trainer, "cluster": number, "lost": lost, "ends": [asdict(end) for end in told]}
        if out is not None:
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    click.echo(f"{len(ends)} ends of {clusters} clusters of {len(trainers)} trainers")
    broken = False
    for confidence, (right, whole) in shares(ends).items():
        if confidence == "left out":
            click.echo(f"{confidence:10} {whole:5}: runs of which a start left no trace")
            continue
        promised = PROMISED.get(confidence, 0.0)
        broken |= right < promised * whole
        click.echo(
            f"{confidence:10} {right:5} of {whole:5} right, {right / whole:6.1%} (promised {promised:.0%})"
        )
    wrong = [end for end in ends if end.true != end.told]
    counts = Counter((end.confidence, end.true, end.told) for end in wrong)
    for (confidence, true, said), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1])):
        click.echo(f"  {count:4} {confidence}: {true} taken for {said}")
    for end in wrong:
        if end.confidence in PROMISED:
            click.echo(f"{end.confidence}: {end.true} taken for {end.told} in {end.place}: {end.text}")
    raise SystemExit(int(broken))


if __name__ == "__main__":
    main()
