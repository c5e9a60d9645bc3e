"""Hostile and damaged input: no traceback, no silent loss, the right exit code, and a ledger that tiles."""

from __future__ import annotations

import fcntl
import gzip
import os
import re
import resource
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from pipeline.cli import run
from pipeline.ledger.query import open_store

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
START = datetime(2026, 3, 3, 7, tzinfo=UTC)
HEADER = "JobIDRaw|JobID|Cluster|User|State|Submit|Eligible|Start|End|ElapsedRaw|AllocTRES|NodeList|JobName"

UNTILED = """
select run_id from ledger.runs as r left join (
    select run_id, sum(date_diff('microsecond', start_ts, end_ts)) as us
    from ledger.intervals where part = 'active' group by 1
) as i using (run_id)
where i.us is distinct from date_diff('microsecond', r.life_start_ts, r.life_end_ts)
"""
LOST_LINES = "select path from events.sources where lines <> parsed_lines + unknown_lines + bad_lines"
BROKEN = """select "check", example from checks.results where rows > 0"""
SECONDS = (
    "select run_id, category, sum(seconds)::bigint from ledger.intervals where part = 'active' group by all"
)


def stamp(seconds: float) -> str:
    return f"{START + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S.%f}"


def console(lines: int = 12, first: int = 10, start: float = 100.0) -> str:
    """Return a console: a step of 15 s, a line every ten of them."""
    head = [
        "using world size: 64, data-parallel size: 8, tensor-model-parallel size: 8",
        "------------------------ arguments ------------------------",
        "  global_batch_size ............................... 256",
        "-------------------- end of arguments ---------------------",
        f"[before the start of training step] datetime: {stamp(start)} ",
    ]
    steps = [
        f" [{stamp(start + 150 * (n + 1))}] iteration {first + 10 * n:8d}/    1000 | consumed samples: "
        f"{256 * (first + 10 * n):12d} | elapsed time per iteration (ms): 15000.0 | "
        "global batch size:   256 | lm loss: 1.180579E+01 | loss scale: 1.0 | grad norm: 1.862 | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |"
        for n in range(lines)
    ]
    return "\n".join([*head, *steps]) + "\n"


def job(number: int, name: str, start: float | str = 0, end: float | str = 6000, gpus: str = "64") -> str:
    """Return a line of accounting."""
    begin, finish = (t if isinstance(t, str) else stamp(t)[:19].replace(" ", "T") for t in (start, end))
    tres = f"cpu=10,gres/gpu={gpus},node=8" if gpus else "cpu=10,node=8"
    state = "RUNNING" if finish == "Unknown" else "COMPLETED"
    submit = stamp(-600)[:19].replace(" ", "T")
    who = f"{number}|{number}|aviary|mira|{state}|{submit}|{submit}|{begin}|{finish}"
    return f"{who}|5000|{tres}|gx[010-017]|{name}"


def with_steps(change: Callable[[int], int]) -> str:
    return re.sub(r"iteration +(\d+)/", lambda m: f"iteration {change(int(m[1])):8d}/", console())


def with_clock(seconds: float, line: int, until: int | None = None) -> str:
    """Return a console whose clock is wrong by some seconds from a line on."""

    def moved(found: re.Match[str]) -> str:
        return f"[{datetime.fromisoformat(found[1]) + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S.%f}]"

    rows = console().splitlines(keepends=True)
    wrong = [re.sub(r"\[(\d{4}-[^\]]+)\]", moved, row) for row in rows[line:until]]
    return "".join([*rows[:line], *wrong, *(rows[until:] if until else [])])


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def build(logs: Path, store: Path) -> tuple[int, duckdb.DuckDBPyConnection]:
    assert run(["ingest", str(logs), "--store", str(store), "--workers", "1"]) == 0
    return run(["classify", "--store", str(store)]), open_store(store)


def lives(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, int]]:
    """Return the seconds of each category by run."""
    found: dict[str, dict[str, int]] = {}
    for run_id, category, seconds in con.execute(SECONDS).fetchall():
        found.setdefault(run_id, {})[category] = seconds
    return found


