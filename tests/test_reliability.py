"""Figures of reliability against another implementation of the same statistics; calibration of hosts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from sql_cases import all_relations, case_database

END = datetime(2026, 11, 30, tzinfo=UTC)
END_US = int(END.timestamp() * 1e6)
DAY_US = 86_400_000_000

#: Healthy hosts fail once in twenty days: often enough that ten times as often can be told in four weeks.
RATE_PER_DAY = 0.05
HOSTS, OFFENDERS, FACTOR, DAYS = 2000, 24, 10, 28


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Every table, without rows; what a test inserts is gone after it."""
    con = case_database()
    con.execute("begin")
    yield con
    con.execute("rollback")


def insert(con: duckdb.DuckDBPyConnection, table: str, **columns: object) -> None:
    con.register("rows_of_test", pa.table({name: pa.array(values) for name, values in columns.items()}))
    con.execute(f"insert into {table} ({', '.join(columns)}) from rows_of_test")
    con.unregister("rows_of_test")


def rows_of(con: duckdb.DuckDBPyConnection, relation: str, columns: str) -> list[tuple[float, ...]]:
    return con.execute(f"select {columns} from ({all_relations()[relation].sql}\n)").fetchall()


def test_limits_of_a_count_are_quantiles_of_chi_square(con: duckdb.DuckDBPyConnection) -> None:
    counts = [*range(61), 100, 419, 1000, 5000]
    insert(con, "marts.failure_counts", failures=counts)
    rows = rows_of(con, "marts.poisson_limits", "events, events_low, events_high")
    assert [row[0] for row in rows] == counts
    for events, low, high in rows:
        expected = stats.chi2.ppf(0.025, 2 * events) / 2 if events else 0
        assert low == pytest.approx(expected, rel=1e-9, abs=0)
        assert high == pytest.approx(stats.chi2.ppf(0.975, 2 * events + 2) / 2, rel=1e-9, abs=0)


