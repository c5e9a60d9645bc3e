"""Rules for the whole test run."""

from __future__ import annotations

import pytest


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run in which every test was skipped: nothing was tested then."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus != pytest.ExitCode.OK or session.config.option.collectonly or reporter is None:
        return
    if not reporter.stats.get("passed") and not reporter.stats.get("xfailed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
