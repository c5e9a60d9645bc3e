"""Hostile and damaged logs: no line is lost in silence, and the ledger tiles what it believes."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from tests.damaged import HEADER, build, console, job, write

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


def with_steps(change: Callable[[int], int]) -> str:
    return re.sub(r"iteration +(\d+)/", lambda m: f"iteration {change(int(m[1])):8d}/", console())


def with_clock(seconds: float, line: int, until: int | None = None) -> str:
    """Return a console whose clock is wrong by some seconds from a line on."""

    def moved(found: re.Match[str]) -> str:
        return f"[{datetime.fromisoformat(found[1]) + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S.%f}]"

    rows = console().splitlines(keepends=True)
    wrong = [re.sub(r"\[(\d{4}-[^\]]+)\]", moved, row) for row in rows[line:until]]
    return "".join([*rows[:line], *wrong, *(rows[until:] if until else [])])


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

#: Another one, of which only the first part can be unpacked.
DAMAGED = "damaged/console.log.gz"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[duckdb.DuckDBPyConnection, str]:
    """Return the ledger of all consoles, and what was said of them."""
    folder = tmp_path_factory.mktemp("consoles")
    # No two are the same content, which would be taken for a copy.
    for number, (name, content) in enumerate(CONSOLES.items()):
        own = f"own line of console {number}\n"
        text = content if isinstance(content, bytes) else content.encode()
        (folder / "logs" / name.replace("/", "_")).mkdir(parents=True)
        path = folder / "logs" / name.replace("/", "_") / "console.log"
        path.write_bytes(text if name in ("utf16", "cut_in_a_character") else own.encode() + text)
    whole = gzip.compress(console(400, start=103.0).encode())
    write(folder / "logs", {DAMAGED: whole[: len(whole) * 3 // 4]})
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        code, con = build(folder / "logs", folder / "store")
    assert code == 0, con.execute(BROKEN).fetchall()
    return con, said.getvalue()


@pytest.fixture(scope="module")
def consoles(told: tuple[duckdb.DuckDBPyConnection, str]) -> duckdb.DuckDBPyConnection:
    return told[0]


def test_no_console_breaks_a_law(consoles: duckdb.DuckDBPyConnection) -> None:
    assert consoles.execute(UNTILED).fetchall() == []
    assert consoles.execute(LOST_LINES).fetchall() == []
    assert consoles.execute("select count(*) from events.sources").fetchone() == (len(CONSOLES) + 1,)


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


def test_what_can_be_read_of_a_damaged_file_is_worth_a_ledger(
    told: tuple[duckdb.DuckDBPyConnection, str],
) -> None:
    con, said = told
    assert lives(con)["damaged"]["productive"] > 0
    assert re.findall(r"where: (\S+)", said) == [DAMAGED]
    assert "damaged after" in said


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
