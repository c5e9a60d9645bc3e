"""The store: every line accounted for, nothing read twice, and the same bytes anywhere."""

from __future__ import annotations

import gzip
import math
import os
import pickle
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest import ingest
from pipeline.ingest.account import ChunkResult
from pipeline.ingest.chunks import Chunk, read_chunks
from pipeline.ingest.doctor import diagnose
from pipeline.ingest.sample import Sample, read_sample
from pipeline.ingest.values import POLARS_TYPES
from pipeline.places import Place
from pipeline.processes import Processes, _OtherProcess
from pipeline.tables import EVENT_TABLES
from tests.golden import FOLDER
from tests.ingested import ACCOUNTING, CONSOLE, content, read, run, sources, write_logs


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return write_logs(tmp_path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of the logs as they are."""
    folder = tmp_path_factory.mktemp("plain")
    run(write_logs(folder), folder / "store")
    return folder / "store"


def test_every_table_is_there_with_its_columns(plain: Path) -> None:
    for name, table in EVENT_TABLES.items():
        expected = {column.name: POLARS_TYPES[column.type] for column in table.columns}
        for part in (plain / "events" / name).iterdir():
            assert expected == dict(pl.read_parquet_schema(part)), part


def test_every_line_is_known_torn_or_unknown(logs: Path, tmp_path: Path) -> None:
    summary = run(logs, tmp_path / "store")
    assert summary.lines == summary.parsed + summary.unknown + summary.bad
    found = sources(tmp_path / "store")
    assert found["run/880100.out"]["lines"] == CONSOLE.count(b"\n")
    assert [row["format"] for row in found.values()] == ["megatron", "slurm_sacct"]
    assert [row["job_id"] for row in found.values()] == ["880100", None]


def test_a_second_run_reads_nothing_and_changes_nothing(logs: Path, tmp_path: Path) -> None:
    first = run(logs, tmp_path / "store")
    before = content(tmp_path / "store")
    second = run(logs, tmp_path / "store")
    assert (first.read, first.reused, second.read, second.reused) == (2, 0, 0, 2)
    assert (first.lines, first.parsed) == (second.lines, second.parsed)
    assert before == content(tmp_path / "store")


def test_the_same_logs_give_the_same_bytes_in_another_folder(logs: Path, plain: Path, tmp_path: Path) -> None:
    ingest([str(logs)], tmp_path / "other", EMPTY_CONFIG, workers=1)
    assert content(plain) == content(tmp_path / "other")


def test_one_changed_file_is_read_again_and_its_old_rows_go(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "store")
    steps = read(tmp_path / "store", "steps").height
    (logs / "run" / "880100.out").write_bytes(CONSOLE + CONSOLE)
    summary = run(logs, tmp_path / "store")
    assert (summary.read, summary.reused) == (1, 1)
    assert read(tmp_path / "store", "steps").height == 2 * steps
    run(logs, tmp_path / "fresh")
    assert content(tmp_path / "store") == content(tmp_path / "fresh")


def test_a_touched_file_is_not_read_again(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "store")
    os.utime(logs / "sacct.txt", (1, 1))
    assert run(logs, tmp_path / "store").reused == 2


def test_a_removed_file_disappears(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "store")
    (logs / "sacct.txt").unlink()
    run(logs, tmp_path / "store")
    assert list(sources(tmp_path / "store")) == ["run/880100.out"]
    assert read(tmp_path / "store", "allocations").height == 0


def test_a_killed_run_goes_on_and_leaves_nothing_behind(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.ingest.store import Store

    (logs / "also.log").write_bytes(CONSOLE[: len(CONSOLE) // 2])
    run(logs, tmp_path / "whole")
    noted: list[str] = []
    note = Store.note

    def die_after_one(store: Store, entry: object) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append("x")
        note(store, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "note", die_after_one)
    with pytest.raises(KeyboardInterrupt):
        run(logs, tmp_path / "store")
    half = tmp_path / "store" / "events" / "steps" / "s0-0000.parquet.writing"
    half.write_bytes(b"PAR1 half")
    monkeypatch.setattr(Store, "note", note)
    summary = run(logs, tmp_path / "store")
    assert (summary.read, summary.reused) == (2, 1)
    assert content(tmp_path / "whole") == content(tmp_path / "store")


def test_a_lost_part_is_read_again(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "store")
    before = content(tmp_path / "store")
    next((tmp_path / "store" / "events" / "steps").glob("s*")).unlink()
    assert run(logs, tmp_path / "store").read == 1
    assert before == content(tmp_path / "store")


def test_a_store_below_the_logs_is_no_log(logs: Path) -> None:
    run(logs, logs / "report")
    assert run(logs, logs / "report").sources == 2


def test_the_same_content_twice_is_read_once(logs: Path, tmp_path: Path) -> None:
    (logs / "run" / "copy.log.gz").write_bytes(gzip.compress(CONSOLE))
    summary = run(logs, tmp_path / "store")
    found = sources(tmp_path / "store")
    assert found["run/copy.log.gz"]["duplicate_of"] == "run/880100.out"
    assert found["run/copy.log.gz"]["lines"] == found["run/880100.out"]["lines"]
    assert set(read(tmp_path / "store", "steps")["source_id"]) == {found["run/880100.out"]["source_id"]}
    assert summary.lines == CONSOLE.count(b"\n") + ACCOUNTING.count(b"\n")
    reports = {report.path: report.duplicate_of for report in diagnose([str(logs)], EMPTY_CONFIG)}
    assert {path: first for path, first in reports.items() if first} == {"run/copy.log.gz": "run/880100.out"}
    (logs / "run" / "880100.out").unlink()
    run(logs, tmp_path / "store")
    assert sources(tmp_path / "store")["run/copy.log.gz"]["duplicate_of"] is None
    assert read(tmp_path / "store", "steps").height > 0


def test_the_same_few_words_of_two_jobs_are_no_copy(logs: Path, tmp_path: Path) -> None:
    for name in ("880100.err", "880101.err"):
        (logs / "run" / name).write_text("srun: error: gx001: task 0: Exited with exit code 1\n")
    run(logs, tmp_path / "store")
    assert {row["duplicate_of"] for row in sources(tmp_path / "store").values()} == {None}


def run_on(texts: Mapping[str, str], folder: Path) -> None:
    """Read files by their names below the logs."""
    for name, text in texts.items():
        (folder / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "logs" / name).write_text(text)
    run(folder / "logs", folder / "store")


XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
WITHOUT_HOST = f"[Sun Mar  1 10:11:12 2026] {XID}\n"


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        ("gx017.dmesg.txt", "gx018.dmesg.txt", WITHOUT_HOST),
        ("dmesg-gx017.txt", "dmesg-gx018.txt", WITHOUT_HOST),
        ("gx017_kern.log", "gx018_kern.log", WITHOUT_HOST),
        ("gx017/var/log/kern.log", "gx018/var/log/kern.log", WITHOUT_HOST),
        ("nodes/gx017/dmesg.txt", "nodes/gx018.dmesg.txt", f"[412007.930514] {XID}\n"),
    ],
)
def test_the_same_words_of_the_kernels_of_two_hosts_are_no_copy(
    first: str, second: str, line: str, tmp_path: Path
) -> None:
    run_on({first: line, second: line}, tmp_path)
    assert {row["duplicate_of"] for row in sources(tmp_path / "store").values()} == {None}
    assert read(tmp_path / "store", "signals").height == 2


@pytest.mark.parametrize(
    ("read_one", "copy", "line"),
    [
        # The same host, somewhere else.
        ("backup/gx017.dmesg.txt", "nodes/gx017.dmesg.txt", WITHOUT_HOST),
        ("gx017/dmesg.txt", "incident/gx017/kernel.log", WITHOUT_HOST),
        ("dmesg-gx017.txt", "gx017/dmesg.txt", WITHOUT_HOST),
        ("gx017.dmesg.txt", "gx017-copy.dmesg.txt", WITHOUT_HOST),
        # What the place of one of them names is no host, and what lies where a host is named is read.
        ("case-1/dmesg.txt", "case-2/dmesg.txt", WITHOUT_HOST),
        ("2026-03-01/dmesg.txt", "2026-03-02/dmesg.txt", WITHOUT_HOST),
        ("gx017/dmesg.txt", "dmesg.txt", WITHOUT_HOST),
        ("gx017/dmesg.txt", "dmesg-20260301.txt", WITHOUT_HOST),
        # The lines say of which host they are.
        ("gx017/kern.log", "gx018/kern.log", f"Mar  1 10:11:12 gx001 kernel: [412007.930514] {XID}\n"),
    ],
)
def test_a_log_of_one_host_in_two_places_is_read_once(
    read_one: str, copy: str, line: str, tmp_path: Path
) -> None:
    run_on({copy: line, read_one: line}, tmp_path)
    found = sources(tmp_path / "store")
    assert {found[read_one]["duplicate_of"], found[copy]["duplicate_of"]} == {None, read_one}
    assert read(tmp_path / "store", "signals").height == 1


def test_the_same_part_of_two_logs_that_go_on_differently_is_no_copy(tmp_path: Path) -> None:
    """Two runs start in one second and print the same for two parts of their logs."""
    start, words = CONSOLE.decode(), "what both say\n"
    later = [start.replace("iteration", f"iteration{' ' * n}") for n in (1, 2, 3)]
    own = {"tern/7.out.2": start, "tern/7.out.1": words, "tern/7.out": later[0]}
    own |= {"kite/8.out.3": start, "kite/8.out.2": words, "kite/8.out.1": later[1]}
    # A folder was kept when one of them had been rotated twice: its latest part has grown since.
    kept = {"kept/8.out.2": start, "kept/8.out.1": words, "kept/8.out": later[1].split("\n", 1)[0] + "\n"}
    run_on({**own, **kept, "kite/8.out": later[2]}, tmp_path)
    copies = {path: row["duplicate_of"] for path, row in sources(tmp_path / "store").items()}
    assert {path: first for path, first in copies.items() if first} == {"kite/8.out.3": "kept/8.out.2"}


def test_each_part_of_many_logs_that_begin_alike_is_looked_into_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them is compared with all others."""
    looked: Counter[str] = Counter()

    def noted(place: Place) -> Sample:
        looked[str(place)] += 1
        return read_sample(place)

    monkeypatch.setattr("pipeline.ingest.copies.read_sample", noted)
    start = CONSOLE.decode()
    own = {f"tern/{rank}.out.1": start for rank in range(9)}
    run_on(own | {f"tern/{rank}.out": f"rank {rank} goes on\n" for rank in range(9)}, tmp_path)
    assert not any(row["duplicate_of"] for row in sources(tmp_path / "store").values())
    assert set(looked.values()) == {1}
    assert len(looked) == 9


def test_parts_of_a_rotated_log_have_one_format(logs: Path, tmp_path: Path) -> None:
    steps = [
        f" iteration {n:8}/     100 | consumed samples: {n * 512} | elapsed time per iteration (ms): 90.0 |\n"
        for n in range(1, 7)
    ]
    start = "[after megatron is initialized] datetime: 2021-06-01 08:14:31 \n"
    parts = {
        "880101.out.2": start,
        "880101.out.1.gz": "".join(steps[:4]) + "what the user said\n" * 4,
        "880101.out": "".join(steps[4:]) + "what the user said\n" * 4,
    }
    for name, text in parts.items():
        written = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        (logs / "run" / name).write_bytes(written)
    run(logs, tmp_path / "store")
    before, found = content(tmp_path / "store"), sources(tmp_path / "store")
    assert {"megatron"} == {found[f"run/{name}"]["format"] for name in parts}
    run(logs, tmp_path / "store")
    assert before == content(tmp_path / "store")
    (logs / "run" / "880101.out.2").unlink()
    run(logs, tmp_path / "store")
    assert {"unknown"} == {sources(tmp_path / "store")[f"run/{name}"]["format"] for name in list(parts)[1:]}


def test_the_last_record_in_a_part_of_its_own_is_read(logs: Path, tmp_path: Path) -> None:
    records = (FOLDER / "goodput_records" / "sample.jsonl").read_bytes().splitlines(keepends=True)
    (logs / "run" / "records.jsonl.1").write_bytes(b"".join(records))
    (logs / "run" / "records.jsonl").write_bytes(
        b'{"job_name": "heron-8b-r7", "job_end_time": 1791169126.5}\n'
    )
    run(logs, tmp_path / "store")
    found = sources(tmp_path / "store")["run/records.jsonl"]
    assert (found["format"], found["parsed_lines"]) == ("goodput_records", 1)


def test_a_large_file_gives_the_rows_of_its_chunks(
    logs: Path, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.ingest.CHUNK_BYTES", 700)
    monkeypatch.setattr("pipeline.ingest.reader.read_chunks", lambda path: read_chunks(path, 700))
    monkeypatch.setattr("pipeline.ingest.write.PART_ROWS", 5)
    run(logs, tmp_path / "store")
    for name in EVENT_TABLES:
        if name not in ("sources", "formats", "templates"):
            order = ["source_id", "line", "segment"]
            assert read(plain, name).sort(order).equals(read(tmp_path / "store", name).sort(order))
    assert len(list((tmp_path / "store" / "events" / "facts").glob("s*"))) > 1
    account = ["lines", "parsed_lines", "unknown_lines", "bad_lines", "first_ts", "last_ts", "zone"]
    assert read(plain, "sources").select(account).equals(read(tmp_path / "store", "sources").select(account))


def test_what_a_process_sends_is_what_it_found() -> None:
    """Columns of one value, of none, and of kinds that hold others come back as they were."""
    steps = pl.DataFrame(
        {
            "line": [3, 4, 9],
            "segment": [0, 0, 0],
            "ts": [datetime(2026, 10, 5, tzinfo=UTC)] * 3,
            "loss": [math.nan] * 3,
            "grad_norm": [None, 0.5, 0.5],
            "rank": pl.Series([None] * 3, dtype=pl.Int32),
            "hosts": [["gx101"]] * 3,
            "ranks": [[0], [1], [0]],
        }
    )
    for rows in (steps, steps.head(1), steps.clear(), pl.DataFrame()):
        sent = ChunkResult(0, False, b"", 0, 3, {"steps": rows}, (0, 0, 3), 2, 2, steps.clear())
        assert_frame_equal(pickle.loads(pickle.dumps(sent)).tables["steps"], rows)


def test_other_processes_read_what_this_one_reads(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks of plain and of compressed files go there and back; which of them do makes no difference."""
    monkeypatch.setattr("pipeline.ingest.CHUNK_BYTES", 700)
    monkeypatch.setattr("pipeline.ingest.reader.read_chunks", lambda path: read_chunks(path, 700))
    asked: list[int] = []
    ask = _OtherProcess.ask

    def noted(process: _OtherProcess, function: Callable[[Chunk], Any], item: Chunk) -> tuple[bool, Any]:
        asked.append(item.index)
        return ask(process, function, item)

    monkeypatch.setattr(_OtherProcess, "ask", noted)
    (logs / "packed.out.gz").write_bytes(gzip.compress(CONSOLE[:-7]))
    run(logs, tmp_path / "here")
    with Processes() as processes:
        processes.expect(1 << 30, 2)
        ingest([str(logs)], tmp_path / "there", EMPTY_CONFIG, workers=1, processes=processes)
    # The console and what is packed have as many chunks each; the accounting is small.
    assert len(asked) > 10
    assert content(tmp_path / "there") == content(tmp_path / "here")


def test_small_files_read_together_give_what_each_gives_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in sorted(FOLDER.iterdir())[::2]:
        # One of every second format: read alone, each costs as much as a batch.
        for path in sorted(name.glob("sample*"))[-1:]:
            lines = path.read_bytes().splitlines(keepends=True)
            (logs / f"{name.name}-{path.name}").write_bytes(b"".join(lines[::2]))
    (logs / "nul.log").write_bytes(b"\0\0")
    (logs / "zz.log.gz").write_bytes(gzip.compress(CONSOLE[:-7]))
    run(logs, tmp_path / "together")
    monkeypatch.setattr("pipeline.ingest.work.BATCH_ITEMS", 1)
    run(logs, tmp_path / "alone")
    assert content(tmp_path / "alone") == content(tmp_path / "together")
