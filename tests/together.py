"""Stories side by side in one folder that is read once: each run has its own hosts, jobs and blemishes.

To build a ledger costs the same for one small run as for eight. So the runs that a module tells of share a
folder, as those of a cluster do, and each is held to its own truth.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.folder import TOTALS
from pipeline.simulate.invent import host_name
from pipeline.simulate.judge import Judgement, judge
from pipeline.simulate.lines import Style
from pipeline.simulate.story import Run, Story
from pipeline.simulate.verdict import sentences
from pipeline.simulate.write import write_story
from pipeline.simulate.written import read_truth
from tests.simulated import classify, ledger

#: How a run is printed, and what happens to its lines.
Way = tuple[Style, Blemishes]
PLAIN = (Style(), CLEAN)

#: By run what a ledger says of it.
Account = dict[str, list[tuple[object, ...]]]

#: Where the numbers of hosts and jobs begin, as `invent` counts them.
HOST, JOB, JOBS = 100, 88_000, 1_000


def side_by_side(stories: Mapping[str, Story]) -> Story:
    """Return the runs of stories as those of one cluster, under the names that they are given.

    Each story has one run. Its times stay as they are; hosts and jobs are counted on.
    """
    runs, maintenance, decoys = [], [], []
    host = HOST
    for number, (name, story) in enumerate(stories.items()):
        (run,) = story.runs
        hosts = sorted({host for job in run.jobs for host in job.hosts}, key=lambda name: (len(name), name))
        others = {old: host_name(host + at) for at, old in enumerate(hosts)}
        host += len(hosts) + 1
        runs.append(moved(run, name, others, JOB + JOBS * number))
        maintenance += story.maintenance
        decoys += [replace(decoy, host=others.get(decoy.host, decoy.host)) for decoy in story.decoys]
    return Story(0, runs, maintenance, decoys)


def moved(run: Run, name: str, hosts: Mapping[str, str], job_id: int) -> Run:
    """Return a run under another name, on other hosts and in other jobs."""
    first = min(job.job_id for job in run.jobs)
    jobs = [
        replace(
            job,
            job_id=job.job_id - first + job_id,
            hosts=tuple(hosts[host] for host in job.hosts),
            removed=tuple(replace(removal, host=hosts[removal.host]) for removal in job.removed),
        )
        for job in run.jobs
    ]
    attempts = [
        replace(
            attempt,
            hosts=tuple(hosts[host] for host in attempt.hosts),
            end=attempt.end and replace(attempt.end, host=hosts.get(attempt.end.host, attempt.end.host)),
        )
        for attempt in run.attempts
    ]
    return replace(run, name=name, jobs=jobs, attempts=attempts)


def write_apart(story: Story, out: Path, ways: Mapping[str, Way], of_all: Way = PLAIN) -> None:
    """Write a story of which some runs are printed and kept in ways of their own, with their truth.

    What tells of all runs at once, such as accounting, is written as ``of_all`` says, and so is a run
    of which no way is told.
    """
    write_story(story, out, *of_all)
    totals = json.loads((out / TOTALS).read_text(encoding="utf-8"))
    for run in story.runs:
        if run.name in ways:
            aside = out / "aside"
            totals["slack"][run.name] = _rewrite(story, run, out / "logs", aside, *ways[run.name])
            shutil.rmtree(aside)
    (out / TOTALS).write_text(json.dumps(totals), encoding="utf-8")


def _rewrite(story: Story, run: Run, logs: Path, aside: Path, style: Style, blemishes: Blemishes) -> object:
    """Put the consoles of a run, and what its hosts say, as they are in another way; return its slack."""
    hosts = {host for job in run.jobs for host in job.hosts}
    decoys = [decoy for decoy in story.decoys if decoy.host in hosts]
    write_story(Story(story.seed, [run], story.maintenance, decoys), aside, style, blemishes)
    shutil.rmtree(logs / run.name)
    shutil.copytree(aside / "logs" / run.name, logs / run.name)
    for path in (logs / "nodes").glob("*"):
        if path.name.partition(".")[0] in hosts:
            path.unlink()
    (logs / "nodes").mkdir(exist_ok=True)
    for path in (aside / "logs" / "nodes").glob("*"):
        shutil.copyfile(path, logs / "nodes" / path.name)
    told = json.loads((aside / TOTALS).read_text(encoding="utf-8"))
    return told["slack"][run.name]


@dataclass(frozen=True, slots=True)
class Told:
    """A folder of runs that was read.

    Attributes:
        folder: holds logs, truth and store.
        said: what was said where a check failed, else nothing.
        found: how the ledger compares with the truth.
    """

    folder: Path
    said: str
    found: Judgement

    def differences(self, run: str | None = None) -> list[str]:
        """Return what differs of a run, or of all, in sentences; a check that failed is told of every run."""
        if run is None:
            return ([self.said] if self.said else []) + (
                [] if self.found.agrees else list(sentences(self.found, 5))
            )
        assert run in self.found.whole_us, f"no run is called {run}"
        return ([self.said] if self.said else []) + differing(self.found, run)


def tell(folder: Path, *options: str) -> Told:
    """Read the logs of a folder, and hold them to the truth beside them; ``options`` of the second stage."""
    said = classify(folder, *options)
    with ledger(folder) as con:
        return Told(folder, said, judge(con, read_truth(folder)))


def account(told: Told) -> Account:
    """Return by run the ledger of a folder that broke no law, without a word of where its lines were."""
    assert told.said == ""
    with ledger(told.folder) as con:
        rows = con.execute(
            "select i.run_id, i.attempt, i.part, i.start_ts, i.end_ts, i.gpu_us, i.category, i.was,"
            " n.attempt, n.cause from ledger.intervals as i"
            " left join ledger.incidents as n using (incident_id) order by all"
        ).fetchall()
    return {run: [row for row in rows if row[0] == run] for run in sorted({row[0] for row in rows})}


def differing(found: Judgement, run: str) -> list[str]:
    """Return what differs of a run, in sentences. A run that there is not differs of all of them."""
    own = replace(
        found,
        spans=tuple(span for span in found.spans if span.run == run),
        mistakes=tuple(m for m in found.mistakes if m.run == run or m.run not in found.whole_us),
        whole_us={name: whole for name, whole in found.whole_us.items() if name == run},
    )
    return [] if own.agrees else list(sentences(own, 2))
