"""What happens to invented lines on their way into files: each blemish does what it says, and no more."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import get_args

import polars as pl
import pytest
import zstandard

from pipeline.errors import GoodputError
from pipeline.ingest.lines import build_frame
from pipeline.simulate.blemishes import CLEAN, Blemishes, Prefix
from pipeline.simulate.files import LogFile
from pipeline.simulate.invent import invent
from pipeline.simulate.layout import zone_name
from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Ending, Plan
from pipeline.simulate.ranges import number_list
from pipeline.simulate.slack import slack_of
from pipeline.simulate.story import Story
from pipeline.simulate.transports import LATEST, as_printed, collector_time, prefix_of
from pipeline.simulate.write import write_story
from tests.simulated import violations


@cache
def story(attempts: int = 2, **changes: object) -> Story:
    plan = Plan(gpus=16, target=80, steps_between=(15, 30), save_every=10, max_attempts=attempts)
    return invent(7, (replace(plan, **changes),))


def written(
    out: Path, blemishes: Blemishes, style: Style | None = None, attempts: int = 2
) -> dict[str, bytes]:
    write_story(story(attempts), out, style or Style(), blemishes)
    return {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


def consoles(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name.startswith("logs/heron")}


PREFIXES = {
    "none": ("", None, None),
    "srun": ("11: ", 11, None),
    "torchrun": ("[default3]:", 3, None),
    "rank": ("[rank11]:", 11, None),
    "stacked": ("1: [default3]:[rank11]:", 11, None),
    "host": ("gx101: ", None, "gx101"),
    "mpirun": ("[1,11]<stdout>: ", 11, None),
}


@pytest.mark.parametrize("kind", PREFIXES)
def test_a_prefix_tells_rank_or_host_and_can_be_taken_off(kind: Prefix) -> None:
    run = story().runs[0]
    prefix = prefix_of(run, run.jobs[0], kind, 11)
    frame = build_frame(pl.Series([f"{prefix}[2026-10-05] iteration 5/ 80 | x"]), 1, "gx[0-9]+: ")
    assert PREFIXES[kind] == (prefix, *frame.select("rank", "host").row(0))
    assert frame["text"][0].strip() == "[2026-10-05] iteration 5/ 80 | x"


def test_every_prefix_has_a_test() -> None:
    assert {*PREFIXES, "kubectl"} == set(get_args(Prefix))


def test_a_collector_stamps_in_utc(tmp_path: Path) -> None:
    assert collector_time(1_791_169_201_250_000) == "2026-10-05T03:00:01.250000000Z"
    files = consoles(written(tmp_path, Blemishes(prefix="kubectl"), Style(offset_s=7200)))
    stamps = [line[:30] for content in files.values() for line in content.decode().splitlines()]
    assert all(datetime.fromisoformat(stamp[:26] + "+00:00") for stamp in stamps)


def test_no_collector_sees_what_a_library_writes_into_its_store(tmp_path: Path) -> None:
    told = story(2, trainer="goodput_records")
    write_story(told, tmp_path, Style(), Blemishes(prefix="kubectl"))
    records = next(tmp_path.rglob("*.jsonl")).read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line)["severity"] == "INFO" for line in records)


def test_every_rank_prints_what_one_would() -> None:
    run = story().runs[0]
    lines = [Printed(1, 0, "out", "a"), Printed(2, 3, "err", "b"), Printed(3, -1, "err", "c")]
    found = list(as_printed(lines, run.jobs[0], Blemishes(every_rank=True), Random(0)))
    assert [(line.rank, line.text) for line in found] == [*((r, "a") for r in range(16)), (3, "b"), (-1, "c")]


def test_lines_of_ranks_are_held_up_in_the_order_of_each_rank() -> None:
    run = story().runs[0]
    lines = [Printed(100_000 * at, at % 3, "out", str(at)) for at in range(60)]
    found = list(as_printed(lines, run.jobs[0], Blemishes(interleaved=True), Random(0)))
    assert [line.text for line in found] != [line.text for line in lines]
    assert [line.time_us for line in found] == sorted(line.time_us for line in found)
    for rank in range(3):
        assert [x.text for x in found if x.rank == rank] == [x.text for x in lines if x.rank == rank]
    late = {line.text: line.time_us for line in found}
    assert all(0 <= late[line.text] - line.time_us < 2 * LATEST for line in lines)


NAMES = {
    "attempt": ["heron-70b/attempt-01/job-88000", "heron-70b/attempt-02/job-88000"],
    "job": ["heron-70b/job-88000"],
    "run": ["heron-70b/train"],
}


@pytest.mark.parametrize("files", NAMES)
def test_what_goes_into_one_file(files: str, tmp_path: Path) -> None:
    told = story(2, requeue=1.0)
    write_story(told, tmp_path, Style(), replace(CLEAN, files=files))
    found = sorted(p.relative_to(tmp_path / "logs") for p in (tmp_path / "logs").rglob("*.out"))
    assert [f"{name}.out" for name in NAMES[files]] == [str(path) for path in found]


def test_an_attempt_without_errors_ends_no_file_of_errors(tmp_path: Path) -> None:
    script = tuple(Ending(name, 300.0) for name in ("exits", "own_time_limit", "exits"))
    told = invent(1, (Plan(gpus=16, target=200, script=script),))
    write_story(told, tmp_path, Style(), Blemishes(files="run"))
    errors = (tmp_path / "logs" / "heron-70b" / "train.err").read_text(encoding="utf-8").splitlines()
    assert [line[:13] for line in errors if "Exited" in line] == ["srun: error: "] * 2


def test_a_step_tells_of_each_task_once(tmp_path: Path) -> None:
    told = invent(1, (Plan(gpus=16, target=200, restart_inside=1.0, script=(Ending("exits", 300.0),) * 2),))
    write_story(told, tmp_path, Style(), Blemishes(files="run"))
    errors = (tmp_path / "logs" / "heron-70b" / "train.err").read_text(encoding="utf-8")
    assert re.findall(r"STEP (\S+) ON", errors) == ["88000.0", "88000.1"]
    for attempt in told.runs[0].attempts[:2]:
        assert attempt.end is not None
        others = number_list({*range(16)} - {attempt.end.rank})
        assert f"srun: error: gx[100-101]: tasks {others}: Terminated\n" in errors


def test_errors_apart_together_and_thrown_away(tmp_path: Path) -> None:
    apart = consoles(written(tmp_path / "a", CLEAN))
    together = consoles(written(tmp_path / "b", Blemishes(together=True)))
    without = consoles(written(tmp_path / "c", Blemishes(no_errors=True)))
    assert {name for name in apart if name.endswith(".out")} == set(together) == set(without)
    for name, content in together.items():
        errors = apart.get(name.removesuffix("out") + "err", b"")
        assert sorted(content.splitlines()) == sorted((apart[name] + errors).splitlines())
        assert without[name] == apart[name]


def test_parts_of_a_file_end_at_line_ends_and_add_up(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "x.out", Blemishes(rotate_bytes=20))
    content = b"".join(b"line %d\n" % at for at in range(9)) + b"a line that is longer than a part\nend\n"
    for at in range(0, len(content), 13):
        file.write(content[at : at + 13])
    file.close()
    names = sorted((p.name for p in tmp_path.iterdir()), key=lambda name: (name.count("."), name))
    assert names == ["x.out", *(f"x.out.{at}" for at in range(1, len(names)))]
    parts = [(tmp_path / name).read_bytes() for name in (*reversed(names[1:]), names[0])]
    assert b"".join(parts) == content
    assert all(part.endswith(b"\n") for part in parts)
    assert max(len(part) for part in parts if b"longer" not in part) <= 20


def test_compressed_files_hold_the_same(tmp_path: Path) -> None:
    plain = consoles(written(tmp_path / "a", CLEAN))
    zipped = consoles(written(tmp_path / "b", Blemishes(compression="gzip")))
    packed = consoles(written(tmp_path / "c", Blemishes(compression="zstd")))
    assert {name.removesuffix(".gz"): gzip.decompress(content) for name, content in zipped.items()} == plain
    unpack = zstandard.ZstdDecompressor().decompressobj
    assert {name.removesuffix(".zst"): unpack().decompress(x) for name, x in packed.items()} == plain


@pytest.mark.parametrize("kind", ["none", "srun"])
def test_the_last_line_of_a_killed_attempt_is_cut(kind: Prefix, tmp_path: Path) -> None:
    whole = consoles(written(tmp_path / "a", Blemishes(prefix=kind)))
    torn = consoles(written(tmp_path / "b", Blemishes(prefix=kind, torn=True)))
    killed, completed = (name for name in whole if name.endswith(".out"))
    assert torn[completed] == whole[completed]
    *lines, last = whole[killed].splitlines()
    *kept, cut = torn[killed].splitlines()
    assert kept == lines
    assert len(cut) < len(last)
    assert last.startswith(cut)
    assert torn[killed].endswith(b"\n") == (kind == "srun")


@pytest.mark.parametrize("kind", ["none", "srun"])
def test_a_warning_of_nccl_ends_the_line_that_it_finds(kind: Prefix, tmp_path: Path) -> None:
    """Be it one that was cut: an empty line stands before such a warning, or an end of that line."""
    told = story(2, script=(Ending("port_down", 95.0),))
    write_story(told, tmp_path, Style(), Blemishes(prefix=kind, torn=True, together=True))
    killed, _ = sorted(tmp_path.rglob("heron*/*.out"))
    lines = [re.sub(r"^ *\d+: ", "", line) for line in killed.read_text(encoding="utf-8").splitlines()]
    warnings = [at for at, line in enumerate(lines) if " NCCL WARN " in line]
    assert len(warnings) > 2
    assert all(lines[at].startswith("[2026-10-05 ") for at in warnings)
    before = [lines[at - 1] for at in warnings]
    assert any(before) == (kind == "none")
    assert not any(before[1:])


def test_local_time_is_written_with_its_zone(tmp_path: Path) -> None:
    assert [zone_name(s) for s in (0, 7200, -25_200, 19_800)] == [
        "UTC",
        "Etc/GMT-2",
        "Etc/GMT+7",
        "Asia/Kolkata",
    ]
    with pytest.raises(GoodputError, match="no time zone"):
        zone_name(1)
    files = written(tmp_path, CLEAN, Style(offset_s=7200))
    assert b'[zones]\ndefault = "Etc/GMT-2"\n' in files["logs/goodput.toml"]


def test_a_clock_of_a_host_that_is_ahead_stamps_all_that_the_host_says(tmp_path: Path) -> None:
    run = story().runs[0]
    style = Style(skew_us={run.jobs[0].hosts[-1]: 1_500_000})
    plain, ahead = (consoles(written(tmp_path / x, CLEAN, s)) for x, s in (("a", Style()), ("b", style)))
    name = next(name for name in plain if name.endswith(".out"))
    for before, after in zip(
        plain[name].decode().splitlines(), ahead[name].decode().splitlines(), strict=True
    ):
        assert (before != after) == ("] iteration " in before)
    assert slack_of(run, style).stamp_us == slack_of(run, Style()).stamp_us + 1_500_000


def test_sources_go_missing(tmp_path: Path) -> None:
    whole = set(written(tmp_path / "a", CLEAN))
    lost = {
        "accounting": Blemishes(no_accounting=True),
        "kernel": Blemishes(kernel_lost=1.0),
        "console": Blemishes(lost_console=2),
    }
    missing = {name: whole - set(written(tmp_path / name, x)) for name, x in lost.items()}
    assert missing["accounting"] == {"logs/sacct.txt"}
    assert missing["kernel"] == {name for name in whole if name.startswith("logs/nodes/")} != set()
    assert len(missing["console"]) == 1
    assert all(blemishes.loses for blemishes in lost.values())
    assert not CLEAN.loses


@pytest.mark.parametrize("prefix", ["srun", "kubectl"])
def test_noise_has_its_volume_and_leaves_the_lines_alone(prefix: Prefix, tmp_path: Path) -> None:
    quiet = consoles(written(tmp_path / "a", Blemishes(prefix=prefix)))
    noisy = consoles(written(tmp_path / "b", Blemishes(prefix=prefix, noise_mb=3.0)))
    added = sum(map(len, noisy.values())) - sum(map(len, quiet.values()))
    assert 2.9e6 < added < 4e6
    for name, content in quiet.items():
        there = iter(noisy[name].splitlines())
        assert all(line in there for line in content.splitlines())
        assert b"\0" not in noisy[name]
    # Ranks go on for some moments after the last line that the trainer of a killed attempt printed.
    killed = min(name for name in quiet if name.endswith(".out"))
    assert noisy[killed].splitlines()[-1] not in quiet[killed].splitlines()


def test_the_truth_is_written_as_tables(tmp_path: Path) -> None:
    truth = write_story(story(), tmp_path, Style(log_interval=5), CLEAN)
    told = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))
    intervals = pl.read_parquet(tmp_path / "truth" / "intervals.parquet")
    incidents = pl.read_parquet(tmp_path / "truth" / "incidents.parquet")
    assert intervals["gpu_us"].sum() == sum(piece.gpu_us for piece in truth.pieces)
    assert (
        dict(intervals.group_by("category").agg(pl.col("gpu_us").sum()).rows()) == told["runs"]["heron-70b"]
    )
    assert incidents["attempt"].to_list() == [incident["attempt"] for incident in told["incidents"]]
    assert intervals.schema["start_ts"] == pl.Datetime("us", "UTC")
    steps = [step.end_us - step.start_us for step in story().runs[0].attempts[1].steps]
    assert told["slack"]["heron-70b"]["interval_us"] >= sum(steps[5:10])
    assert told["slack"]["heron-70b"]["interval_us"] < 1.02 * sum(steps[5:10])
    assert told["slack"]["heron-70b"]["stamped"] == ["checkpoint_stall"]


ALL = Blemishes(
    prefix="stacked",
    every_rank=True,
    interleaved=True,
    files="run",
    together=True,
    rotate_bytes=90_000,
    compression="gzip",
    torn=True,
    kernel="boot",
    noise_mb=0.5,
)


def test_same_story_and_blemishes_same_bytes(tmp_path: Path) -> None:
    assert written(tmp_path / "a", ALL) == written(tmp_path / "b", ALL)


WHOLE = {
    "everything at once": (ALL, Style()),
    "collector, parts, syslog, far from Greenwich": (
        Blemishes(prefix="kubectl", rotate_bytes=30_000, kernel="syslog", noise_mb=0.2),
        Style(log_interval=5, offset_s=-25_200),
    ),
    "glued lines, clocks apart": (
        Blemishes(
            prefix="none", files="attempt", compression="zstd", kernel="ctime", torn=True, together=True
        ),
        Style(offset_s=19_800, skew_us={"gx100": -1_200_000, "gx101": 900_000}),
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_blemished_logs_tell_the_truth(name: str, tmp_path: Path) -> None:
    blemishes, style = WHOLE[name]
    assert violations(story(3), tmp_path, style, blemishes=blemishes) == []
