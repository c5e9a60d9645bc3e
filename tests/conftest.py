"""Rules for the whole test run."""

from __future__ import annotations

from pathlib import Path

import pytest
from explained import Tell

from pipeline.cli import run

#: Modules whose tests take longest. They are handed out first, so that no processor waits for one of them.
LONG = (
    "test_simulate_laws",
    "test_simulate_clocks",
    "test_sql_cases",
    "test_trainer_logs",
    "test_simulate_kept",
    "test_simulate_trainers",
    "test_simulate_fewer",
    "test_simulate_faults",
    "test_explain",
    "test_explain_logs",
    "test_explain_spoiled",
    "test_real_logs",
    "test_ingest_guests",
    "test_peer_cases",
    "test_real_counts",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of long modules first, and leave the order of all others."""
    names = [item.path.stem for item in items]
    rank = {name: place for place, name in enumerate(dict.fromkeys([*LONG, *names]))}
    items.sort(key=lambda item: rank[item.path.stem])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run in which every test was skipped: nothing was tested then."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus != pytest.ExitCode.OK or session.config.option.collectonly or reporter is None:
        return
    if not reporter.stats.get("passed") and not reporter.stats.get("xfailed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Return what ``goodput explain`` prints of a store, 100 characters wide if nothing else is said."""

    def told(store: Path, *arguments: object, width: int = 100, code: int = 0) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        assert run(["explain", "--store", str(store), *map(str, arguments)]) == code
        out, err = capsys.readouterr()
        return err if code else out

    return told
