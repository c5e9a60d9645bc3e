"""The runner: SELECT files become relations in the right order, with comments, or a clear error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from stores import write_store

from pipeline.config import EMPTY_CONFIG, Config, RunConfig
from pipeline.errors import GoodputError
from pipeline.ledger.build import classify, sql_folder
from pipeline.ledger.relations import order_relations, read_relations
from pipeline.ledger.settings import TABLES
from pipeline.tables import EVENT_TABLES
from pipeline.windows import WindowOptions

GIVEN = ("events.steps", "events.sources", "seeds.categories", "config.runs")


def write_sql(folder: Path, files: dict[str, str]) -> Path:
    (folder / "seeds").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def order(folder: Path) -> list[str]:
    return [r.full_name for r in order_relations(read_relations(folder), GIVEN)]


def test_relations_come_after_what_they_read(tmp_path: Path) -> None:
    folder = write_sql(
        tmp_path,
        {
            "staging/a.sql": "-- one row per step\nselect * from events.steps",
            "ledger/b.sql": "-- one row\nwith a as (from staging.a) from a join ledger.c using (line)",
            "ledger/c.sql": "-- one row per line\nfrom staging.a where line in (select line from staging.a)",
            "marts/a.sql": "-- one row per line\nfrom ledger.b",
        },
    )
    assert order(folder) == ["staging.a", "ledger.c", "ledger.b", "marts.a"]


def test_the_union_of_claims_is_generated(tmp_path: Path) -> None:
    folder = write_sql(
        tmp_path / "sql",
        {
            "claims/waiting.sql": "-- one row\nselect 'queue_wait' as category, 30 as precedence",
            "claims/loop.sql": "-- one row\nselect 80 as precedence, 'productive' as category",
            "ledger/claims.sql": "-- one row per claim\nfrom claims.united order by precedence",
        },
    )
    store = write_store(tmp_path / "store")
    assert classify(store, EMPTY_CONFIG, WindowOptions(), folder).relations == 4
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        rows = con.execute("select claim, category, precedence from ledger.claims").fetchall()
    assert rows == [("waiting", "queue_wait", 30), ("loop", "productive", 80)]


@pytest.mark.parametrize(
    ("files", "what", "now"),
    [
        (
            {"ledger/a.sql": "-- one row\nfrom ledger.b", "ledger/b.sql": "-- one row\nfrom ledger.a"},
            "circle",
            "",
        ),
        ({"ledger/a.sql": "-- one row\nfrom staging.stps"}, "does not exist", ""),
        (
            {"staging/a.sql": "-- one row\nfrom events.stepz"},
            "does not exist",
            "did you mean `events.steps`?",
        ),
        ({"staging/a.sql": "-- one row\nfrom steps"}, "`steps` has no schema", "staging"),
        ({"marts/a.sql": "-- one row\nfrom events.steps"}, "must not read `events.steps`", ""),
        ({"staging/a.sql": "-- one row\nfrom seeds.categories, ledger.b"}, "must not read `ledger.b`", ""),
        ({"staging/a.sql": "-- one row\nselect 1; select 2"}, "one SELECT is expected here, not 2", "split"),
        ({"staging/a.sql": "-- one row\nselct 1"}, "not a SELECT", ""),
        ({"staging/a.sql": "-- one row\ninsert into x values (1)"}, "not a SELECT", ""),
        ({"staging/a.sql": "select 1"}, "does not say what one row is", "one row per"),
    ],
)
def test_a_file_that_breaks_a_rule_is_named(
    tmp_path: Path, files: dict[str, str], what: str, now: str
) -> None:
    folder = write_sql(tmp_path, files)
    with pytest.raises(GoodputError, match=what) as caught:
        order(folder)
    assert next(iter(files)) in caught.value.where
    assert now in caught.value.now or now in caught.value.where


def test_a_circle_is_printed_as_a_path(tmp_path: Path) -> None:
    files = {f"ledger/{a}.sql": f"-- one row\nfrom ledger.{b}" for a, b in ("ab", "bc", "ca")}
    with pytest.raises(GoodputError) as caught:
        order(write_sql(tmp_path, files))
    assert caught.value.why in {
        f"ledger.{x} → ledger.{y} → ledger.{z} → ledger.{x}" for x, y, z in ("abc", "bca", "cab")
    }


def test_comments_travel_with_the_data(tmp_path: Path) -> None:
    header = "-- one row per digit\n-- never add digits up\n-- d: a digit; no unit\n-- e: not a column\n"
    sql = f"{header}select 1 as d, 2 as run_id"
    glossary = "column,meaning,unit\nrun_id,key of a run,\nd,never used,s\n"
    folder = write_sql(tmp_path / "sql", {"staging/digits.sql": sql, "seeds/columns.csv": glossary})
    store = write_store(tmp_path / "store")
    classify(store, EMPTY_CONFIG, WindowOptions(), folder)
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        tables = dict(
            con.execute("select schema_name || '.' || table_name, comment from duckdb_tables()").fetchall()
        )
        columns = con.execute(
            "select column_name, comment from duckdb_columns() where table_name = 'digits' order by 1"
        ).fetchall()
        step = con.execute(
            "select comment from duckdb_columns() where table_name = 'steps' and column_name = 'step_time_s'"
        ).fetchall()
    assert tables["staging.digits"] == "one row per digit never add digits up e: not a column"
    assert tables["events.sources"] == "one row per input file"
    assert None not in tables.values()
    assert columns == [("d", "a digit; no unit"), ("run_id", "key of a run")]
    assert step == [("mean time per step as printed, in seconds",)]


def test_an_empty_store_builds_every_table(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store")
    summary = classify(store, EMPTY_CONFIG, WindowOptions())
    assert summary.violations == ()
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        built = {
            row[0]
            for row in con.execute(
                "select table_schema || '.' || table_name from information_schema.tables"
            ).fetchall()
        }
    expected = {f"events.{t}" for t in EVENT_TABLES} | {f"config.{t}" for t in TABLES}
    expected |= {r.full_name for r in read_relations(sql_folder())}
    assert expected <= built
    assert not list(store.glob("*.part*"))


def test_a_folder_that_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GoodputError, match="holds no event tables"):
        classify(tmp_path, EMPTY_CONFIG, WindowOptions())
    with pytest.raises(GoodputError, match="there is no store"):
        classify(tmp_path / "absent", EMPTY_CONFIG, WindowOptions())
    assert list(tmp_path.iterdir()) == []


def test_a_failed_build_keeps_the_last_good_ledger(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store")
    classify(store, EMPTY_CONFIG, WindowOptions(), write_sql(tmp_path / "good", {}))
    before = (store / "goodput.duckdb").read_bytes()
    bad = write_sql(tmp_path / "bad", {"staging/a.sql": "-- one row\nselect nothing from events.steps"})
    with pytest.raises(GoodputError, match=r"`staging.a` cannot be built") as caught:
        classify(store, EMPTY_CONFIG, WindowOptions(), bad)
    assert caught.value.where.endswith("staging/a.sql")
    assert (store / "goodput.duckdb").read_bytes() == before
    assert [p.name for p in store.iterdir() if p.name != "events"] == ["goodput.duckdb"]


def test_a_store_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store")
    (store / "goodput.duckdb.part").mkdir()
    with pytest.raises(GoodputError, match="the ledger cannot be written") as caught:
        classify(store, EMPTY_CONFIG, WindowOptions(), write_sql(tmp_path / "sql", {}))
    assert caught.value.where.endswith("goodput.duckdb")


def test_settings_become_rows(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store")
    week = WindowOptions(window=timedelta(hours=12), week="2026-W41")
    classify(store, EMPTY_CONFIG, week, write_sql(tmp_path / "sql", {}))
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        con.execute("set TimeZone = 'UTC'")
        report = con.execute("from config.report").fetchall()
    assert report == [
        (43_200_000_000, datetime(2026, 10, 5, tzinfo=UTC), datetime(2026, 10, 12, tzinfo=UTC), "2026-W41")
    ]


def test_configured_runs_and_the_name_of_the_logs_become_rows(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store")
    (store / "manifest.json").write_text('{"logs_name": "october"}')
    run = RunConfig(
        "heron", logs=("heron/**",), jobs=("heron-*",), gpus=8, start=datetime(2026, 1, 1, tzinfo=UTC)
    )
    config = Config(runs=(run,), policy={"first_queue_wait": False, "evaluation": "productive"})
    classify(store, config, WindowOptions(), write_sql(tmp_path / "sql", {}))
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        con.execute("set TimeZone = 'UTC'")
        assert con.execute("select run_id, gpus, start_ts, end_ts from config.runs").fetchall() == [
            ("heron", 8, datetime(2026, 1, 1, tzinfo=UTC), None)
        ]
        assert con.execute("from config.run_logs").fetchall() == [("heron", "heron/**", "heron/.*")]
        assert con.execute("from config.run_jobs").fetchall() == [("heron", "heron-*", r"heron\-.*")]
        assert con.execute("from config.policy").fetchall() == [
            ("evaluation", "productive"),
            ("first_queue_wait", "false"),
        ]
        assert con.execute("from config.store").fetchall() == [("october",)]


def test_seed_columns_have_fixed_types(tmp_path: Path) -> None:
    csv = "device,bf16_dense_tflops,causal_rank,code\nH100,989.4,,79\n"
    store = write_store(tmp_path / "store")
    classify(store, EMPTY_CONFIG, WindowOptions(), write_sql(tmp_path / "sql", {"seeds/devices.csv": csv}))
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        assert con.execute("select * from seeds.devices").fetchall() == [("H100", 989.4, None, "79")]
        types = [row[1] for row in con.execute("describe seeds.devices").fetchall()]
    assert types == ["VARCHAR", "DOUBLE", "BIGINT", "VARCHAR"]


def test_a_seed_with_a_wrong_number_is_named(tmp_path: Path) -> None:
    folder = write_sql(tmp_path / "sql", {"seeds/devices.csv": "device,nvlink_gb_s\nH100,fast\n"})
    with pytest.raises(GoodputError, match=r"`seeds.devices` cannot be read") as caught:
        classify(write_store(tmp_path / "store"), EMPTY_CONFIG, WindowOptions(), folder)
    assert caught.value.where.endswith("devices.csv")