def test_no_event_and_one_have_limits_in_closed_form(con: duckdb.DuckDBPyConnection) -> None:
    """``exp(-m) = 0.025`` and ``exp(-m) = 0.975``."""
    insert(con, "marts.failure_counts", failures=[0, 1])
    (_, _, high), (_, low, _) = rows_of(con, "marts.poisson_limits", "events, events_low, events_high")
    assert high == pytest.approx(math.log(40), rel=1e-12)
    assert low == pytest.approx(-math.log(0.975), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore:The confidence interval is undefined:RuntimeWarning")
def test_survival_and_its_band_agree(seed: int, con: duckdb.DuckDBPyConnection) -> None:
    random = np.random.default_rng(seed)
    lives = np.round(random.exponential(40, size=120)) + 1  # whole hours: ties, of both kinds
    failed = random.random(lives.size) < 0.6
    insert(con, "ledger.windows", window_start=[END - timedelta(days=1)], window_end=[END])
    insert(
        con,
        "marts.lifetimes",
        run_id=["heron"] * lives.size,
        attempt=np.arange(lives.size, dtype=np.int32),
        gpus_class=["9-32"] * lives.size,
        gpus_from=np.full(lives.size, 9),
        start_ts=[END - timedelta(days=30)] * lives.size,
        life_s=lives * 3600,
        outcome=["failure" if f else "planned" for f in failed],
        counted=[True] * lives.size,
    )
    rows = rows_of(
        con,
        "marts.survival",
        "gpus_class, age_s, at_risk, failures, survival, survival_low, survival_high, variance",
    )
    curve = [row[1:] for row in rows if row[0] == "(all)" and row[3] > 0]
    sample = stats.CensoredData(uncensored=lives[failed] * 3600, right=lives[~failed] * 3600)
    expected = stats.ecdf(sample).sf
    band = expected.confidence_interval(method="log-log")
    linear = expected.confidence_interval(method="linear")
    ages = list(expected.quantiles)
    for age, _, _, survival, low, high, variance in curve:
        n = ages.index(age)
        assert survival == pytest.approx(expected.probabilities[n], abs=1e-9)
        if survival > 0:
            assert low == pytest.approx(band.low.probabilities[n], abs=1e-6)
            assert high == pytest.approx(band.high.probabilities[n], abs=1e-6)
            margin = survival - 1.959963984540054 * math.sqrt(variance)
            assert max(margin, 0) == pytest.approx(linear.low.probabilities[n], abs=1e-6)
    assert [row[0] for row in curve] == sorted(set(lives[failed] * 3600))


def test_median_and_ninth_decile_agree(con: duckdb.DuckDBPyConnection) -> None:
    seconds = np.random.default_rng(5).lognormal(5, 2, size=101)
    insert(
        con,
        "marts.recovery_phases",
        incident_id=[f"i{n}" for n in range(seconds.size)],
        kind=["unplanned"] * seconds.size,
        phase=["release"] * seconds.size,
        rank=np.full(seconds.size, 2),
        is_downtime=[True] * seconds.size,
        seconds=seconds,
    )
    median, p90 = stats.mstats.mquantiles(seconds, (0.5, 0.9), alphap=1, betap=1)
    ((found_median, found_p90),) = rows_of(con, "marts.recovery_summary", "median_s, p90_s")
    assert found_median == pytest.approx(median, rel=1e-9)
    assert found_p90 == pytest.approx(p90, rel=1e-9)


def hold_hosts(con: duckdb.DuckDBPyConnection, days: list[float]) -> list[str]:
    """Hold one host for each number of days up to the end of the period; return their names."""
    names = [f"gx{n:04d}" for n in range(len(days))]
    starts = [END_US - round(d * DAY_US) for d in days]
    insert(con, "ledger.windows", window_start=[END - timedelta(days=1)], window_end=[END])
    insert(con, "ledger.lives", run_id=["heron"], start_us=[min(starts)], end_us=[END_US])
    if len(set(days)) == 1:
        insert(con, "ledger.holdings", run_id=["heron"], nodes=[names], start_us=starts[:1], end_us=[END_US])
    else:
        insert(
            con,
            "ledger.holdings",
            run_id=["heron"] * len(days),
            nodes=[[name] for name in names],
            start_us=starts,
            end_us=[END_US] * len(days),
        )
    return names


def add_events(con: duckdb.DuckDBPyConnection, names: list[str], counts: list[int]) -> None:
    """Add so many events to each host, an hour apart, up to the end of the period."""
    hosts = np.repeat(names, counts)
    hours = np.concatenate([np.arange(1, count + 1) for count in counts])
    insert(
        con,
        "marts.host_incidents",
        host=hosts,
        incident_id=np.arange(hours.size).astype(str),
        at_ts=pa.array(END_US - hours * 3_600_000_000).cast(pa.timestamp("us", "UTC")),
        cause=["node_failure"] * hours.size,
        gpu_s=np.zeros(hours.size),
        is_event=np.ones(hours.size, dtype=bool),
    )


def test_chance_of_a_host_is_a_binomial_tail_held_against_all_hosts(con: duckdb.DuckDBPyConnection) -> None:
    days, counts = [20.0, 27.5, 3.0, 14.0, 9.5, 1.0], [1, 0, 7, 4, 12, 1]
    add_events(con, hold_hosts(con, days), counts)
    found = rows_of(con, "marts.hosts", "host, chance, chance_adjusted, is_repeat")
    share = np.array(days) / sum(days)
    chance = [stats.binom.sf(k - 1, sum(counts), p) for k, p in zip(counts, share, strict=True)]
    order = np.argsort(chance)
    adjusted = np.maximum.accumulate([chance[i] * (len(days) - n) for n, i in enumerate(order)])
    expected = {f"gx{i:04d}": min(float(adjusted[n]), 1.0) for n, i in enumerate(order)}
    for host, p, q, is_repeat in found:
        i = int(str(host)[2:])
        assert p == pytest.approx(chance[i], rel=1e-6)
        assert q == pytest.approx(expected[str(host)], rel=1e-6)
        assert is_repeat == (counts[i] >= 2 and expected[str(host)] < 0.05)
    assert {host for host, _, _, is_repeat in found if is_repeat} == {"gx0002", "gx0004"}


def test_many_events_of_a_large_fleet_have_exact_chances_too(con: duckdb.DuckDBPyConnection) -> None:
    counts = [3, 9, 60, 400, *([5] * 900)]
    add_events(con, hold_hosts(con, [28.0] * len(counts)), counts)
    found = {str(host): p for host, p in rows_of(con, "marts.hosts", "host, chance")}
    for n, count in enumerate(counts[:4]):
        expected = stats.binom.sf(count - 1, sum(counts), 1 / len(counts))
        assert found[f"gx{n:04d}"] == pytest.approx(expected, rel=1e-6)


def called(con: duckdb.DuckDBPyConnection, seed: int, offenders: int) -> tuple[int, int]:
    """Return how many healthy hosts and how many offenders are called in four weeks of one seed."""
    means = np.full(HOSTS, RATE_PER_DAY * DAYS)
    means[:offenders] *= FACTOR
    counts = np.random.default_rng(seed).poisson(means)
    add_events(con, hold_hosts(con, [float(DAYS)] * HOSTS), counts.tolist())
    hosts = rows_of(con, "marts.hosts", "host, is_repeat")
    numbers = [int(str(host)[2:]) for host, is_repeat in hosts if is_repeat]
    for table in ("ledger.windows", "ledger.lives", "ledger.holdings", "marts.host_incidents"):
        con.execute(f"delete from {table}")
    return sum(n >= offenders for n in numbers), sum(n < offenders for n in numbers)


def test_of_healthy_hosts_hardly_one_is_called(con: duckdb.DuckDBPyConnection) -> None:
    wrong = [called(con, seed, offenders=0)[0] for seed in range(30)]
    assert sum(n <= 1 for n in wrong) >= 0.95 * len(wrong)


def test_hosts_that_fail_ten_times_as_often_are_found_in_four_weeks(con: duckdb.DuckDBPyConnection) -> None:
    results = [called(con, seed, OFFENDERS) for seed in range(100, 120)]
    assert sum(found for _, found in results) >= 0.8 * OFFENDERS * len(results)
    assert sum(wrong <= 1 for wrong, _ in results) >= 0.95 * len(results)
