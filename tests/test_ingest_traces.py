"""Traces of a profiler: where the time of a device went, whatever the bytes look like."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pytest

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest import ingest
from pipeline.ingest.doctor import diagnose
from pipeline.ingest.trace_events import TraceEvents
from pipeline.ingest.trace_times import Activities, shares_of
from pipeline.ingest.traces import read_trace

SAMPLES = Path(__file__).parent / "formats" / "kineto"
REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real" / "kineto"


def shares(content: bytes, step: int = 1 << 20) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the shares of a trace of one device by component and kind."""
    records, broken = read_trace(content[at : at + step] for at in range(0, len(content), step))
    assert broken == ""
    return {(r["component"], r["kind"]): r for r in records if r["record"] == "share"}


def test_shares_are_those_worked_out_by_hand() -> None:
    """Computing 1010 to 1110, 1180 to 1240 and 1300 to 1320; gathering 1050 to 1140, scattering 1230 to 1280.

    A copy runs from 1275 to 1290. So gathering is exposed from 1110 on, scattering from 1240, and the copy
    from 1280. What follows the gap at 1140 was asked for at 1170, and begins at 1180; for what follows the
    one at 1290 nothing says when it was asked for.
    """
    found = shares((SAMPLES / "sample.2.9.json").read_bytes())
    exposed = {key: share["exposed_ns"] // 1000 for key, share in found.items()}
    assert exposed == {
        ("compute", "kernel"): 100 + 60 + 20,
        ("communication", "all_gather"): 30,
        ("communication", "reduce_scatter"): 40,
        ("copy", "dtoh"): 10,
        ("idle", "late_launch"): 30,
        ("idle", "queued"): 10,
        ("idle", "not_known"): 10,
    }
    assert sum(exposed.values()) == 310 == found["compute", "kernel"]["span_ns"] // 1000
    assert found["communication", "all_gather"]["busy_ns"] == 90_000
    # 16,384 numbers of two bytes came out, and as many of four went in.
    assert found["communication", "all_gather"]["bytes"] == 32_768
    assert found["communication", "reduce_scatter"]["bytes"] == 65_536
    assert found["communication", "reduce_scatter"]["group"] == "mesh_fsdp"


@pytest.mark.parametrize("step", [1, 7, 64, 4096])
def test_bytes_may_come_in_any_pieces(step: int) -> None:
    content = (SAMPLES / "sample.2.9.json").read_bytes()
    assert shares(content, step) == shares(content)


def test_a_list_of_events_is_a_trace_as_well() -> None:
    events = json.loads((SAMPLES / "sample.2.0.json").read_text())["traceEvents"]
    found = shares(json.dumps(events).encode())
    # The reduction runs from 250 to 400, and until 300 the device computes.
    assert found["communication", "all_reduce"]["exposed_ns"] == 100_000


def test_what_stands_before_a_cut_counts_and_the_cut_is_told() -> None:
    content = (SAMPLES / "sample.2.9.json").read_bytes()
    records, broken = read_trace([content[: content.index(b"heron_rope")]])
    assert broken == "it ends inside of an event"
    kinds = Counter(record["kind"] for record in records if record["record"] == "share")
    assert kinds["kernel"] == 1
    assert next(record["calls"] for record in records if record.get("component") == "compute") == 2


@pytest.mark.parametrize("content", [b"", b"   ", b"no trace", b'{"traceEvents": [}', b'{"a" 1}', b"[[[[[["])
def test_what_is_none_gives_nothing(content: bytes) -> None:
    events = TraceEvents([content])
    assert list(events) == []
    assert events.broken


def test_numbers_that_no_clock_shows_are_left_out() -> None:
    event = '{"ph": "X", "cat": "kernel", "name": "k", "ts": %s, "dur": 5}'
    texts = ", ".join(event % value for value in ("NaN", "1e999", '"12"', "null", "100", "104.5"))
    assert shares(f"[{texts}]".encode())["compute", "kernel"]["exposed_ns"] == 9_500


def swept(done: list[tuple[int, int, int]]) -> list[int]:
    """Return the time of each work and of none, nanosecond by nanosecond."""
    begin, end = min(start for start, _, _ in done), max(end for _, end, _ in done)
    best = [3] * (end - begin)
    for start, stop, work in done:
        for at in range(start - begin, stop - begin):
            best[at] = min(best[at], work)
    return [best.count(work) for work in range(4)]


@pytest.mark.parametrize("seed", range(40))
def test_shares_of_random_activities_tile_their_span(seed: int) -> None:
    rng = Random(seed)
    done = []
    for _ in range(rng.randint(1, 30)):
        begin = rng.randrange(300)
        done.append((begin, begin + rng.randrange(1, 40), rng.randrange(3)))
    start, end, work = (np.array(column, dtype=np.int64) for column in zip(*done, strict=True))
    kind = np.array([rng.randrange(3) for _ in done], dtype=np.int64)
    launch = np.array([rng.choice([-1, max(begin - rng.randrange(50), 0)]) for begin, _, _ in done])
    nothing = np.full(len(done), -1, dtype=np.int64)
    found: Counter[str] = Counter()
    for share in shares_of(Activities(start, end, work, kind, nothing, launch)):
        found[share.work] += share.exposed_ns
        assert 0 <= share.exposed_ns <= share.busy_ns
    assert [found[name] for name in ("compute", "communication", "copy", "idle")] == swept(done)


def independent(path: Path) -> dict[str, float]:
    """Return microseconds of each work of a trace of one device, from its raw events."""
    content = path.read_bytes()
    events = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)["traceEvents"]
    edges: list[tuple[float, int, int]] = []
    for event in events:
        # the first releases wrote kinds with a capital, and without a prefix
        category = str(event.get("cat")).lower().removeprefix("gpu_")
        if category in ("kernel", "memcpy", "memset"):
            level = 2 if category != "kernel" else int("nccl" in event["name"].lower())
            edges += [(event["ts"], 1, level), (event["ts"] + event["dur"], -1, level)]
    edges.sort()
    running, told = [0, 0, 0], [0.0, 0.0, 0.0, 0.0]
    for (at, sign, level), (then, _, _) in pairwise(edges):
        running[level] += sign
        told[next((work for work in range(3) if running[work]), 3)] += then - at
    return dict(zip(("compute", "communication", "copy", "idle"), told, strict=True))


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real traces are not beside this checkout: {REAL}")
@pytest.mark.parametrize(
    ("name", "rank", "steps"),
    [
        ("hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", 0, (101, 105)),
        ("hta-timeline/sampled_rank-0.json.gz", 0, (551, 552)),
        ("hta-trace-filter/sampled_rank-1.json.gz", 1, (551, 552)),
    ],
)
def test_real_traces_agree_with_a_sweep_over_their_events(
    tmp_path: Path, name: str, rank: int, steps: tuple[int, int]
) -> None:
    ingest([str(REAL / name)], tmp_path, EMPTY_CONFIG)
    told = independent(REAL / name)
    with duckdb.connect() as con:
        rows = con.execute(
            """
            select
                component, sum(exposed_s) * 1e6, min(rank), min(first_step), max(last_step), min(span_s) * 1e6
            from read_parquet($1)
            group by all
        """,
            [f"{tmp_path}/events/profiles/*.parquet"],
        ).fetchall()
    assert {row[0] for row in rows} == {work for work, micros in told.items() if micros}
    for component, micros, of_rank, first, last, span in rows:
        assert micros == pytest.approx(told[component], rel=0.005, abs=0.3)
        assert (of_rank, first, last) == (rank, *steps)
        assert span == pytest.approx(sum(told.values()), rel=1e-6)


