"""The commands on a story: what they print, what they write, and with which code they end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

import pipeline
from pipeline.cli import run
from pipeline.ledger import build
from pipeline.ledger.build import ClassifySummary
from pipeline.ledger.check import Violation

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "data" / "samples" / "fallen-gpu"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story, reported once."""
    folder = tmp_path_factory.mktemp("report") / "fallen-gpu"
    assert run(["report", str(LOGS), "--out", str(folder)]) == 0
    return folder


def test_a_report_writes_what_it_promises(store: Path) -> None:
    expected = {
        "review.pdf",
        "review.html",
        "model.json",
        "charts",
        "goodput.duckdb",
        "events",
        "manifest.json",
    }
    assert expected <= {path.name for path in store.iterdir()}


def test_a_report_ends_with_the_headline_and_the_files(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "again"
    assert run(["report", "--store", str(store), "--out", str(out), "--window", "1h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    headline = json.loads((out / "model.json").read_text())["headline"]
    assert lines[0].endswith("every check holds")
    assert headline == lines[2]
    assert [str(out / name) for name in ("review.pdf", "review.html", "model.json")] == lines[-3:]


def test_a_second_ingest_reads_nothing_again(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ingest", str(LOGS), "--store", str(store)]) == 0
    assert re.search(r"0 files read, \d+ unchanged$", capsys.readouterr().out.strip())


def test_the_store_keeps_the_configuration(store: Path) -> None:
    assert (LOGS / "goodput.toml").read_bytes() == (store / "config" / "goodput.toml").read_bytes()


def test_sql_answers_in_four_forms(store: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    query = "select run_id, gpus from ledger.runs"
    for form, part in {
        "table": b"heron-70b    64",
        "csv": b"heron-70b,64\n",
        "json": b'[{"run_id": "heron-70b", "gpus": 64}]',
        "parquet": b"PAR1",
    }.items():
        assert run(["sql", "--store", str(store), query, "--format", form]) == 0
        assert part in capfdbinary.readouterr().out


def test_sql_reads_a_file_and_writes_nothing(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.sql").write_text("-- runs\nfrom ledger.runs select run_id;\n")
    assert run(["sql", "--store", str(store), "-f", str(tmp_path / "q.sql"), "--format", "csv"]) == 0
    assert capsys.readouterr().out == "run_id\nheron-70b\n"
    assert run(["sql", "--store", str(store), "drop table ledger.runs"]) == 2
    assert run(["sql", "--store", str(store), "from read_csv('/etc/passwd')"]) == 2


def test_python_gets_the_same_tables(store: Path) -> None:
    with pipeline.open(store) as con:
        assert con.execute("select count(*) from ledger.runs").fetchone() == (1,)
        with pytest.raises(duckdb.Error):
            con.execute("create table x (y int)")


def test_explain_takes_a_moment_apart(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--store", str(store), "2026-03-03T08:10"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("2026-03-03 08:10:00 UTC\n")
    assert "heron-70b, attempt 1: Hang\n" in text
    assert "incident   heron-70b/41207.0/1\n" in text
    ranks = [int(rank) for rank in re.findall(r"^ +(\d+)  \w+ +2026", text, re.MULTILINE)]
    assert ranks == sorted(ranks, reverse=True)
    assert len(ranks) >= 2


def test_a_part_of_an_id_is_enough_where_it_fits_one(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--store", str(store), "41233"]) == 0
    assert capsys.readouterr().out.startswith("heron-70b/41233.0/1: ")


def test_a_moment_outside_of_the_records_is_an_error(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--store", str(store), "2027-01-01"]) == 2
    assert "the records cover 2026-03-03 07:00:00 to 2026-03-03 10:01:30 UTC" in capsys.readouterr().err


def test_the_account_of_the_doctor_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", str(LOGS)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^heron-70b/job-41207.out +megatron ", text, re.MULTILINE)
    assert re.search(r"^nodes/gx017.dmesg.txt +kernel ", text, re.MULTILINE)
    assert re.search(r"^sacct.txt +slurm_sacct ", text, re.MULTILINE)
    account = r"; ([\d,]+) lines? = ([\d,]+) parsed \+ ([\d,]+) unknown \+ ([\d,]+) bad$"
    sums = re.search(account, text.strip())
    assert sums
    lines, *parts = (int(number.replace(",", "")) for number in sums.groups())
    assert lines == sum(parts)


def test_the_doctor_says_how_clocks_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Job 7 held from 08:00 to 10:00 UTC; its console goes from 10:05 to 11:59, in a zone two hours ahead.
    logs = tmp_path / "logs"
    (logs / "heron").mkdir(parents=True)
    shape = "[2026-06-01 {}] iteration {:>8}/     100 | consumed samples: {} | elapsed time per iteration (ms): 60000.0 | learning rate: 1.0E-04 | global batch size:    16 | lm loss: 2.0E+00 |\n"  # noqa: E501
    lines = [shape.format(clock, step, 16 * step) for step, clock in ((1, "10:05:00"), (100, "11:59:00"))]
    (logs / "heron" / "job-70007.out").write_text("".join(lines), encoding="utf-8")
    (logs / "sacct.txt").write_text(
        "JobID|JobName|State|Submit|Start|End|NNodes|AllocTRES\n"
        "70007|heron|COMPLETED|2026-06-01T07:59:00+00:00|2026-06-01T08:00:00+00:00|2026-06-01T10:00:00+00:00|1|gres/gpu=8\n",
        encoding="utf-8",
    )
    (logs / "gx001.kern.log").write_text("Jun  1 10:30:00 gx001 kernel: NVRM: Xid (PCI:0000:1b:00): 79\n")
    assert run(["doctor", str(logs)]) == 0
    text = capsys.readouterr().out
    assert re.search(
        r"^heron/job-70007.out +megatron .* 2026-06-01 08:05:00 +UTC\+2 \(inferred\)", text, re.MULTILINE
    )
    assert re.search(r"^gx001.kern.log .* 2026-06-01 08:30:00 +UTC\+2 \(inferred\)", text, re.MULTILINE)
    assert "read in UTC+2 (inferred from accounting of job 70007): heron/job-70007.out" in text
    assert "stamps without a year are of 2026, as all dated files, which agree: gx001.kern.log" in text
    (logs / "goodput.toml").write_text('[zones]\n"heron/**" = "Asia/Tokyo"\n', encoding="utf-8")
    assert run(["doctor", str(logs)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^heron/job-70007.out .* 2026-06-01 01:05:00 +Asia/Tokyo ", text, re.MULTILINE)
    assert re.search(r"^gx001.kern.log .* UTC \(assumed\)", text, re.MULTILINE)


def test_the_doctor_says_what_the_logs_lack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("buy milk\n")
    assert run(["doctor", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^notes.txt +unknown ", text, re.MULTILINE)
    assert "no log of a trainer" in text
    assert "no accounting" in text


def test_data_that_contradict_themselves_end_with_1_and_are_written(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    law = Violation("parts_tile_gpu_time", 3, "heron-70b: a gap (4 s)")

    def contradicting(*_: object) -> ClassifySummary:
        return ClassifySummary(69, (law,))

    monkeypatch.setattr(build, "classify", contradicting)
    assert run(["report", "--store", str(store), "--out", str(tmp_path / "out")]) == 1
    out, err = capsys.readouterr()
    assert "1 check failed" in out
    assert err.startswith(
        "error: the data contradict themselves\n"
        "  where: check `parts_tile_gpu_time`, 3 rows\n"
        "  why: heron-70b: a gap (4 s)\n"
    )
    assert (tmp_path / "out" / "review.pdf").exists()


@pytest.mark.parametrize("command", ["formats", "signals", "categories"])
def test_lists_have_a_page_for_each_row(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(names) >= 6
    for name in names[:6]:
        assert run([command, name]) == 0
        assert capsys.readouterr().out.startswith(name)


def test_a_cause_lists_its_signals(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["signals", "gpu_fell_off_bus"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("gpu_fell_off_bus: ")
    assert "xid_79_fallen_off_bus" in text
