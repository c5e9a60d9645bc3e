"""A run that is twice as wide, half as long, or of which a source is lost, beside the run as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.lines import Style
from pipeline.simulate.story import Story
from tests.simulated import ledger, mixed_story, secured
from tests.together import Way, side_by_side, tell, write_apart

# --- twice as wide, and half as long

#: What makes the lines of runs differ that are the same but for their hosts: no copy of each other.
LABELLED = Blemishes(prefix="host", kernel="journal")


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> tuple[Story, Path]:
    """Return a run and its first jobs, and one on so many GPUs and on twice as many: the cluster, read."""
    story = mixed_story(15)
    (run,) = story.runs
    stories = {"whole": story}
    for count in range(1, len(run.jobs)):
        shorter = replace(run, jobs=run.jobs[:count], attempts=[a for a in run.attempts if a.job < count])
        stories[f"part-{count}"] = Story(story.seed, [shorter])
    stories["small"] = mixed_story(14, gpus=64, gpus_per_host=8)
    stories["large"] = mixed_story(14, gpus=128, gpus_per_host=16)
    cluster = side_by_side(stories)
    folder = tmp_path_factory.mktemp("alike")
    write_apart(cluster, folder, {}, (Style(), LABELLED))
    assert tell(folder).said == ""
    return cluster, folder


def test_twice_the_gpus_cost_twice_as_much_and_change_no_ratio(alike: tuple[Story, Path]) -> None:
    ratios = "training_time_goodput, g_known, g_infra, g_framework, productive_share"
    names = "capacity_gpu_s, productive_gpu_s, infrastructure_gpu_s, framework_gpu_s"
    with ledger(alike[1]) as con:
        query = "select {} from marts.goodput where run_id = ? order by window_start"
        small, large = (con.execute(query.format(names), [run]).fetchall() for run in ("small", "large"))
        assert [tuple(2 * value for value in row) for row in small] == large != []
        small, large = (con.execute(query.format(ratios), [run]).fetchall() for run in ("small", "large"))
        for one, twice in zip(small, large, strict=True):
            assert one == pytest.approx(twice)


def capacity_until(folder: Path, run: str, until: object) -> object:
    """Return the GPU-microseconds of the active part of a run before a time."""
    with ledger(folder) as con:
        row = con.execute(
            "select sum((epoch_us(least(end_ts, $1)) - epoch_us(start_ts)) * gpus) from ledger.intervals"
            " where run_id = $2 and part = 'active' and start_ts < $1",
            [until, run],
        ).fetchone()
        return row[0] if row else None


def test_a_longer_log_tiles_what_a_shorter_one_did(alike: tuple[Story, Path]) -> None:
    cluster, folder = alike
    parts = [run for run in cluster.runs if run.name.startswith("part-")]
    assert len(parts) > 1
    for part in parts:
        with ledger(folder) as con:
            query = "select max(end_ts) from ledger.intervals where run_id = ? and part = 'active'"
            row = con.execute(query, [part.name]).fetchone()
        assert row is not None
        assert row[0] is not None
        assert capacity_until(folder, part.name, row[0]) == capacity_until(folder, "whole", row[0])


# --- fewer logs

#: Runs of which a source is lost. The third is launched on fewer GPUs in the same file, and the attempts of
#: the last one restored nothing: its last console does not say that anything was overwritten.
FEWER = {
    "heron-20": mixed_story(20),
    "heron-22": mixed_story(22),
    "heron-narrow": mixed_story(33, narrow=0.7),
    "heron-late": mixed_story(30),
}
WAYS: dict[str, Way] = {"heron-narrow": (Style(), Blemishes(files="run"))}


def losing(**lost: object) -> dict[str, Way]:
    """Return the ways of runs of which a source is lost."""
    return {
        name: (Style(), replace(WAYS[name][1] if name in WAYS else CLEAN, **lost))  # type: ignore[arg-type]
        for name in FEWER
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Return what is secured of each run of which nothing is lost."""
    folder = tmp_path_factory.mktemp("whole")
    write_apart(side_by_side(FEWER), folder, WAYS)
    assert tell(folder).said == ""
    return secured(folder)


def last_consoles() -> dict[str, Way]:
    """Return the ways of those runs that may lose the console of their last attempt."""
    found = {}
    for name, story in FEWER.items():
        (run,) = story.runs
        if run.attempts[-1].restore is None:
            found[name] = (Style(), Blemishes(lost_console=run.attempts[-1].number))
    return found


@pytest.mark.parametrize(
    "ways",
    [
        losing(kernel_lost=1.0),
        # The console that held a restore tells that work was overwritten: without it nothing says so.
        losing(no_errors=True) | last_consoles(),
    ],
    ids=["kernel", "errors or a console"],
)
def test_fewer_sources_never_make_more_of_a_run(
    ways: dict[str, Way], whole: dict[str, float], tmp_path: Path
) -> None:
    write_apart(side_by_side(FEWER), tmp_path, WAYS | ways)
    tell(tmp_path)
    for name, gpu_s in secured(tmp_path).items():
        assert gpu_s <= whole[name] + 1e-6, name


def test_without_accounting_no_more_is_made_of_a_run_and_a_narrower_launch_holds_less(
    whole: dict[str, float], tmp_path: Path
) -> None:
    assert len({job.gpus for job in FEWER["heron-narrow"].runs[0].jobs}) > 1
    write_apart(side_by_side(FEWER), tmp_path, WAYS, (Style(), Blemishes(no_accounting=True)))
    tell(tmp_path)
    found = secured(tmp_path)
    assert set(found) == set(FEWER)
    for name, gpu_s in found.items():
        assert gpu_s <= whole[name] + 1e-6, name
    assert found["heron-narrow"] == pytest.approx(whole["heron-narrow"])
