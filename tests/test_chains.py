"""Chains of causes, from logs to incidents: each is found, and its nearest lookalike is not taken for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import ClassifySummary, classify
from pipeline.ledger.query import open_store
from pipeline.windows import WindowOptions
from tests.chain_cases import KERNELS, Chain, read_chains, unpack, without_kernels
from tests.simulated import is_vaguer

CHAINS = read_chains()

#: The chains themselves, of which the logs of kernels are lost.
BLIND = tuple(
    without_kernels(chain)
    for chain in CHAINS
    if chain.name[:2] <= "22"
    and "_not_" not in chain.name
    and any(path.endswith(KERNELS) for path, *_ in chain.files)
)


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, ClassifySummary]]:
    folder = tmp_path_factory.mktemp("chains")
    for chain in (*CHAINS, *BLIND):
        unpack(chain, folder / "logs")
    config = load_config([str(folder / "logs")], None)
    ingest([str(folder / "logs")], folder / "store", config, workers=1)
    summary = classify(folder / "store", config, WindowOptions())
    with open_store(folder / "store") as con:
        yield con, summary


def incidents_of(con: duckdb.DuckDBPyConnection, run: str) -> list[dict[str, Any]]:
    result = con.execute("from ledger.incidents where run_id = ? order by attempt", [run])
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda c: c.name)
def test_the_ledger_says_what_the_case_expects(
    chain: Chain, built: tuple[duckdb.DuckDBPyConnection, ClassifySummary]
) -> None:
    rows = incidents_of(built[0], chain.run)
    attempt = chain.expect.get("attempt", 1)
    assert len(rows) >= attempt
    row = rows[attempt - 1]
    found = {
        key: f"{row[key]:%H:%M:%S}" if key.endswith("_ts") and row[key] is not None else row[key]
        for key in chain.expect
    }
    wanted = {key: None if value == "none" else value for key, value in chain.expect.items()}
    assert found == wanted


@pytest.mark.parametrize("chain", BLIND, ids=lambda c: c.name)
def test_without_the_logs_of_kernels_less_is_said_and_nothing_wrong(
    chain: Chain, built: tuple[duckdb.DuckDBPyConnection, ClassifySummary]
) -> None:
    (row,) = incidents_of(built[0], chain.run)
    assert is_vaguer(row["cause"], chain.expect["cause"])
    assert row["host"] in (None, chain.expect.get("host"))


@pytest.mark.parametrize("chain", [c for c in CHAINS if c.phases], ids=lambda c: c.name)
def test_the_points_of_an_incident_are_when_the_case_expects(
    chain: Chain, built: tuple[duckdb.DuckDBPyConnection, ClassifySummary]
) -> None:
    rows = built[0].execute(
        "select p.point, if(p.known = 'known', strftime(timezone('UTC', p.ts), '%H:%M:%S'), p.known) "
        "from marts.incident_phases as p inner join ledger.incidents as i using (incident_id) "
        "where i.run_id = ? and i.attempt = ? and p.point_no > 0 order by p.point_no",
        [chain.run, chain.expect.get("attempt", 1)],
    )
    assert dict(rows.fetchall()) == chain.phases


@pytest.mark.parametrize("chain", [c for c in CHAINS if c.recovery], ids=lambda c: c.name)
def test_hang_detection_and_recovery_are_what_the_case_expects(
    chain: Chain, built: tuple[duckdb.DuckDBPyConnection, ClassifySummary]
) -> None:
    result = built[0].execute(
        f"select {', '.join(chain.recovery)} from marts.recovery where run_id = ? and attempt = ?",
        [chain.run, chain.expect.get("attempt", 1)],
    )
    assert [dict(zip(chain.recovery, row, strict=True)) for row in result.fetchall()] == [chain.recovery]


@pytest.mark.parametrize("chain", [c for c in CHAINS if c.attempts], ids=lambda c: c.name)
def test_the_attempts_of_a_run_end_as_the_case_expects(
    chain: Chain, built: tuple[duckdb.DuckDBPyConnection, ClassifySummary]
) -> None:
    rows = incidents_of(built[0], chain.run)
    wanted = {key: [None if v == "none" else v for v in values] for key, values in chain.attempts.items()}
    assert {key: [row[key] for row in rows] for key in wanted} == wanted


def test_nothing_contradicts_itself(built: tuple[duckdb.DuckDBPyConnection, ClassifySummary]) -> None:
    assert built[1].violations == ()


def test_no_two_cases_share_a_host_or_a_job() -> None:
    """All of them lie in one store: a line of a host or job must tell of one case only."""
    chains = (*CHAINS, *BLIND)
    hosts = Counter(host for chain in chains for host in chain.more.get("hosts", ()))
    jobs = Counter(chain.more["job"] for chain in chains if "job" in chain.more)
    assert [name for name, count in (hosts + jobs).items() if count > 1] == []


def test_every_chain_has_a_case_and_a_lookalike() -> None:
    found = {chain.name.split("_")[0] for chain in CHAINS if "_not_" not in chain.name}
    refused = {chain.name.split("_")[0] for chain in CHAINS if "_not_" in chain.name}
    wanted = {f"{number:02d}" for number in range(1, 23)}
    assert found & wanted == wanted
    assert refused & wanted == wanted


def test_no_two_files_of_cases_are_alike(tmp_path: Path) -> None:
    """Copies of a file are read once, as one of them, but where a case is about files that are alike."""
    for chain in (*CHAINS, *BLIND):
        if not chain.more.get("alike", False):
            unpack(chain, tmp_path)
    texts = Counter(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.*") if path.is_file())
    assert [text for text, count in texts.items() if count > 1] == []
