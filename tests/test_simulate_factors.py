"""Stories whose steps divide in a known way: the ledger finds the factors, and who held the others up."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.bound import PLANS
from pipeline.simulate.invent import invent
from pipeline.simulate.judge import Mistake, judge
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Ending, Plan
from pipeline.simulate.samples import HEADER

#: Ten steps of 5 s of 16 GPUs without an end before the last one.
from pipeline.simulate.story import Story, Throttle
from pipeline.simulate.write import write_story
from pipeline.simulate.written import read_truth
from tests.simulated import classify, ledger
from tests.together import Told, side_by_side, tell, write_apart


def short(name: str, plan: Plan) -> Plan:
    """Return a plan of 120 steps that fails once."""
    end = Ending("gpu_off_bus_hang", 40 * plan.step_s)
    throttle = plan.throttle and Throttle(80, plan.throttle.slower)
    return replace(plan, name=name, target=120, save_every=30, script=(end,), throttle=throttle)


#: Every story of a preset, and one of them by trainers that tell less.
SHORT: Mapping[str, Plan] = {
    **{f"{name}-{plan.gpus}": short(f"{name}-{plan.gpus}", plan) for name in PLANS for plan in PLANS[name]},
    **{
        f"{name}-by-{trainer}": replace(short(f"{name}-by-{trainer}", PLANS[name][0]), trainer=trainer)
        for name, trainer in (
            ("network_bound", "megatron_core_0_5"),
            ("network_bound", "deepspeed"),
            ("input_bound", "torchtitan_events"),
            ("straggler_host", "torchtitan_events"),
            ("network_bound", "torchtitan"),
        )
    },
}


@dataclass(frozen=True)
class Read:
    """What the ledger of all these stories says: a failed check, mistakes by run, and rows of marts."""

    said: str
    mistakes: tuple[Mistake, ...]
    verdicts: Mapping[str, str]
    stragglers: tuple[tuple[str, str, str], ...]
    levels: tuple[tuple[str, int, float, str | None], ...]
    sampled: int
    scaling: tuple[tuple[str, float], ...]
    faults: tuple[tuple[str, str], ...]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    """All of them as runs of one cluster, read together."""
    out = tmp_path_factory.mktemp("split")
    write_story(invent(11, tuple(SHORT.values())), out, Style())
    said = classify(out)
    with ledger(out) as con:
        yield Read(
            said,
            judge(con, read_truth(out)).mistakes,
            dict(con.execute("select run_id, verdict from marts.run_efficiency").fetchall()),
            tuple(con.execute("select run_id, host, component from marts.stragglers").fetchall()),
            tuple(
                con.execute(
                    "select run_id, step_first, slowdown, host from marts.slow_stretches where kind = 'level'"
                ).fetchall()
            ),
            len(con.execute("from marts.devices").fetchall()),
            tuple(
                con.execute(
                    "select run_id, efficiency from marts.scaling where run_id like 'scaling%' order by gpus"
                ).fetchall()
            ),
            tuple(con.execute("select run_id, fault from marts.model_faults").fetchall()),
        )
    shutil.rmtree(out)


def test_no_check_fires(read: Read) -> None:
    assert read.said == ""


@pytest.mark.parametrize("name", SHORT)
def test_the_ledger_tells_the_true_factors_and_the_verdict(name: str, read: Read) -> None:
    """To one in a hundred; what a trainer does not print is unknown on both sides."""
    assert [mistake for mistake in read.mistakes if mistake.run == name] == []


def test_what_programs_count_is_what_their_shape_makes(read: Read) -> None:
    """Torchtitan counts the whole attention and what norms hold, Megatron-LM half of it."""
    assert read.faults == ()


def test_stories_are_bound_by_what_they_are_called(read: Read) -> None:
    named = {name: verdict for name, verdict in read.verdicts.items() if name.endswith("bound-64")}
    assert named == {name: name.removesuffix("-64") for name in named}
    assert len(named) == 5
    assert read.verdicts["no_timers-64"] == "not_known"


def test_the_slow_host_of_a_story_stands_out_alone_where_each_tells_of_itself(read: Read) -> None:
    """The fourth of its eight hosts; they are numbered through all runs of the cluster."""
    name = "straggler_host-by-torchtitan_events"
    run = next(run for run in invent(11, tuple(SHORT.values())).runs if run.name == name)
    assert read.stragglers == ((name, run.attempts[0].hosts[3], "fwd_bwd"),)


def test_a_throttled_gpu_is_a_change_of_level(read: Read) -> None:
    """Steps from 80 on take 1.3 times as long."""
    assert [(run, first, round(slowdown, 2)) for run, first, slowdown, _ in read.levels] == [
        ("throttled_gpu-64", 80, 1.3)
    ]


def test_without_samples_no_host_is_named(read: Read) -> None:
    assert [host for *_, host in read.levels] == [None]
    assert read.sampled == 0


#: Runs whose devices are sampled: of the second one no reason is told for which a device is held down. Its
#: last 31 of 280 steps take 6.5 s: three minutes at 1 / 1.3 of its usual clock, 77 %.
SAMPLED = {
    "told": SHORT["throttled_gpu-64"],
    "untold": replace(SHORT["throttled_gpu-64"], target=280, throttle=Throttle(250, 1.3)),
}


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Story, Told]:
    """Both as runs of one cluster, read."""
    # Of one seed the kernels of both would say the same at the same times: each log would be a copy.
    stories = {name: invent(12 - at, (plan,)) for at, (name, plan) in enumerate(SAMPLED.items())}
    story = side_by_side(stories)
    folder = tmp_path_factory.mktemp("sampled")
    write_apart(story, folder, {}, (Style(), Blemishes(samples=20.0)))
    for host in sorted({host for job in story.runs[1].jobs for host in job.hosts}):
        without_reasons(folder / "logs" / "nodes" / f"{host}.dcgm.csv")
    told = tell(folder)
    assert told.said == ""
    return story, told


def without_reasons(table: Path) -> None:
    """Take the last column out of a table of samples: the reasons for which devices are held down."""
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0] == HEADER
    table.write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "first", "reason"),
    [
        (0, 80, "says that a fault holds its clock down"),
        (1, 250, "ran at 76 % of its usual clock (inferred, since it tells no reason)"),
    ],
    ids=SAMPLED,
)
def test_samples_name_the_throttled_gpu(
    place: int, first: int, reason: str, sampled: tuple[Story, Told]
) -> None:
    """The sixth host of the attempt, and its third GPU: heat holds it down from a step on."""
    story, told = sampled
    run = story.runs[place]
    slow = next(a for a in run.attempts if any(step.number == first for step in a.steps))
    with ledger(told.folder) as con:
        stretches = con.execute(
            "select step_first, host, gpu, host_reason from marts.slow_stretches"
            " where kind = 'level' and run_id = ?",
            [run.name],
        ).fetchall()
    assert stretches == [(first, slow.hosts[5], "2", reason)]
    assert [mistake for mistake in told.found.mistakes if mistake.run == run.name] == []


def test_a_clock_that_falls_for_minutes_is_inferred_where_no_reason_is_told(
    sampled: tuple[Story, Told],
) -> None:
    """And no other device of either run is said to be held down."""
    story, told = sampled
    held = [sorted({host for job in run.jobs for host in job.hosts}) for run in story.runs]
    slow = [
        next(a for a in run.attempts if any(step.number == first for step in a.steps)).hosts[5]
        for run, first in zip(story.runs, (80, 250), strict=True)
    ]
    devices = "select host, gpu, reasons, finding from marts.devices where list_contains(?, host)"
    throttled = "select host, gpu, evidence from ledger.throttled_devices where list_contains(?, host)"
    with ledger(told.folder) as con:
        known = con.execute(devices, [held[0]]).fetchall()
        inferred = con.execute(throttled, [held[1]]).fetchall()
    assert known == [(slow[0], "2", "heat, power limit", "a fault held its clock down")]
    assert inferred == [(slow[1], "2", "dip")]


def test_efficiency_of_scaling_is_that_of_the_step(read: Read) -> None:
    """As many tokens for each GPU: 4.75 / (0.99 − exposed) s are 5.0, 5.46 and 8.051 s a step."""
    assert [run for run, _ in read.scaling] == ["scaling-16", "scaling-32", "scaling-64"]
    assert [efficiency for _, efficiency in read.scaling] == [
        pytest.approx(5.0 / step_s, rel=0.01) for step_s in (5.0, 5.46, 8.051)
    ]
