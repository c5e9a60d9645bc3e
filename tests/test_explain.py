"""``goodput explain`` tells the incidents of the samples: true, whole, and as wide as it was asked to be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import fsspec
import pytest
from explained import FALLEN, FOLDER, SAMPLES, STORIES, Tell

from pipeline.cli import run
from tests.once import sample_store

WIDTHS = (72, 80, 160)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the store of a sample, built once."""
    return lambda story: sample_store(tmp_path_factory, story)


@pytest.mark.parametrize("name", STORIES)
def test_a_story_reads_as_it_did(name: str, stores: Callable[[str], Path], tell: Tell) -> None:
    story, arguments = STORIES[name]
    expected = (FOLDER / name).read_text(encoding="utf-8")
    assert tell(stores(story), *arguments) == expected, "run `make golden`, and read the diff"


@pytest.mark.parametrize("incident", ["egret-13b/60161.0/1", "egret-13b/60195.0/1", "egret-13b/60140.0/1"])
def test_no_line_is_wider_than_asked(incident: str, stores: Callable[[str], Path], tell: Tell) -> None:
    for width in WIDTHS:
        lines = tell(stores("one-week"), incident, width=width).splitlines()
        pasted = [n for n, line in enumerate(lines) if line.startswith("incident_id,")]
        # What is there to be copied is neither cut nor wrapped.
        wide = [
            line
            for n, line in enumerate(lines)
            if len(line) > width and n not in (*pasted, *(p + 1 for p in pasted))
        ]
        assert wide == []


def test_the_phases_add_up_to_the_incident(stores: Callable[[str], Path], tell: Tell) -> None:
    for incident in ("egret-13b/60110.0/1", "egret-13b/60140.0/1", "egret-13b/60188.0/1"):
        story = json.loads(tell(stores("one-week"), incident, "--format", "json"))
        whole = story["incident"]["gpu_s"]
        assert sum(phase["gpu_s"] for phase in story["phases"]) == whole
        assert sum(cost["gpu_s"] for cost in story["costs"]) == whole


def test_without_an_id_incidents_are_listed_newest_or_dearest_first(
    stores: Callable[[str], Path], tell: Tell
) -> None:
    store = stores("fallen-gpu")
    ids = [line.split()[-1] for line in tell(store).splitlines()]
    assert ids == ["incident", "heron-70b/41251.0/1", "heron-70b/41233.0/1", FALLEN]
    # 155,200 GPU-seconds, 131,968 and 9,984: 43.1, 36.7 and 2.8 GPU-hours.
    dearest = tell(store, "--by", "dearest").splitlines()[1:]
    assert [line.split()[-1] for line in dearest] == ["heron-70b/41233.0/1", FALLEN, "heron-70b/41251.0/1"]
    found = json.loads(tell(store, "--format", "json"))["incidents"]
    assert [row["incident_id"] for row in found] == ids[1:]
    assert found[-1]["gpu_s"] == 131_968


def test_an_unknown_id_names_the_nearest(stores: Callable[[str], Path], tell: Tell) -> None:
    store = stores("fallen-gpu")
    err = tell(store, "heron-70b/41270.0/1", code=2)
    assert err.startswith("error: `heron-70b/41270.0/1` is neither an incident nor a time\n")
    assert f"did you mean `{FALLEN}`" in err
    err = tell(store, "heron-70b/", code=2)
    assert "3 with that in their id" in err
    assert "`heron-70b/41233.0/1`" in err
    err = tell(store, "\x1b[2Jxyzzy", code=2)
    assert "lists the incidents" in err
    assert "\x1b" not in err


def test_logs_without_a_store_are_read_first_also_from_an_object_store(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    memory = fsspec.filesystem("memory")
    memory.put(str(SAMPLES / "fallen-gpu"), "/bucket/fallen-gpu", recursive=True)
    try:
        assert run(["explain", FALLEN, "memory://bucket/fallen-gpu"]) == 0
    finally:
        memory.rm("/bucket", recursive=True)
    out, err = capsys.readouterr()
    assert out == (FOLDER / "fallen_gpu.txt").read_text(encoding="utf-8")
    assert "9 files" in err


def test_neither_store_nor_logs_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["explain", FALLEN]) == 2
    assert "neither a store nor logs were given" in capsys.readouterr().err


def test_the_folder_of_a_store_needs_no_option(
    stores: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stores("fallen-gpu"))
    assert run(["explain", FALLEN]) == 0
    assert capsys.readouterr().out.startswith(f"{FALLEN}: GPU fell off the bus\n")