#: Each a run of its own, in one folder: what its console is.
CONSOLES: dict[str, str | bytes] = {
    "plain": console(),
    "step_2_62": with_steps(lambda step: 2**62 + step),
    "step_2_63": with_steps(lambda step: 2**63),
    "step_10_30": with_steps(lambda step: 10**30 + step),
    "step_once_huge": with_steps(lambda step: 2**62 if step == 50 else step),
    "step_negative": with_steps(lambda step: -step),
    "step_repeated": with_steps(lambda step: 10),
    "step_back": with_steps(lambda step: 130 - step),
    "step_zero": with_steps(lambda step: 0),
    "step_time_nan": console().replace("(ms): 15000.0", "(ms): nan"),
    "step_time_huge": console().replace("(ms): 15000.0", "(ms): 1e300"),
    "step_time_negative": console().replace("(ms): 15000.0", "(ms): -1.0"),
    "loss_nan": console().replace("1.180579E+01", "nan").replace("1.862", "inf"),
    "world_2_62": console().replace("world size: 64", f"world size: {2**62}"),
    "world_0": console().replace("world size: 64", "world size: 0"),
    "one_line": console(1),
    "no_line": console(0),
    "clock_1970_once": with_clock(-1_772_500_000, 11, 12),
    "clock_1970": with_clock(-1_772_500_000, 11),
    "clock_9026": with_clock(86_400 * 365 * 7000, 11),
    "clock_back_5_s": with_clock(-5, 11),
    "carriage_returns": console().replace("\n", "\r") + "\r" * 300_000,
    "windows_ends": console().replace("\n", "\r\n"),
    "nuls": console().encode() + b"\0" * 100_000 + b"\n",
    "utf16": console().encode("utf-16"),
    "latin1": console().encode() + "grün\n".encode("latin-1") * 9,
    "cut_in_a_line": console()[:-217],
    "cut_in_a_character": console().encode() + "grün".encode()[:3],
    "<script>alert(1)</script> #panic() $x$ %s '; drop table x;--": console(start=101.0),
    "line\nbreak": console(start=102.0),
}


@pytest.fixture(scope="module")
def consoles(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    folder = tmp_path_factory.mktemp("consoles")
    # No two are the same content, which would be taken for a copy.
    for number, (name, content) in enumerate(CONSOLES.items()):
        own = f"own line of console {number}\n"
        text = content if isinstance(content, bytes) else content.encode()
        (folder / "logs" / name.replace("/", "_")).mkdir(parents=True)
        path = folder / "logs" / name.replace("/", "_") / "console.log"
        path.write_bytes(text if name in ("utf16", "cut_in_a_character") else own.encode() + text)
    code, con = build(folder / "logs", folder / "store")
    assert code == 0, con.execute(BROKEN).fetchall()
    return con


def test_no_console_breaks_a_law(consoles: duckdb.DuckDBPyConnection) -> None:
    assert consoles.execute(UNTILED).fetchall() == []
    assert consoles.execute(LOST_LINES).fetchall() == []
    assert consoles.execute("select count(*) from events.sources").fetchone() == (len(CONSOLES),)


@pytest.mark.parametrize(
    "name",
    [
        *("step_2_62", "step_2_63", "step_10_30", "step_once_huge", "loss_nan", "world_2_62", "world_0"),
        *("clock_1970_once", "carriage_returns", "windows_ends", "nuls", "utf16", "latin1"),
        *("cut_in_a_character", "line\nbreak"),
    ],
)
def test_damage_beside_the_steps_costs_nothing(name: str, consoles: duckdb.DuckDBPyConnection) -> None:
    assert lives(consoles)[name] == lives(consoles)["plain"] == {"productive": 1800}


@pytest.mark.parametrize(
    ("name", "seconds"), [("clock_1970", 900), ("clock_9026", 900), ("clock_back_5_s", 1795)]
)
def test_a_stamp_that_nobody_believes_does_not_stretch_a_run(
    name: str, seconds: int, consoles: duckdb.DuckDBPyConnection
) -> None:
    assert sum(lives(consoles)[name].values()) == seconds


def test_accounting_may_say_anything(tmp_path: Path) -> None:
    jobs = [
        job(1, "plain"),
        job(2, "ends before it starts", 6000, 0),
        job(3, "no time", 0, 0),
        job(4, "no accelerators", gpus="0"),
        job(5, "names none", gpus=""),
        job(6, "a milliard", gpus=str(10**9)),
        job(7, "more than there are", gpus=str(10**30)),
        job(8, "runs", 0, "Unknown"),
        job(9, "waits", "Unknown", "Unknown"),
        job(10, "began with the epoch", "1970-01-01T00:00:00", 100),
        *(job(11, "overlaps", 0, 4000), job(12, "overlaps", 2000, 6000)),
        *(job(13, "twice"), job(13, "twice")),
        job(14, "<script>alert(1)</script> #panic() $x$ %s"),
        job(15, "'; drop table x;--" * 100),
    ]
    code, con = build(write(tmp_path / "logs", {"sacct.txt": "\n".join([HEADER, *jobs, ""])}), tmp_path / "s")
    assert code == 0, con.execute(BROKEN).fetchall()
    assert con.execute(UNTILED).fetchall() == []
    assert con.execute(LOST_LINES).fetchall() == []
    found = {run_id[:20]: seconds for run_id, seconds in lives(con).items()}
    assert found == {
        "plain": {"unobserved": 6000},
        "a milliard": {"unobserved": 6000},
        "runs": {"unobserved": 5000},
        "overlaps": {"unobserved": 6000},
        "twice": {"unobserved": 6000},
        "<script>alert(1)</sc": {"unobserved": 6000},
        "'; drop table x;--';": {"unobserved": 6000},
    }


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


def test_what_can_be_read_of_a_damaged_file_is_worth_a_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = gzip.compress(console(400).encode())
    logs = write(tmp_path / "logs", {"heron/console.log.gz": whole[: len(whole) * 3 // 4]})
    code, con = build(logs, tmp_path / "store")
    assert code == 0
    assert lives(con)["heron"]["productive"] > 0
    assert "damaged after" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 99])
def test_logs_without_a_run_end_with_2(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", {"heron/console.log": content})
    assert run(["report", str(logs), "--out", str(tmp_path / "out")]) == 2
    assert "error: the store holds no run" in capsys.readouterr().err


def read_story(logs: Path, store: Path) -> list[tuple[object, ...]]:
    """Return the ledger of a story, without names of files."""
    code, con = build(logs, store)
    assert code == 0
    columns = "run_id, attempt, part, start_ts, end_ts, category, was, gpus, charged_to, incident_id"
    rows = con.execute(f"select {columns} from ledger.intervals order by all").fetchall()
    con.close()
    return rows


def cut_in_two(logs: Path) -> None:
    path = logs / "heron-70b" / "job-41207.out"
    rows = path.read_bytes().splitlines(keepends=True)
    middle = len(rows) * 7 // 10
    path.write_bytes(b"".join(rows[middle:]))
    path.with_name("job-41207.out.1").write_bytes(b"".join(rows[:middle]))


def put_together(logs: Path) -> None:
    parts = sorted((logs / "heron-70b").glob("*.out"))
    text = b"".join(path.read_bytes() for path in parts)
    for path in parts:
        path.unlink()
    (logs / "heron-70b" / "all.out").write_bytes(text)


def turn_round_and_compress_in_members(logs: Path) -> None:
    head, *rows = (logs / "sacct.txt").read_text().splitlines(keepends=True)
    (logs / "sacct.txt").write_text(head + "".join(reversed(rows)))
    path = logs / "heron-70b" / "job-41207.out"
    text = path.read_bytes()
    path.unlink()
    path.with_name("job-41207.out.gz").write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]))


