"""The store: every line accounted for, nothing read twice, the same bytes anywhere, and no input too bad."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline.config import EMPTY_CONFIG, Config, Privacy, SourceRule, ZoneRule
from pipeline.errors import GoodputError
from pipeline.ingest import IngestSummary, ingest
from pipeline.ingest.chunks import read_chunks
from pipeline.ingest.doctor import diagnose
from pipeline.ingest.values import POLARS_TYPES
from pipeline.tables import EVENT_TABLES
from tests.golden import FOLDER

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"
CONSOLE = (FOLDER / "megatron" / "sample.log").read_bytes()
ACCOUNTING = (FOLDER / "slurm_sacct" / "sample.txt").read_bytes()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "heron-70b"
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "880100.out").write_bytes(CONSOLE)
    (folder / "sacct.txt").write_bytes(ACCOUNTING)
    return folder


def read(store: Path, table: str) -> pl.DataFrame:
    return pl.read_parquet(sorted((store / "events" / table).glob("*.parquet")))


def sources(store: Path) -> dict[str, dict[str, object]]:
    return {row["path"]: row for row in read(store, "sources").iter_rows(named=True)}


def content(store: Path) -> dict[str, bytes]:
    files = [store / "manifest.json", *sorted((store / "events").rglob("*"))]
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in files if path.is_file()}


def run(logs: Path, store: Path, config: Config = EMPTY_CONFIG) -> IngestSummary:
    return ingest([str(logs)], store, config, workers=2)


def test_every_table_is_there_with_its_columns(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "store")
    for name, table in EVENT_TABLES.items():
        expected = {column.name: POLARS_TYPES[column.type] for column in table.columns}
        for part in (tmp_path / "store" / "events" / name).iterdir():
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


def test_the_same_logs_give_the_same_bytes_in_another_folder(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "store")
    shutil.copytree(logs, tmp_path / "elsewhere" / "heron-70b", copy_function=shutil.copyfile)
    ingest([str(tmp_path / "elsewhere" / "heron-70b")], tmp_path / "other", EMPTY_CONFIG, workers=1)
    assert content(tmp_path / "store") == content(tmp_path / "other")


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
    (logs / "run" / "880100.out").unlink()
    run(logs, tmp_path / "store")
    assert sources(tmp_path / "store")["run/copy.log.gz"]["duplicate_of"] is None
    assert read(tmp_path / "store", "steps").height > 0


def test_the_same_few_words_of_two_jobs_are_no_copy(logs: Path, tmp_path: Path) -> None:
    for name in ("880100.err", "880101.err"):
        (logs / "run" / name).write_text("srun: error: gx001: task 0: Exited with exit code 1\n")
    run(logs, tmp_path / "store")
    assert {row["duplicate_of"] for row in sources(tmp_path / "store").values()} == {None}


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
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(logs, tmp_path / "whole")
    monkeypatch.setattr("pipeline.ingest.CHUNK_BYTES", 700)
    monkeypatch.setattr("pipeline.ingest.reader.read_chunks", lambda path: read_chunks(path, 700))
    monkeypatch.setattr("pipeline.ingest.write.PART_ROWS", 5)
    run(logs, tmp_path / "store")
    for name in EVENT_TABLES:
        if name not in ("sources", "formats", "templates"):
            order = ["source_id", "line", "segment"]
            assert (
                read(tmp_path / "whole", name).sort(order).equals(read(tmp_path / "store", name).sort(order))
            )
    assert len(list((tmp_path / "store" / "events" / "facts").glob("s*"))) > 1
    account = ["lines", "parsed_lines", "unknown_lines", "bad_lines", "first_ts", "last_ts", "zone"]
    assert (
        read(tmp_path / "whole", "sources")
        .select(account)
        .equals(read(tmp_path / "store", "sources").select(account))
    )


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


HOSTILE: dict[str, tuple[bytes, int]] = {
    "nothing.log": (b"", 0),
    "no_end.log": (CONSOLE.rstrip(b"\n"), CONSOLE.count(b"\n")),
    "cut.log": (CONSOLE[: len(CONSOLE) // 2], CONSOLE[: len(CONSOLE) // 2].count(b"\n") + 1),
    "windows.log": (CONSOLE.replace(b"\n", b"\r\n"), CONSOLE.count(b"\n")),
    "bom.log": (b"\xef\xbb\xbf" + CONSOLE, CONSOLE.count(b"\n")),
    "nul.log": (CONSOLE[:1000] + b"\0" * 5000 + CONSOLE[1000:], CONSOLE.count(b"\n")),
    "broken_utf8.log": (CONSOLE + b"\xff\xfe\xc3\n" * 3, CONSOLE.count(b"\n") + 3),
    "binary.bin": (bytes(range(256)) * 100, 101),
    "no_time.log": (b"hello\n" * 5, 5),
    "one_long_line.log": (b"x" * 3_000_000, 1),
    "truncated.gz": (gzip.compress(CONSOLE * 50)[:-20], 0),
    "not_gzip.gz": (b"\x1f\x8bnot at all", 0),
    "brackets.log": (b"[[[[((((%s %d {0} $1 \\\\ ***\n", 1),
    "sacct_cut.txt": (ACCOUNTING[:-30], ACCOUNTING.count(b"\n")),
}


def test_no_input_is_too_bad(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name, (text, _) in HOSTILE.items():
        (logs / name).write_bytes(text)
    (logs / "folder.log").mkdir()
    (logs / "to_nowhere.log").symlink_to(logs / "gone")
    (logs / "outside.log").symlink_to(Path(__file__))
    os.mkfifo(logs / "pipe.log")
    summary = run(logs, tmp_path / "store")
    found = sources(tmp_path / "store")
    assert sorted([*HOSTILE, "to_nowhere.log", "outside.log", "pipe.log"]) == list(found)
    for row in found.values():
        assert row["lines"] == row["parsed_lines"] + row["unknown_lines"] + row["bad_lines"]  # type: ignore[operator]
    for name, (_, lines) in HOSTILE.items():
        if lines or name == "nothing.log":
            assert (name, lines) == (name, found[name]["lines"])
    errors = {path: why.split(":")[0].split(" after ")[0] for path, why in summary.unreadable}
    assert errors == {
        "truncated.gz": "damaged",
        "not_gzip.gz": "damaged",
        "to_nowhere.log": "a link that leads nowhere",
        "outside.log": "a link that leads out of the log folder",
        "pipe.log": "not a regular file",
    }
    assert found["truncated.gz"]["lines"] > CONSOLE.count(b"\n")  # type: ignore[operator]
    assert found["binary.bin"]["format"] == "binary"
    same = {"format", "parsed_lines", "first_ts"}
    for name in ("windows.log", "bom.log", "no_end.log", "broken_utf8.log"):
        assert {key: found["no_end.log"][key] for key in same} == {key: found[name][key] for key in same}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(logs: Path, tmp_path: Path) -> None:
    (logs / "sacct.txt").chmod(0)
    assert run(logs, tmp_path / "store").unreadable == (("sacct.txt", "permission denied"),)


def remove_all(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def hide_all(folder: Path) -> None:
    remove_all(folder)
    (folder / ".hidden.log").write_bytes(CONSOLE)
    (folder / "goodput.toml").write_text("")


@pytest.mark.parametrize("empty", [remove_all, hide_all, shutil.rmtree])
def test_no_logs_is_an_error_that_helps(logs: Path, tmp_path: Path, empty: Callable[[Path], None]) -> None:
    empty(logs)
    with pytest.raises(GoodputError) as caught:
        run(logs, tmp_path / "store")
    assert caught.value.what.startswith("no log")
    assert caught.value.now


def test_several_roots_keep_their_names_apart(logs: Path, tmp_path: Path) -> None:
    other = tmp_path / "more" / "heron-70b"
    other.mkdir(parents=True)
    (other / "sacct.txt").write_bytes(ACCOUNTING.replace(b"heron", b"egret"))
    ingest([str(logs), str(other)], tmp_path / "store", EMPTY_CONFIG)
    assert list(sources(tmp_path / "store")) == [
        "heron-70b/run/880100.out",
        "heron-70b/sacct.txt",
        "heron-70b~2/sacct.txt",
    ]


def test_the_configuration_overrules_what_was_recognised(logs: Path, tmp_path: Path) -> None:
    config = Config(
        sources=(SourceRule("run/*", format="torchtitan"),), zones=(ZoneRule("**", "Europe/Berlin"),)
    )
    run(logs, tmp_path / "store")
    assert {row["zone"] for row in sources(tmp_path / "store").values()} == {"UTC (assumed)"}
    assert run(logs, tmp_path / "store", config).read == 1
    found = sources(tmp_path / "store")
    assert (found["run/880100.out"]["format"], found["run/880100.out"]["runner_up"]) == (
        "torchtitan",
        "megatron",
    )
    assert found["sacct.txt"]["zone"] == "Europe/Berlin"
    with pytest.raises(GoodputError, match="no format is called `torchtitn`"):
        run(logs, tmp_path / "store", Config(sources=(SourceRule("**", format="torchtitn"),)))


@pytest.mark.parametrize("rule", ["hash", "drop"])
def test_users_are_hidden_before_anything_is_written(logs: Path, tmp_path: Path, rule: str) -> None:
    run(logs, tmp_path / "open")
    users = set(read(tmp_path / "open", "allocations")["user"].drop_nulls())
    assert users
    run(logs, tmp_path / "store", Config(privacy=Privacy(rule)))
    hidden = read(tmp_path / "store", "allocations")["user"]
    assert users.isdisjoint(hidden.drop_nulls())
    assert hidden.n_unique() == (
        1 if rule == "drop" else read(tmp_path / "open", "allocations")["user"].n_unique()
    )


SECRETS = (
    "RuntimeError: cannot clone https://ada:s3cr3t-t0ken@git.example/heron.git",
    "ValueError: WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567 was refused",
    "KeyError: 'Authorization: Bearer abcdef0123456789abcdef'",
    "unknown line with hf_ABCDEFGHIJKLMNOPQRSTUVWXYZ in it",
    "unknown AKIAABCDEFGHIJKLMNOP",
)


def test_secrets_are_masked_before_anything_is_written(logs: Path, tmp_path: Path) -> None:
    (logs / "run" / "secrets.log").write_text("\n".join(SECRETS) + "\n")
    run(logs, tmp_path / "store")
    texts = [*read(tmp_path / "store", "signals")["text"], *read(tmp_path / "store", "templates")["example"]]
    assert any("https://ada:***@git.example" in text for text in texts)
    for secret in ("s3cr3t", "0123456789abcdef", "hf_ABC", "AKIA"):
        assert not [text for text in texts if secret in text]


def test_progress_is_told_in_bytes(logs: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    ingest([str(logs)], tmp_path / "store", EMPTY_CONFIG, progress=lambda *news: told.append(news))
    total = len(CONSOLE) + len(ACCOUNTING)
    assert told[-1] == ("read", total, total)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_the_doctor_says_what_ingest_finds(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "store")
    found = sources(tmp_path / "store")
    for report in diagnose([str(logs)], EMPTY_CONFIG):
        row = found[report.path]
        assert (row["format"], row["lines"], row["parsed_lines"], row["bad_lines"], row["zone"]) == (
            report.format,
            report.lines,
            report.parsed,
            report.bad,
            report.zone,
        )
        for table, rows in report.events.items():
            own = read(tmp_path / "store", table).filter(pl.col("source_id") == row["source_id"])
            assert own.height == rows


@pytest.mark.skipif(not REAL.is_dir(), reason="the real logs are not here")
def test_every_line_of_the_real_logs_is_accounted_for(tmp_path: Path) -> None:
    summary = run(REAL, tmp_path / "store")
    assert summary.unreadable == ()
    for name, row in sources(tmp_path / "store").items():
        path = REAL / name
        text = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
        assert row["lines"] == text.count(b"\n") + (not text.endswith(b"\n")), name
        assert row["lines"] == row["parsed_lines"] + row["unknown_lines"] + row["bad_lines"], name  # type: ignore[operator]
