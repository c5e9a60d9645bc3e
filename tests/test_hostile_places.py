"""Folders, stores and settings that are not as they should be: the right exit code, and a word that helps."""

from __future__ import annotations

import fcntl
import os
import re
import resource
import shutil
from pathlib import Path

import pytest

from pipeline.cli import run
from tests.damaged import HEADER, build, console, job, write


@pytest.fixture(scope="module")
def heron(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the logs of a run, and its ledger."""
    folder = tmp_path_factory.mktemp("heron")
    code, con = build(write(folder / "logs", {"heron/console.log": console()}), folder / "store")
    con.close()
    assert code == 0
    return folder


def test_special_files_are_named_and_never_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = write(tmp_path / "logs", {"heron/console.log": console()})
    (logs / "folder.log").mkdir()
    os.mkfifo(logs / "pipe.log")
    for name, target in {
        "nowhere.log": "missing",
        "round1": "round2",
        "round2": "round1",
        "up": ".",
        "out.log": "/etc/passwd",
        "device.log": "/dev/zero",
    }.items():
        (logs / name).symlink_to(target)
    assert run(["ingest", str(logs), "--store", str(tmp_path / "store")]) == 0
    out, err = capsys.readouterr()
    assert "7 files, 17 lines: 17 parsed" in out
    named = set(re.findall(r"where: (\S+)", err))
    assert named == {"pipe.log", "nowhere.log", "round1", "round2", "out.log", "device.log"}


def test_logs_without_a_run_end_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files: dict[str, str | bytes] = {"heron/console.log": b"", "plover/console.log": bytes(range(256)) * 99}
    logs = write(tmp_path / "logs", files)
    assert run(["report", str(logs), "--out", str(tmp_path / "out")]) == 2
    assert "error: the store holds no run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("[runs.heron]\ngpus = 0", "expected a number above zero"),
        ("[runs.heron]\ngpus = 9223372036854775807", "expected at most 1,000,000,000"),
        ("[runs.heron]\nstart = 2026-10-12\nend = 2026-10-05", "`end` must lie after `start`"),
        ('[zones]\ndefault = "../../etc/passwd"', "is not a time zone"),
        ('[report]\nwindow = "0h"', "no time at all"),
        ("zones = 3", "expected a table"),
    ],
)
def test_settings_that_cannot_be_meant_end_with_2(
    settings: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", {"heron/console.log": console(), "goodput.toml": settings})
    assert run(["report", str(logs), "--out", str(tmp_path / "out")]) == 2
    assert why in capsys.readouterr().err


def test_a_folder_that_another_command_writes_into_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", {"heron/console.log": console()})
    (tmp_path / "out").mkdir()
    handle = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    assert run(["report", str(logs), "--out", str(tmp_path / "out")]) == 2
    os.close(handle)
    assert "another command is writing into this folder" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("manifest.json", '{"layout": 1, "sources": [{"name": "x"}]}'),
        ("manifest.json", '{"layout": 1, "sources": 3}'),
        ("ingest.journal", '{"name": 3}\n[1]\nnull\n\x00\n'),
        ("ingest.journal", '{"name":"x","row":{},"head_hash":"","options":"","parts":{}}\n'),
        ("local.json", '{"heron/console.log": "x"}'),
    ],
)
def test_a_damaged_store_is_read_anew(
    name: str, text: str, heron: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    shutil.copytree(heron / "store", store)
    capsys.readouterr()
    (store / name).write_text(text)
    assert run(["ingest", str(heron / "logs"), "--store", str(store)]) == 0
    assert capsys.readouterr().out.count("17 parsed, 0 unknown, 0 bad") == 1


def test_settings_that_nothing_answers_to_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = """
[runs.heron]
logs = ["heron/**", "hreon/**"]
jobs = ["heron*", "plover*"]
[runs.late]
logs = ["heron/**"]
start = 2030-01-01
"""
    files: dict[str, str | bytes] = {
        "heron/console.log": console(),
        "sacct.txt": f"{HEADER}\n{job(1, 'heron')}\n",
        "goodput.toml": settings,
    }
    code, con = build(write(tmp_path / "logs", files), tmp_path / "store")
    con.close()
    assert code == 0
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")] == [
        "warning: `logs` of run `heron`: no file matches `hreon/**`",
        "warning: `jobs` of run `heron`: accounting knows no job `plover*`",
        "warning: run `late`: the logs hold nothing of it inside its bounds",
    ]


def test_a_console_far_outside_of_its_allocation_is_a_contradiction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files: dict[str, str | bytes] = {
        "heron/job-41207.out": console(start=86_400),
        "sacct.txt": f"{HEADER}\n{job(41207, 'heron')}\n",
    }
    logs = write(tmp_path / "logs", files)
    assert run(["report", str(logs), "--out", str(tmp_path / "out")]) == 1
    assert "the data contradict themselves" in capsys.readouterr().err
    assert (tmp_path / "out" / "review.html").is_file()


def test_a_full_disk_is_told_and_keeps_the_ledger_of_before(
    heron: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = heron / "logs"
    shutil.copytree(heron / "store", tmp_path / "store")
    before = (tmp_path / "store" / "goodput.duckdb").stat().st_mtime_ns
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, limits[1]))
    try:
        again = run(["classify", "--store", str(tmp_path / "store")])
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        anew = run(["ingest", str(logs), "--store", str(tmp_path / "other")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (again, anew) == (2, 2)
    told = capsys.readouterr().err
    assert "error: the ledger cannot be written" in told
    assert "error: the store cannot be written" in told
    assert (tmp_path / "store" / "goodput.duckdb").stat().st_mtime_ns == before
    assert not list((tmp_path / "store").glob("*.part*"))
