"""The model of what saves cost, against numerical minima and against figures that were published."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

import duckdb
import pytest
from scipy import optimize
from sql_cases import all_relations, case_database

from pipeline.ledger.build import sql_folder

#: Seconds.
DAY, HOUR, MINUTE = 86400.0, 3600.0, 60.0


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with every table, which forgets what a test put in."""
    database = case_database()
    database.execute("begin")
    yield database
    database.execute("rollback")


def ask(con: duckdb.DuckDBPyConnection, relation: str) -> list[dict[str, float]]:
    """Return the rows of a relation, worked out from what the tables hold."""
    answer = con.execute(all_relations()[relation].sql)
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def saves_cost(
    con: duckdb.DuckDBPyConnection, stall_s: float, mttf_s: float, background_s: float
) -> dict[str, float]:
    """Return the row of a run that fails once in ``mttf_s`` of loop and saves each 1,000 s."""
    con.execute(
        "insert into ledger.windows by name select make_timestamptz(0) as window_start, "
        "make_timestamptz(86400000000 * 366) as window_end"
    )
    con.execute(
        "insert into marts.checkpoints by name select 'heron' as run_id, ?::double as stall_mean_s, "
        "?::double as background_median_s, 1000.0 as interval_s, 100.0 as interval_steps, "
        "0.0 as stalled_gpu_s",
        [stall_s, background_s],
    )
    con.execute(
        "insert into ledger.window_intervals by name select 'heron' as run_id, 'active' as part, "
        "'productive' as category, make_timestamptz(0) as start_ts, make_timestamptz(?::bigint) as end_ts, "
        "1000000::hugeint as gpu_us",
        [round(mttf_s * 1e6)],
    )
    con.execute(
        "insert into marts.incidents by name select 'heron' as run_id, 'a' as incident_id, "
        "'unplanned' as kind, false as stepless, make_timestamptz(3600000000) as at_ts, "
        "0.0 as lost_gpu_s"
    )
    return ask(con, "marts.checkpoint_cost")[0]


@pytest.mark.parametrize("stall_s", [0.5, 8.0, 240.0])
@pytest.mark.parametrize("mttf_s", [2 * HOUR, 40 * HOUR])
@pytest.mark.parametrize("background_s", [0.0, 170.0])
def test_the_least_and_its_flat_region_are_those_of_the_curve(
    con: duckdb.DuckDBPyConnection, stall_s: float, mttf_s: float, background_s: float
) -> None:
    row = saves_cost(con, stall_s, mttf_s, background_s)

    def overhead(interval_s: float) -> float:
        return stall_s / interval_s + (interval_s / 2 + background_s) / mttf_s

    least = optimize.minimize_scalar(
        overhead, bounds=(stall_s / 10, 10 * mttf_s), method="bounded", options={"xatol": 1e-9}
    )
    assert row["overhead_least"] == pytest.approx(least.fun, rel=1e-9)
    # a minimum is flat: its place is told sharply by where the slope is none
    slope = optimize.brentq(
        lambda interval_s: 1 / (2 * mttf_s) - stall_s / interval_s**2, least.x / 2, 2 * least.x, xtol=1e-9
    )
    assert slope == pytest.approx(least.x, rel=1e-4)
    assert row["young_s"] == pytest.approx(slope, rel=1e-9)

    def beyond(interval_s: float) -> float:
        return overhead(interval_s) - 1.05 * row["overhead_least"]

    edges = [
        optimize.brentq(beyond, row["young_s"] / 1e3, row["young_s"], xtol=1e-12, rtol=1e-12),
        optimize.brentq(beyond, row["young_s"], row["young_s"] * 1e3, xtol=1e-12, rtol=1e-12),
    ]
    assert [row["flat_from_s"], row["flat_to_s"]] == pytest.approx(edges, rel=1e-6)


@pytest.mark.parametrize(
    ("mttf_s", "stall_s", "young_s", "overhead"),
    [
        (6491, 60, 882.6, 0.136),
        (6491, 10, 360.3, 0.0555),
        (6491, 1, 113.9, 0.0176),
        (7.9 * HOUR, 60, 1847, None),
        (DAY, 40, 2629, None),
    ],
)
def test_tabulated_optima(
    con: duckdb.DuckDBPyConnection, mttf_s: float, stall_s: float, young_s: float, overhead: float | None
) -> None:
    row = saves_cost(con, stall_s, mttf_s, 0.0)
    assert row["young_s"] == pytest.approx(young_s, abs=0.5 if young_s > 1000 else 0.05)
    assert row["daly_s"] == pytest.approx(row["young_s"] - stall_s, rel=1e-12)
    if overhead is not None:
        assert row["overhead_least"] == pytest.approx(overhead, abs=0.0005)


def test_the_curve_is_least_where_the_interval_is_best(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "insert into marts.checkpoint_cost by name select 'heron' as run_id, 8.0 as stall_s, "
        "100.0 as background_s, 16384.0 as mttf_s, 2048.0 as interval_s, 512.0 as young_s, "
        "370.0 as flat_from_s, 705.0 as flat_to_s"
    )
    curve = ask(con, "marts.checkpoint_curve")
    assert len(curve) == 97
    assert [curve[0]["interval_s"], curve[-1]["interval_s"]] == pytest.approx([64, 16384])
    least = min(curve, key=lambda point: point["overhead"])
    assert least["interval_s"] == pytest.approx(512, rel=0.04)
    for point in curve:
        assert point["overhead"] == pytest.approx(point["stall_share"] + point["loss_share"], rel=1e-12)
        assert point["is_flat"] == (370 <= point["interval_s"] <= 705)


