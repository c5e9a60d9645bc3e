"""How often the ledger is right, by what it says of its confidence: ``python -m tests.calibration``.

Random stories with blemishes, with faults beside the run that ended nothing, and with sources missing, are
written, read, and each end is compared with its truth. ``evidence`` promises that at least 95 of 100 are
right, ``inferred`` that 70 are; ``unknown`` promises nothing. An end is right where its cause is the true
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
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
LACKING = (Blemishes(), Blemishes(kernel_lost=0.5), Blemishes(no_errors=True), Blemishes(no_accounting=True))

#: An end: its confidence, the true cause and what the ledger says.
End = tuple[str, str, str]


def ends_of(trainer: str, number: int) -> Iterator[End]:
    """Yield the ends of a cluster of stories, those left out of which a source leaves no attempt behind."""
    story, style, blemishes, _ = story_of(trainer, number)
    rng = Random(f"calibration/{trainer}/{number}")
    add_decoys(story, DECOYS)
    lacking = rng.choice(LACKING)
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
            rows = con.execute("select run_id, attempt, confidence, cause from ledger.incidents").fetchall()
    told = {(run, attempt): (confidence, cause) for run, attempt, confidence, cause in rows}
    counts = Counter(run for run, _ in told)
    expected = Counter(truth["run_id"].to_list())
    for row in truth.iter_rows(named=True):
        run = row["run_id"]
        # Where an attempt left no trace, the numbers of those after it are others.
        if row["kind"] in ("completed", "ongoing") or counts[run] != expected[run]:
            continue
        confidence, cause = told[run, row["attempt"]]
        yield confidence, row["cause"], cause


def shares(ends: Counter[End]) -> dict[str, tuple[int, int]]:
    """Return by confidence how many ends were right, and how many there were."""
    right: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for (confidence, true, told), count in ends.items():
        whole[confidence] += count
        right[confidence] += count if true == told else 0
    return {confidence: (right[confidence], whole[confidence]) for confidence in sorted(whole)}


@click.command(help="Count how often the ledger is right, by its confidence.")
@click.option("--incidents", default=2000, show_default=True, help="Ends to look at, at least.")
@click.option("--trainer", default="megatron", show_default=True)
@click.option("--first", default=0, show_default=True, help="First cluster.")
def main(incidents: int, trainer: str, first: int) -> None:
    """Print the table, and exit with 1 where a promise was broken."""
    ends: Counter[End] = Counter()
    number = first
    while ends.total() < incidents:
        ends.update(ends_of(trainer, number))
        number += 1
    click.echo(f"{ends.total()} ends of {number - first} clusters")
    broken = False
    for confidence, (right, whole) in shares(ends).items():
        promised = PROMISED.get(confidence, 0.0)
        broken |= right < promised * whole
        click.echo(
            f"{confidence:10} {right:5} of {whole:5} right, {right / whole:6.1%} (promised {promised:.0%})"
        )
    wrong = Counter({end: count for end, count in ends.items() if end[1] != end[2]})
    for (confidence, true, told), count in wrong.most_common(20):
        click.echo(f"  {count:4} {confidence}: {true} taken for {told}")
    raise SystemExit(int(broken))


if __name__ == "__main__":
    main()
