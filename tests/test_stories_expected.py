"""The expectation of a story does not contradict itself; none of these tests needs the pipeline."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from stories import FIGURES, SAMPLES, STORIES, micros, observed, ratios, read_expected


@pytest.mark.parametrize("name", STORIES)
def test_expected_intervals_tile_the_life(name: str) -> None:
    for run in observed(read_expected(name)["runs"]).values():
        intervals = run["intervals"]
        assert intervals[0][0] == run["life_start"]
        assert intervals[-1][1] == run["life_end"]
        assert all(before[1] == after[0] for before, after in pairwise(intervals))
        assert all(before[2:] != after[2:] for before, after in pairwise(intervals))


@pytest.mark.parametrize("name", STORIES)
def test_expected_intervals_sum_to_windows(name: str) -> None:
    for run in observed(read_expected(name)["runs"]).values():
        for window in run["windows"]:
            start, end = micros(window["window_start"]), micros(window["window_end"])
            assert start is not None
            assert end is not None
            sums: dict[str, int] = {}
            for begin, finish, category, _, gpus, _ in run["intervals"]:
                inside = min(micros(finish) or 0, end) - max(micros(begin) or 0, start)
                if inside > 0:
                    sums[category] = sums.get(category, 0) + inside * gpus
                    missing = (run["gpus"] - gpus) * inside
                    if missing:
                        sums["capacity_missing"] = sums.get("capacity_missing", 0) + missing
            assert sums == window["gpu_us"]


@pytest.mark.parametrize("name", STORIES)
def test_expected_figures_follow_from_categories(name: str) -> None:
    for run in read_expected(name)["runs"].values():
        for window in run["windows"]:
            sums = window["gpu_us"]
            figures = {key: sum(sums.get(c, 0) for c in names) for key, names in FIGURES.items()}
            figures["W"] = sum(sums.values())
            assert figures == window["figures"]
            rounded = {key: None if v is None else round(float(v), 6) for key, v in ratios(figures).items()}
            assert rounded == window["ratios"]


@pytest.mark.parametrize("name", STORIES)
def test_expected_capacity_is_nominal_gpus_over_the_life(name: str) -> None:
    for run in read_expected(name)["runs"].values():
        life = (micros(run["life_end"]) or 0) - (micros(run["life_start"]) or 0)
        assert sum(window["figures"]["W"] for window in run["windows"]) == run["gpus"] * life


@pytest.mark.parametrize("name", STORIES)
def test_expected_survival_covers_each_step_once(name: str) -> None:
    for run in observed(read_expected(name)["runs"]).values():
        spans = [(a["first_step"], a["survives_to"]) for a in run["attempts"] if a["survives_to"]]
        assert spans[0][0] == run["first_step"]
        assert spans[-1][1] == run["last_surviving_step"]
        assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))


#: What the evidence line of a cause says.
SAYS = {
    "collective_timeout": "Watchdog caught collective operation timeout",
    "gpu_fell_off_bus": "): 79, ",
    "gpu_memory_error": "): 48, ",
    "gpu_out_of_memory": "CUDA out of memory",
    "missing_file": "FileNotFoundError",
    "node_failure": "Node failure on gx104",
    "operator_stop": "DUE to SIGNAL Terminated",
    "preemption": "DUE TO PREEMPTION",
    "storage_unavailable": "was lost; in progress operations",
    "time_limit": "DUE TO TIME LIMIT",
}


def lines_of(path: Path) -> list[str]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompress(data)
    return data.decode().splitlines()


@pytest.mark.parametrize("name", STORIES)
def test_expected_evidence_lines_say_so(name: str) -> None:
    for run in observed(read_expected(name)["runs"]).values():
        for incident in run["incidents"]:
            if "evidence_path" in incident:
                lines = lines_of(SAMPLES / name / incident["evidence_path"])
                assert SAYS[incident["cause"]] in lines[incident["evidence_line"] - 1]