def expected_of(
    con: duckdb.DuckDBPyConnection,
    gpus: int,
    rate: float,
    restart_s: float,
    interval_s: float,
    *,
    wait_s: float = 0.0,
) -> list[dict[str, float]]:
    """Return what is expected of a run of eight-GPU nodes that fail ``rate`` times in 1,000 node-days."""
    nodes = gpus // 8
    # as many failures as make the rate a whole number of them in whole days
    failures, days = round(rate * nodes), 1000
    con.execute(
        "insert into marts.restart_cost by name select 'heron' as run_id, ? as gpus, ? as nodes, "
        "? as failures, ?::double as held_s, ?::double as restart_s, ?::double as wait_s",
        [gpus, nodes, failures, days * DAY, restart_s, wait_s],
    )
    con.execute(
        "insert into marts.checkpoint_cost by name select 'heron' as run_id, ?::double as interval_s, "
        "0.0 as stall_s",
        [interval_s],
    )
    return ask(con, "marts.expected_ettr")


#: GPUs, failures per 1,000 node-days, u0, Δt, queue; the exact value, and as it was published.
SETTINGS = (
    (16_000, 6.5, 5 * MINUTE, 60 * MINUTE, 0.0, 1 - 13 * 35 / 1440, 0.68),
    (16_000, 6.5, 5 * MINUTE, 5 * MINUTE, 0.0, 1 - 13 * 7.5 / 1440, 0.93),
    (100_000, 2.34, 2 * MINUTE, 2 * MINUTE, 0.0, 1 - 29.25 * 3 / 1440, 0.94),
    (100_000, 6.5, 5 * MINUTE, 7 * MINUTE, 0.0, 1 - 81.25 * 8.5 / 1440, 0.52),
    (8_000, 6.5, 5 * MINUTE, 30 * MINUTE, MINUTE, (1 - 6.5 * 20 / 1440) / (1 + 6.5 / 1440), 0.91),
)


@pytest.mark.parametrize(
    ("gpus", "rate", "restart_s", "interval_s", "wait_s", "value", "published"), SETTINGS
)
def test_published_settings_of_ettr(
    con: duckdb.DuckDBPyConnection,
    gpus: int,
    rate: float,
    restart_s: float,
    interval_s: float,
    wait_s: float,
    value: float,
    published: float,
) -> None:
    rows = expected_of(con, gpus, rate, restart_s, interval_s, wait_s=wait_s)
    (own,) = (row for row in rows if row["is_own_size"])
    assert own["expected_ettr_queue"] == pytest.approx(value, rel=1e-12)
    assert round(own["expected_ettr_queue"], 2) == published
    if wait_s == 0:
        assert own["expected_ettr_writes"] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("gpus", "hours", "places"), [(16_384, 1.8, 1), (131_072, 0.23, 2), (131_072, 0.2254, 4)]
)
def test_published_projections_of_time_to_failure(
    con: duckdb.DuckDBPyConnection, gpus: int, hours: float, places: int
) -> None:
    rows = expected_of(con, 4_096, 6.5, 5 * MINUTE, HOUR)
    (row,) = (row for row in rows if row["gpus"] == gpus)
    assert row["nodes"] == gpus // 8
    assert round(row["mttf_s"] / HOUR, places) == hours
    assert row["measured_ettr"] is None


def test_a_fitted_rate_is_the_same_at_every_size(con: duckdb.DuckDBPyConnection) -> None:
    for row in expected_of(con, 4_096, 6.5, 5 * MINUTE, HOUR):
        assert DAY / row["mttf_s"] / row["nodes"] * 1000 == pytest.approx(6.5, rel=1e-9)


def test_the_projected_minimum_is_a_minimum(con: duckdb.DuckDBPyConnection) -> None:
    expected_of(con, 4_096, 6.5, 5 * MINUTE, HOUR)
    con.execute("update marts.checkpoint_cost set stall_s = 20")
    for row in ask(con, "marts.expected_ettr"):
        if row["expected_at_best"] is not None and row["expected_ettr_writes"] is not None:
            assert row["expected_at_best"] >= row["expected_ettr_writes"]


def test_what_a_definition_calls_good_it_also_divides_by() -> None:
    with (sql_folder() / "seeds" / "definitions.csv").open(encoding="utf-8", newline="") as file:
        definitions = list(csv.DictReader(file))
    known = set(re.findall(r"then '(\w+)'", all_relations()["marts.time_classes"].sql)) | {"queue_first"}
    known |= {"kept_unsaved", "warmup_again", "down"}
    for row in definitions:
        good, taken_off, whole = (
            (row[name] or "").split() for name in ("good_classes", "taken_off_classes", "all_classes")
        )
        assert set(good) <= set(whole)
        assert not set(taken_off) & set(whole)
        assert set(whole) | set(taken_off) <= known
        assert row["weighs"] in ("clock", "chips")
        # the clock cannot see accelerators that are missing or spare
        if row["weighs"] == "clock":
            assert not {"missing", "spare"} & set(whole)
