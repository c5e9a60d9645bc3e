"""The command line: help that shows an example, errors that say what now, exit codes, pipes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from pipeline import __version__
from pipeline.cli import COMMANDS, cli, run
from pipeline.commands.categories import categories
from pipeline.commands.layout import text_table
from pipeline.commands.progress import Progress
from pipeline.errors import GoodputError

ROOT = Path(__file__).resolve().parents[1]


def test_the_promised_commands_are_there() -> None:
    expected = {
        "categories",
        "classify",
        "doctor",
        "explain",
        "formats",
        "ingest",
        "report",
        "signals",
        "simulate",
        "sql",
    }
    assert expected == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_a_newcomer_enough(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"Example:\n    goodput {name}" in text
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    undescribed = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
    assert not undescribed


def test_no_command_is_a_question_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "goodput report LOGS --out DIR" in capsys.readouterr().out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"goodput {__version__}\n"


MISTAKES = {
    "reprt": ["error: no such command `reprt`", "did you mean `report`?"],
    "report --uot x": ["error: no such option `--uot`", "did you mean `--out`?"],
    "report logs": ["error: missing option '--out'", "see `goodput report --help`"],
    "report --out x": ["neither logs nor a store were given", "`goodput report LOGS... --out DIR`"],
    "report a --store b --out c": ["logs and a store were both given"],
    "report a --out c --window 24": ["error: `24` is not a length of time", "where: `--window`"],
    "report a --out c --from soon": ["error: `soon` is not a time", "where: `--from`"],
    "report a --out c --week 2026-41": ["error: `2026-41` is not an ISO week", "`2026-W47`"],
    "report a --out c --from 2026-10-06 --to 2026-10-05": ["is empty", "swap or widen"],
    "report a --out c --config nowhere.toml": ["the configuration does not exist", "where: nowhere.toml"],
    "report a --out c --workers many": ["error: invalid value for '--workers'"],
    "report nowhere --out c": ["nowhere"],
    "ingest --store c": ["no logs were given", "write for example"],
    "ingest nowhere --store c": ["nowhere"],
    "doctor": ["no logs were given"],
    "doctor nowhere": ["nowhere"],
    "classify --store nowhere": ["this is not a store", "goodput ingest LOGS... --store nowhere"],
    "report --store nowhere --out c": ["this is not a store"],
    "sql --store nowhere": ["no query was given"],
    "sql --store nowhere x -f y": ["two queries were given"],
    "sql --store nowhere x": ["nowhere"],
    "sql --store nowhere -f nowhere.sql": ["no such file or directory", "where: nowhere.sql"],
    "explain --store nowhere x": ["nowhere"],
    "formats megatorn": ["unknown format `megatorn`", "did you mean `megatron`?"],
    "categories lost_wrok": ["unknown category `lost_wrok`", "did you mean `lost_work`?"],
    "signals nothing_like_it": ["unknown signal `nothing_like_it`", "see `goodput signals`"],
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_ends_with_2_and_says_what_now(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    for part in MISTAKES[line]:
        assert part in err
    assert list(tmp_path.iterdir()) == [], "a command that could not start leaves nothing behind"


def test_output_inside_the_logs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.out").write_text("hello\n")
    assert run(["ingest", str(tmp_path), "--store", str(tmp_path / "store")]) == 2
    assert "the output would lie inside the logs" in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


def test_an_empty_folder_is_unreadable_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").mkdir()
    assert run(["ingest", str(tmp_path / "logs"), "--store", str(tmp_path / "store")]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")], ids=type)
def test_an_interruption_is_no_traceback(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(categories, "callback", interrupted)
    assert run(["categories"]) == 130
    assert "interrupted: what was read so far is kept" in capsys.readouterr().err


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr(categories, "callback", broken)
    with pytest.raises(RuntimeError, match="something else"):
        run(["categories"])


def test_a_full_disk_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "store/part")

    monkeypatch.setattr(categories, "callback", full)
    assert run(["categories"]) == 2
    expected = "error: no space left on device\n  where: store/part\n"
    assert capsys.readouterr().err.startswith(expected)


def test_a_reader_that_leaves_early_is_no_error() -> None:
    script = f'set -o pipefail; for i in 1 2 3; do "{sys.executable}" -m pipeline signals; done | head -n 1'
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_a_pipe_gets_no_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        progress("reading", 1, 2)
        progress("reading", 2, 2)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_one_bar_a_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress() as progress:
        progress("reading", 1, 2)
        progress("reading", 2, 2)
        progress("writing", 2, 2)
    err = capsys.readouterr().err
    assert "reading" in err
    assert "writing" in err
    assert "100%" in err


def test_errors_without_place_or_advice_are_one_line() -> None:
    assert str(GoodputError("`x` is wrong")) == "error: `x` is wrong"


def test_a_table_lines_up_and_shows_no_control_characters() -> None:
    expected = "name      n\na\\x1b[2J  1,000\nb         -"
    assert expected == text_table(("name", "n"), [("a\x1b[2J", 1000), ("b", None)])
