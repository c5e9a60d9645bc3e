"""Laws that no story and no log may break; random stories shrink to the smallest that breaks one."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import zstandard
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipeline.simulate.blemishes import CLEAN, Blemishes, KernelForm
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import Story
from pipeline.simulate.write import write_story
from tests.simulated import ENDS, THROUGH_ALL, classify, ledger, random_maintenance, secured, violations

#: Stories of `make test`; the long run asks for more. Those of one folder are read together.
STORIES = int(os.environ.get("GOODPUT_STORIES", "30"))
TOGETHER = 3

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


blemishes = st.builds(
    Blemishes,
    prefix=st.sampled_from(["srun", "none", "torchrun", "stacked", "rank", "host"]),
    files=st.sampled_from(["job", "attempt", "run"]),
    together=st.booleans(),
    rotate_bytes=st.sampled_from([0, 3000, 20_000]),
    every_rank=st.booleans(),
    compression=st.sampled_from(["none", "gzip", "zstd"]),
    kernel=st.sampled_from(["iso", "ctime", "syslog", "boot", "journal", "json"]),
    accounting=st.sampled_from(["text", "json"]),
)


@bounded
@given(
    st.integers(0, 10_000),
    st.tuples(*[plans()] * TOGETHER),
    blemishes,
    st.sampled_from([1, 5, 10]),
    st.sampled_from([0, 7200]),
)
def test_the_ledger_tells_the_truth(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    drawn: tuple[Plan, ...],
    worn: Blemishes,
    interval: int,
    zone_s: int,
) -> None:
    folder = tmp_path_factory.mktemp("story")
    together = [replace(plan, name=f"heron-{number}") for number, plan in enumerate(drawn)]
    if worn.every_rank:
        together = [replace(plan, gpus=16, target=120) for plan in together]
    story = invent(seed, tuple(together), random_maintenance(Random(seed)))
    assert violations(story, folder / "story", Style(interval, zone_s), worn) == []
    shutil.rmtree(folder)


# --- what must change nothing


def story_of(seed: int, **changes: object) -> Story:
    """Return a story with a bit of everything."""
    plan = replace(
        Plan(),
        target=260,
        ends=dict.fromkeys(ENDS, 1.0),
        steps_between=(40, 90),
        max_attempts=5,
        requeue=0.4,
        restart_inside=0.4,
        eval_every=70,
    )
    return invent(seed, (replace(plan, **changes),))  # type: ignore[arg-type]


def written(story: Story, folder: Path, worn: Blemishes = CLEAN) -> Path:
    """Write a story and classify it."""
    write_story(story, folder, Style(), worn)
    assert classify(folder) == ""
    return folder


def account(folder: Path) -> list[tuple[object, ...]]:
    """Return the ledger of a folder without a word of where its lines were."""
    with ledger(folder) as con:
        return con.execute(
            "select i.run_id, i.attempt, i.part, i.start_ts, i.end_ts, i.gpu_us, i.category, i.was,"
            " n.attempt, n.cause from ledger.intervals as i"
            " left join ledger.incidents as n using (incident_id) order by all"
        ).fetchall()


def gzipped(logs: Path) -> None:
    for path in sorted(logs.rglob("*.out")):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()


def zstd_of_all(logs: Path) -> None:
    for path in sorted(logs.rglob("*")):
        if path.is_file() and path.suffix != ".toml":
            packed = zstandard.ZstdCompressor().compress(path.read_bytes())
            path.with_name(f"{path.name}.zst").write_bytes(packed)
            path.unlink()


def copied(logs: Path) -> None:
    for path in sorted(logs.rglob("*.out")):
        shutil.copyfile(path, path.with_name(f"copy-of-{path.name}"))


def split(logs: Path) -> None:
    for path in sorted(logs.rglob("*.out")):
        lines = path.read_bytes().splitlines(keepends=True)
        half = len(lines) // 2
        path.with_name(f"{path.name}.1").write_bytes(b"".join(lines[:half]))
        path.write_bytes(b"".join(lines[half:]))


def stray(logs: Path) -> None:
    (logs / "heron-70b" / "notes.txt").write_text("ask mira about the loader\n", encoding="utf-8")
    (logs / "nodes" / "empty.log").parent.mkdir(exist_ok=True)
    (logs / "nodes" / "empty.log").write_bytes(b"")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    return account(written(story_of(11), tmp_path_factory.mktemp("plain") / "story"))


@pytest.mark.parametrize("change", [gzipped, zstd_of_all, copied, split, stray])
def test_how_files_are_kept_changes_nothing(
    change: Callable[[Path], None], plain: list[tuple[object, ...]], tmp_path: Path
) -> None:
    write_story(story_of(11), tmp_path / "other", Style())
    change(tmp_path / "other" / "logs")
    assert classify(tmp_path / "other") == ""
    assert plain == account(tmp_path / "other")


@pytest.mark.parametrize(
    "worn",
    [Blemishes(files="run", together=True), Blemishes(files="attempt"), Blemishes(together=True)],
    ids=["run", "attempt", "together"],
)
def test_what_goes_into_one_file_changes_nothing(
    worn: Blemishes, plain: list[tuple[object, ...]], tmp_path: Path
) -> None:
    assert plain == account(written(story_of(11), tmp_path / "other", worn))


@pytest.mark.parametrize("trainer", ["goodput_records", "megatron_core_0_5", "torchtitan"])
def test_what_is_cut_or_repeated_changes_nothing(trainer: str, tmp_path: Path) -> None:
    story = story_of(16, trainer=trainer, gpus=16, target=150)
    plain = account(written(story, tmp_path / "plain"))
    assert plain == account(written(story, tmp_path / "rotated", Blemishes(rotate_bytes=3000)))
    assert plain == account(written(story, tmp_path / "repeated", Blemishes(every_rank=True)))


@pytest.mark.parametrize("form", ["journal", "json"])
def test_the_journal_of_a_kernel_tells_what_its_own_log_tells(
    form: KernelForm, plain: list[tuple[object, ...]], tmp_path: Path
) -> None:
    assert plain == account(written(story_of(11), tmp_path / "other", Blemishes(kernel=form)))


def test_noise_changes_nothing(plain: list[tuple[object, ...]], tmp_path: Path) -> None:
    assert plain == account(written(story_of(11), tmp_path / "noisy", Blemishes(noise_mb=1.5)))


def test_twice_the_gpus_cost_twice_as_much_and_change_no_ratio(tmp_path: Path) -> None:
    small = written(story_of(14, gpus=64, gpus_per_host=8), tmp_path / "small")
    large = written(story_of(14, gpus=128, gpus_per_host=16), tmp_path / "large")
    ratios = "training_time_goodput, g_known, g_infra, g_framework, productive_share"
    for name in ("capacity_gpu_s", "productive_gpu_s", "infrastructure_gpu_s", "framework_gpu_s"):
        values = []
        for folder in (small, large):
            with ledger(folder) as con:
                values.append(con.execute(f"select {name} from marts.goodput order by all").fetchall())
        assert [(2 * value,) for (value,) in values[0]] == values[1], name
    with ledger(small) as con, ledger(large) as other:
        query = f"select {ratios} from marts.goodput order by window_start"
        for one, twice in zip(con.execute(query).fetchall(), other.execute(query).fetchall(), strict=True):
            assert one == pytest.approx(twice)


# --- more logs, and fewer


def capacity_until(folder: Path, until: object) -> object:
    """Return the GPU-microseconds of the active part before a time."""
    with ledger(folder) as con:
        row = con.execute(
            "select sum((epoch_us(least(end_ts, $1)) - epoch_us(start_ts)) * gpus) from ledger.intervals"
            " where part = 'active' and start_ts < $1",
            [until],
        ).fetchone()
        return row[0] if row else None


def test_a_longer_log_tiles_what_a_shorter_one_did(tmp_path: Path) -> None:
    story = story_of(15)
    whole = written(story, tmp_path / "whole")
    run = story.runs[0]
    assert len(run.jobs) > 2
    for count in range(1, len(run.jobs)):
        part = tmp_path / f"part-{count}"
        shorter = replace(run, jobs=run.jobs[:count], attempts=[a for a in run.attempts if a.job < count])
        written(Story(story.seed, [shorter]), part)
        with ledger(part) as con:
            row = con.execute("select max(end_ts) from ledger.intervals").fetchone()
        assert row is not None
        assert capacity_until(part, row[0]) == capacity_until(whole, row[0])


@pytest.mark.parametrize("seed", [20, 22])
def test_fewer_sources_never_make_more_of_a_run(seed: int, tmp_path: Path) -> None:
    story = story_of(seed)
    whole = written(story, tmp_path / "whole")
    run = story.runs[0]
    last_restore = max((a.number for a in run.attempts if a.restore is not None), default=0)
    losses = [Blemishes(no_accounting=True), Blemishes(kernel_lost=1.0), Blemishes(no_errors=True)]
    # The console that held a restore tells that work was overwritten: without it nothing says so.
    losses += [Blemishes(lost_console=a.number) for a in run.attempts if a.number > last_restore]
    for at, lost in enumerate(losses):
        folder = tmp_path / f"without-{at}"
        write_story(story, folder, Style(), lost)
        classify(folder)
        assert secured(folder)["heron-70b"] <= secured(whole)["heron-70b"] + 1e-6, lost


def test_a_narrower_launch_in_the_same_file_holds_less(tmp_path: Path) -> None:
    story = story_of(33, narrow=0.7)
    run = story.runs[0]
    assert len({job.gpus for job in run.jobs}) > 1
    whole = written(story, tmp_path / "whole", Blemishes(files="run"))
    write_story(story, tmp_path / "without", Style(), Blemishes(files="run", no_accounting=True))
    classify(tmp_path / "without")
    assert secured(tmp_path / "without") == pytest.approx(secured(whole))
