"""``goodput simulate``: what it writes, what it refuses, and that its comparison can fail."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from pipeline.cli import run
from pipeline.simulate.check import Slack, Span, differences
from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.presets import LLAMA3_PLANNED, LLAMA3_UNEXPECTED, PRESETS
from pipeline.simulate.renderers import trainers


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "neither `--out` nor `--check` was given"),
        (["--out", "x", "--check", "y"], "`--out` and `--check` were both given"),
        (["--out", ""], "the name of the folder is empty"),
        (["--check", "x", "--seed", "4"], "`--seed` says nothing to `--check`"),
        (["--out", "x", "--preset", "quickstart", "--days", "3"], "the preset `quickstart` says itself"),
        (["--out", "x", "--days", "nan"], "nan is not between 0.01 and 100"),
        (["--out", "x", "--days", "1e9"], "is not between 0.01 and 100"),
        (["--out", "x", "--gpus", "9"], "9 GPUs are no whole number of hosts"),
        (["--out", "x", "--gpus", "1000000000"], "a multiple of 8 up to 131,072"),
        (["--out", "x", "--preset", "quickstrat"], "did you mean `quickstart`?"),
        (["--out", "x", "--trainer", "megaton"], "did you mean `megatron`?"),
        (["--out", "x", "--blemish", "tron"], "did you mean `torn`?"),
        (["--out", "x", "--blemish", "prefix=slurm"], "`slurm` is no value of the blemish `prefix`"),
        (["--out", "x", "--blemish", "prefix"], "`prefix` needs a value"),
        (["--out", "x", "--blemish", "noise_mb=much"], "`much` is no number"),
        (["--out", "x", "--blemish", "noise_mb"], "`noise_mb` needs a value"),
        (["--out", "x", "--blemish", "noise_mb=nan"], "nan is not between 0 and 1,000,000"),
        (["--out", "x", "--blemish", "rotate_bytes=0.5"], "0.5 is not between 1 and"),
        (["--out", "x", "--blemish", "lost_console=1.7"], "1.7 is no whole number"),
        (["--out", "x", "--blemish", "lost_console=99"], "this story has 2 attempts"),
        (["--out", "x", "--blemish", "torn=false"], "the blemish `torn` has no value"),
        (["--out", "x", "--blemish", "torn", "--blemish", "torn"], "the blemish `torn` is given twice"),
        (["--out", "x", "--blemish", "zone=3.3"], "no place is 3.3 hours ahead of UTC"),
        (["--check", "nowhere"], "there is no such folder"),
        (["--check", "."], "this folder holds no truth"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["simulate", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_preset_and_every_trainer(capsys: pytest.CaptureFixture[str]) -> None:
    run(["simulate", "--help"])
    told = capsys.readouterr().out.replace(",", " ").replace(".", " ").split()
    assert {*PRESETS, *trainers()} <= set(told)


SMALL = ("--gpus", "16", "--days", "0.02")


@pytest.mark.parametrize(
    ("name", "content"), [("logs/mine.log", ""), ("truth/mine.txt", ""), ("truth.json", '{"mine": 1}')]
)
def test_what_somebody_else_wrote_is_not_touched(
    name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert run(["simulate", "--out", str(tmp_path), *SMALL]) == 2
    assert (
        f"the folder holds `{name.partition('/')[0]}`, which no simulation wrote" in capsys.readouterr().err
    )
    assert (tmp_path / name).read_text(encoding="utf-8") == content


def test_a_file_that_somebody_put_beside_the_logs_is_not_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = tmp_path / "story"
    assert run(["simulate", "--out", str(story), *SMALL]) == 0
    (story / "logs" / "mine.log").touch()
    assert run(["simulate", "--out", str(story), *SMALL]) == 2
    assert "files, and the simulation had written" in capsys.readouterr().err
    assert (story / "logs" / "mine.log").exists()


def test_a_link_to_the_logs_of_somebody_is_not_followed(tmp_path: Path) -> None:
    story, real = tmp_path / "story", tmp_path / "real"
    assert run(["simulate", "--out", str(story), *SMALL]) == 0
    (story / "logs").rename(real)
    (story / "logs").symlink_to(real)
    before = sorted(real.rglob("*"))
    assert run(["simulate", "--out", str(story), *SMALL, "--seed", "3"]) == 2
    assert sorted(real.rglob("*")) == before


def test_a_story_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = tmp_path / "story"
    assert run(["simulate", "--out", str(story), *SMALL]) == 0
    before = {path: path.read_bytes() for path in story.rglob("*") if path.is_file()}

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pipeline.simulate.write.write_truth", fail)
    assert run(["simulate", "--out", str(story), *SMALL, "--seed", "3"]) == 2
    assert {path: path.read_bytes() for path in story.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("text", ["{broken", "", "[]", "{}", '{"slack": {"heron-70b": {}}}'])
def test_a_damaged_truth_is_named(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "truth.json").write_text(text, encoding="utf-8")
    assert run(["simulate", "--check", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "the truth cannot be read" in said
    assert "truth.json" in said
    assert not (tmp_path / "store").exists()


def test_damaged_true_intervals_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = tmp_path / "story"
    assert run(["simulate", "--out", str(story), *SMALL]) == 0
    path = story / "truth" / "intervals.parquet"
    path.write_bytes(path.read_bytes()[:300])
    assert run(["simulate", "--check", str(story)]) == 2
    assert str(path) in capsys.readouterr().err


def test_the_truth_says_what_was_asked_for(tmp_path: Path) -> None:
    assert run(["simulate", "--out", str(tmp_path / "s"), *SMALL, "--seed", "7", "--blemish", "torn"]) == 0
    asked = json.loads((tmp_path / "s" / "truth.json").read_text(encoding="utf-8"))["asked"]
    assert (asked["gpus"], asked["days"], asked["seed"], asked["blemishes"]) == (16, 0.02, 7, ["torn"])


def test_a_missing_source_is_said_where_the_ledger_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = str(tmp_path / "story")
    assert run(["simulate", "--out", story, *SMALL, "--blemish", "no_accounting"]) == 0
    assert run(["simulate", "--check", story]) == 1
    assert (
        "this story was written with no_accounting: equality is not to be expected" in capsys.readouterr().out
    )


def test_a_preset_may_be_told_by_another_trainer(tmp_path: Path) -> None:
    out = tmp_path / "story"
    assert run(["simulate", "--out", str(out), "--preset", "quickstart", "--trainer", "torchtitan"]) == 0
    assert any("[titan]" in path.read_text(encoding="utf-8") for path in out.rglob("*.out"))


def test_a_story_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    story = str(tmp_path)
    packed = ["--preset", "quickstart", "--blemish", "compression=gzip", "--blemish", "decoys=40"]
    assert run(["simulate", "--out", story, *packed]) == 0
    assert list(tmp_path.rglob("*.gz"))
    noisy = {path.name for path in tmp_path.rglob("*.dmesg.txt")}
    assert run(["simulate", "--out", story, "--preset", "quickstart"]) == 0
    assert not list(tmp_path.rglob("*.gz"))
    assert {path.name for path in tmp_path.rglob("*.dmesg.txt")} < noisy


def test_a_ledger_is_compared_and_a_difference_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    story = str(tmp_path / "story")
    assert run(["simulate", "--out", story, "--preset", "quickstart"]) == 0
    assert run(["simulate", "--check", story]) == 0
    assert "the ledger tells the truth, as far as the logs can" in capsys.readouterr().out
    # Another truth: what was lost had been productive, and the fault another one.
    path = tmp_path / "story" / "truth" / "intervals.parquet"
    other = pl.col("category").replace("lost_work", "productive")
    pl.read_parquet(path).with_columns(other).write_parquet(path)
    path = tmp_path / "story" / "truth" / "incidents.parquet"
    other = pl.col("cause").replace("gpu_fell_off_bus", "gpu_memory_error")
    pl.read_parquet(path).with_columns(other).write_parquet(path)
    assert run(["simulate", "--check", story]) == 1
    said = capsys.readouterr().out
    assert "  truth:  productive, incident 1, from 2026-10-05 " in said
    assert "  ledger: lost_work, incident 1, from 2026-10-05 " in said
    # What either side goes by: the end as it was, and a line of the logs.
    true, told = (next(line for line in said.splitlines() if side in line) for side in ("truth:", "ledger:"))
    assert re.search(
        r"\(attempt 1 ended by gpu_memory_error on gx\d+: stood still [\d:]+, noticed [\d:]+, rel", true
    )
    assert re.search(r"\(heron-70b/job-\d+\.out:\d+\)$", told)
    assert "heron-70b, attempt 1, cause: truth gpu_memory_error, ledger gpu_fell_off_bus" in said
    assert "the ledger differs from the truth" in said


def test_the_totals_of_the_truth_are_those_of_its_intervals(tmp_path: Path) -> None:
    assert run(["simulate", "--out", str(tmp_path / "story"), "--gpus", "16", "--days", "0.1"]) == 0
    told = json.loads((tmp_path / "story" / "truth.json").read_text(encoding="utf-8"))
    intervals = pl.read_parquet(tmp_path / "story" / "truth" / "intervals.parquet")
    sums = dict(intervals.group_by("category").agg(pl.col("gpu_us").sum()).iter_rows())
    assert told["runs"]["heron-70b"] == sums
    days: dict[str, int] = {}
    for day in told["windows"]["heron-70b"].values():
        for category, gpu_us in day.items():
            days[category] = days.get(category, 0) + gpu_us
    assert days == sums


SLACK = Slack(boundary=10, stamped=1, exact=frozenset({"restore"}))


@pytest.mark.parametrize(
    ("truth", "ledger", "found"),
    [
        ([(0, 50, "init"), (50, 90, "hang")], [(0, 50, "init"), (50, 90, "hang")], []),
        ([(0, 50, "init"), (50, 90, "hang")], [(0, 60, "init"), (60, 90, "hang")], []),
        ([(0, 50, "init"), (50, 90, "hang")], [(0, 61, "init"), (61, 90, "hang")], [(50, 61)]),
        ([(0, 50, "init"), (50, 90, "restore")], [(0, 52, "init"), (52, 90, "restore")], [(50, 52)]),
        ([(0, 90, "init")], [(0, 40, "init"), (40, 45, "hang"), (45, 90, "init")], [(40, 45)]),
        ([(0, 90, "init")], [(0, 60, "init")], [(60, 90)]),
        ([(0, 60, "init")], [(0, 90, "init")], [(60, 90)]),
        ([], [], []),
    ],
)
def test_a_difference_is_excused_near_a_true_boundary_only(
    truth: list[tuple[int, int, str]], ledger: list[tuple[int, int, str]], found: list[tuple[int, int]]
) -> None:
    sides = ([Span(*span, 0) for span in side] for side in (truth, ledger))
    assert [(gap.start_us, gap.end_us) for gap in differences("heron", *sides, SLACK)] == found


def test_the_interruptions_of_llama_3_are_as_published() -> None:
    """Counts of the table, since its printed shares contradict them; what each becomes is told elsewhere."""
    (plan,), _ = PRESETS["llama3_54_days"](1)
    assert sum(count for _, count, _ in LLAMA3_UNEXPECTED) == 419
    assert LLAMA3_PLANNED == 47
    found = Counter((ending.fault, ending.maintenance_s > 0) for ending in plan.script)
    expected = Counter({("operator_stop", False): LLAMA3_PLANNED, ("in_progress", False): 1})
    for component, count, fault in LLAMA3_UNEXPECTED:
        expected[fault, component == "Host Maintenance"] += count
    assert found == expected


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_presets_name_what_exists(preset: str) -> None:
    plans, _ = PRESETS[preset](3)
    for plan in plans:
        assert plan.trainer in trainers()
        assert {*plan.ends, *(ending.fault for ending in plan.script)} <= BY_NAME.keys()
