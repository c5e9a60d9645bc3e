"""What ingest is given: no input is too bad, settings are obeyed, and nothing that is hidden is written."""

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
from pipeline.ingest import ingest
from pipeline.ingest.doctor import diagnose
from tests.ingested import ACCOUNTING, CONSOLE, read, run, sources, write_logs


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return write_logs(tmp_path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of the logs as they are."""
    folder = tmp_path_factory.mktemp("plain")
    run(write_logs(folder), folder / "store")
    return folder / "store"


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
def test_users_are_hidden_before_anything_is_written(
    logs: Path, plain: Path, tmp_path: Path, rule: str
) -> None:
    users = set(read(plain, "allocations")["user"].drop_nulls())
    assert users
    run(logs, tmp_path / "store", Config(privacy=Privacy(rule)))
    hidden = read(tmp_path / "store", "allocations")["user"]
    assert users.isdisjoint(hidden.drop_nulls())
    assert hidden.n_unique() == (1 if rule == "drop" else read(plain, "allocations")["user"].n_unique())


def test_users_are_hidden_in_a_part_that_is_read_as_its_log(tmp_path: Path) -> None:
    """What comes behind the rotation proves no trainer: that it is one is told by the part before."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "train.out.1").write_bytes(CONSOLE)
    (logs / "train.out").write_text(
        "[2026-10-05 12:00:00] the last words of a rank\n"
        "Job <7> was submitted from host <gx9> by user <ada> in cluster <c> at Mon Oct  5 05:59:58 2026\n"
    )
    run(logs, tmp_path / "store", Config(privacy=Privacy("drop")))
    assert sources(tmp_path / "store")["train.out"]["format"] == "megatron"
    assert read(tmp_path / "store", "allocations")["user"].to_list() == [None]


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


def test_the_doctor_says_what_ingest_finds(logs: Path, plain: Path) -> None:
    found = sources(plain)
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
            own = read(plain, table).filter(pl.col("source_id") == row["source_id"])
            assert own.height == rows