@pytest.mark.parametrize(
    ("release", "rank", "start_us"), [("1.8", None, 8), ("2.0", 9, 100), ("2.9", 3, 1010)]
)
def test_each_time_base_is_read_with_a_rank_or_without(
    tmp_path: Path, release: str, rank: int | None, start_us: int
) -> None:
    """Microseconds since the epoch, whole or not, and since a base in nanoseconds; 1.8 tells no rank."""
    path = SAMPLES / f"sample.{release}.json"
    ingest([str(path)], tmp_path, EMPTY_CONFIG)
    told = independent(path)
    with duckdb.connect() as con:
        rows = con.execute(
            "select component, sum(exposed_s) * 1e6, any_value(rank), epoch_us(any_value(ts)) "
            "from read_parquet($1) group by component",
            [f"{tmp_path}/events/profiles/*.parquet"],
        ).fetchall()
    assert {row[0] for row in rows} == {work for work, micros in told.items() if micros}
    for component, micros, of_rank, at_us in rows:
        assert micros == pytest.approx(told[component], rel=0.005)
        assert (of_rank, at_us) == (rank, 1_791_158_400_000_000 + start_us)


def test_lines_of_traces_are_accounted_for(tmp_path: Path) -> None:
    whole = (SAMPLES / "sample.2.9.json").read_bytes()
    (tmp_path / "whole.json").write_bytes(whole)
    (tmp_path / "cut.json").write_bytes(whole[: whole.index(b"heron_rope")])
    (tmp_path / "not.json").write_bytes((SAMPLES / "not_this.json").read_bytes())
    found = {report.path: report for report in diagnose([str(tmp_path)], EMPTY_CONFIG)}
    lines = whole.count(b"\n")
    assert (found["whole.json"].format, found["whole.json"].parsed, found["whole.json"].bad) == (
        "kineto",
        lines,
        0,
    )
    cut = found["cut.json"]
    assert (cut.format, cut.parsed, cut.unknown, cut.bad) == ("kineto", cut.lines - 1, 0, 1)
    assert found["not.json"].format == "unknown"