def keep_copies(logs: Path) -> None:
    path = logs / "heron-70b" / "job-41207.out"
    path.with_name("old-41207.out").write_bytes(path.read_bytes()[:9000])
    path.with_name("job-41207.out.gz").write_bytes(gzip.compress(path.read_bytes()))
    shutil.copy(logs / "sacct.txt", logs / "again.txt")


def test_how_files_are_kept_does_not_change_the_ledger(tmp_path: Path) -> None:
    story = SAMPLES / "fallen-gpu"
    expected = read_story(story, tmp_path / "expected")
    for change in (cut_in_two, put_together, turn_round_and_compress_in_members, keep_copies):
        logs = tmp_path / change.__name__ / "fallen-gpu"
        shutil.copytree(story, logs)
        change(logs)
        assert (change.__name__, read_story(logs, tmp_path / f"{change.__name__}-store")) == (
            change.__name__,
            expected,
        )


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
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", {"heron/console.log": console()})
    command = ["ingest", str(logs), "--store", str(tmp_path / "store")]
    assert run(command) == 0
    (tmp_path / "store" / name).write_text(text)
    assert run(command) == 0
    assert capsys.readouterr().out.count("17 parsed, 0 unknown, 0 bad") == 2


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
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", {"heron/console.log": console()})
    code, con = build(logs, tmp_path / "store")
    con.close()
    before = (tmp_path / "store" / "goodput.duckdb").stat().st_mtime_ns
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, limits[1]))
    try:
        again = run(["classify", "--store", str(tmp_path / "store")])
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        anew = run(["ingest", str(logs), "--store", str(tmp_path / "other")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, again, anew) == (0, 2, 2)
    told = capsys.readouterr().err
    assert "error: the ledger cannot be written" in told
    assert "error: the store cannot be written" in told
    assert (tmp_path / "store" / "goodput.duckdb").stat().st_mtime_ns == before
    assert not list((tmp_path / "store").glob("*.part*"))
