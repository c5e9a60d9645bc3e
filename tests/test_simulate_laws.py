"""Laws that no story and no log may break; random stories shrink to the smallest that breaks one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipeline.simulate.blemishes import AccountingForm, Blemishes
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import Story
from tests.laws import MAKINGS, SAME_LINES, Making, broken, judged_otherwise, later, twin_of
from tests.simulated import ENDS, THROUGH_ALL, random_maintenance
from tests.together import account, tell, write_apart

#: Stories of `make test`; the long run asks for more. Those of one folder are read together.
STORIES = int(os.environ.get("GOODPUT_STORIES", "30"))
TOGETHER = len(MAKINGS)

bounded = settings(
    max_examples=STORIES // TOGETHER,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate) if STORIES <= 30 else tuple(Phase),
    suppress_health_check=list(HealthCheck),
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw a small run; the first of each choice is the simplest."""
    share = st.sampled_from([0.0, 0.3, 0.6])
    return Plan(
        trainer=draw(st.sampled_from(THROUGH_ALL)),
        gpus=draw(st.sampled_from([16, 64])),
        target=draw(st.sampled_from([120, 400])),
        ends=dict.fromkeys(draw(st.lists(st.sampled_from(ENDS), min_size=1, max_size=4, unique=True)), 1.0),
        steps_between=draw(st.sampled_from([(20, 60), (40, 160)])),
        max_attempts=draw(st.integers(1, 6)),
        save_async=draw(st.booleans()),
        eval_every=draw(st.sampled_from([0, 70])),
        loop_gap=draw(st.sampled_from([0.0, 0.02])),
        data_stall=draw(st.sampled_from([0.0, 0.02])),
        failed_start=draw(share),
        roll_back=draw(share),
        requeue=draw(share),
        restart_inside=draw(share),
        narrow=draw(share),
        spares=draw(st.integers(0, 1)),
        lemon=draw(share),
        goes_on=draw(st.booleans()),
        slow=draw(st.sampled_from([0.0, 0.02])),
        shrink=draw(share),
    )


#: What happens to the lines of one run.
blemishes = st.builds(
    Blemishes,
    prefix=st.sampled_from(["srun", "none", "torchrun", "stacked", "rank", "host", "mpirun", "kubectl"]),
    files=st.sampled_from(["job", "attempt", "run"]),
    together=st.booleans(),
    rotate_bytes=st.sampled_from([0, 3000, 20_000]),
    every_rank=st.booleans(),
    interleaved=st.booleans(),
    torn=st.booleans(),
    compression=st.sampled_from(["none", "gzip", "zstd"]),
    kernel=st.sampled_from(["iso", "ctime", "syslog", "boot", "journal", "json"]),
)

#: A run, what happens to its lines, and how many steps one of them stands for.
worn_plans = st.tuples(plans(), blemishes, st.sampled_from([1, 5, 10]))


def laws_broken(
    folder: Path,
    seed: int,
    drawn: Sequence[tuple[Plan, Blemishes, int]],
    accounting: AccountingForm = "text",
    zone_s: int = 0,
    window: str = "24h",
    makings: Sequence[Making] = MAKINGS,
) -> list[str]:
    """Write runs with their twins; return what differs from their truth, and each broken law."""
    plans, ways = [], {}
    for number, (plan, worn, interval) in enumerate(drawn):
        # What every rank prints is as many times as long.
        small = {"gpus": 16, "target": 120} if worn.every_rank else {}
        plans.append(replace(plan, name=f"heron-{number}", **small))
        if makings[number % len(makings)] in SAME_LINES:
            # In which order lines come, and in which second a host had booted, is drawn for each anew.
            worn = replace(worn, interleaved=False, kernel="iso" if worn.kernel == "boot" else worn.kernel)
        ways[f"heron-{number}"] = (Style(interval, zone_s), worn)
    maintenance = random_maintenance(Random(seed))
    runs = invent(seed, tuple(plans), maintenance).runs
    twins = [
        twin_of(makings[at % len(makings)], run, plans, at, seed, maintenance, ways[run.name])
        for at, run in enumerate(runs)
    ]
    story = Story(seed, [*runs, *(twin.run for twin in twins)], [*maintenance, *later(maintenance)])
    ways |= {twin.run.name: twin.way for twin in twins}
    write_apart(story, folder, ways, (Style(1, zone_s), Blemishes(accounting=accounting)))
    # Files beside the runs are packed last.
    for twin in sorted(twins, key=lambda twin: twin.is_true):
        if twin.change is not None:
            twin.change(folder / "logs" / twin.run.name, twin.run)
    told = tell(folder, "--window", window)
    differing = list(judged_otherwise(told, twins))
    return differing if told.said else [*differing, *broken(told, runs, twins, account(told))]


@bounded
@given(
    st.integers(0, 10_000),
    st.tuples(*[worn_plans] * TOGETHER),
    st.sampled_from(["text", "json"]),
    st.sampled_from([0, 7200]),
    st.sampled_from(["24h", "7h", "90m"]),
)
def test_the_ledger_tells_the_truth_and_breaks_no_law(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    drawn: tuple[tuple[Plan, Blemishes, int], ...],
    accounting: AccountingForm,
    zone_s: int,
    window: str,
) -> None:
    """Each of six runs has a twin that another law speaks of; both are held to their truth."""
    folder = tmp_path_factory.mktemp("story") / "story"
    assert laws_broken(folder, seed, drawn, accounting, zone_s, window) == []
    shutil.rmtree(folder)
