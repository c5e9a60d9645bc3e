"""Ad-hoc SQL: read-only, no files, and errors that help."""

from __future__ import annotations

import io
import json
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from stores import write_store

from pipeline.config import EMPTY_CONFIG
from pipeline.errors import GoodputError
from pipeline.ledger.build import classify
from pipeline.ledger.query import fetch, open_store, run_sql
from pipeline.windows import WindowOptions

SQL = """-- one row per day
select
    day,
    timestamptz '2026-03-01 00:00:00.5+00' + day * interval 1 day as start_ts,
    case when day = 1 then 'a,b' end as note,
    0.1 * day as share,
    [day, null] as list,
from range(2) as t(day)
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql")
    (folder / "staging").mkdir()
    (folder / "seeds").mkdir()
    (folder / "staging" / "days.sql").write_text(SQL)
    store = write_store(tmp_path_factory.mktemp("store"))
    classify(store, EMPTY_CONFIG, WindowOptions(), folder)
    return store


def test_a_table_for_people(store: Path) -> None:
    with open_store(store) as con:
        text = run_sql(con, "select day, start_ts, note from staging.days")
    assert text == (
        "day  start_ts                     note\n"
        "───  ───────────────────────────  ────\n"
        "  0  2026-03-01T00:00:00.500000Z\n"
        "  1  2026-03-02T00:00:00.500000Z  a,b\n"
        "(2 rows)\n"
    )


def test_csv_json_and_parquet_hold_the_same_rows(store: Path) -> None:
    query = "select day, note, list, share from staging.days;"
    with open_store(store) as con:
        csv, js, parquet = (run_sql(con, query, form) for form in ("csv", "json", "parquet"))
    assert csv == 'day,note,list,share\n0,,"[0, null]",0.0\n1,"a,b","[1, null]",0.1\n'
    rows = [
        {"day": 0, "note": None, "list": [0, None], "share": 0.0},
        {"day": 1, "note": "a,b", "list": [1, None], "share": 0.1},
    ]
    assert json.loads(js) == rows
    assert isinstance(parquet, bytes)
    assert pq.read_table(io.BytesIO(parquet)).select(["day", "note", "list"]).to_pylist() == [
        {k: row[k] for k in ("day", "note", "list")} for row in rows
    ]


def test_hostile_text_cannot_steer_the_terminal(store: Path) -> None:
    with open_store(store) as con:
        text = run_sql(con, "select 'red \x1b[31m\nnext' as t")
    assert text == "t\n────────────────────\nred \\x1b[31m\\x0anext\n(1 row)\n"


@pytest.mark.parametrize(
    ("sql", "what", "where", "now"),
    [
        ("select * from staging.dys", "cannot be run", "line 1, column 15", "did you mean `staging.days`?"),
        ("select *\nfrom days", "cannot be run", "line 2, column 6", "did you mean `staging.days`?"),
        ("select nte from staging.days", "cannot be run", "line 1, column 8", "did you mean `note`?"),
        ("selec 1", "cannot be run", "line 1, column 1", ""),
        ("select 1; select 2", "one statement is expected, not 2", "", ""),
        ("", "one statement is expected, not 0", "", ""),
        ("drop table staging.days", "`drop` is not a query", "", "SELECT"),
        ("set enable_external_access = true", "`set` is not a query", "", ""),
        ("attach '/tmp/other.db'", "`attach` is not a query", "", ""),
        ("copy staging.days to '/tmp/x.csv'", "`copy` is not a query", "", "--format csv"),
        ("select * from read_csv('/etc/passwd')", "cannot be run", "line 1", ""),
        ("select * from '/etc/passwd'", "cannot be run", "line 1", ""),
        ("select * from 'https://example.org/x.parquet'", "cannot be run", "", ""),
    ],
)
def test_what_cannot_be_asked(store: Path, sql: str, what: str, where: str, now: str) -> None:
    for form in ("table", "parquet"):
        with open_store(store) as con, pytest.raises(GoodputError, match=what) as caught:
            run_sql(con, sql, form)
        assert caught.value.where.startswith(where)
        assert now in caught.value.now


@pytest.mark.parametrize(
    "sql", ["describe staging.days", "show all tables", "explain select 1", "from staging.days"]
)
def test_statements_that_only_read_are_queries(store: Path, sql: str) -> None:
    with open_store(store) as con:
        assert fetch(con, sql).rows


def test_a_pivot_is_a_query(store: Path) -> None:
    with open_store(store) as con:
        assert fetch(con, "pivot (select day, share from staging.days) on day using sum(share)").columns == (
            "0",
            "1",
        )


def test_an_unknown_format_names_the_known_ones(store: Path) -> None:
    with open_store(store) as con, pytest.raises(GoodputError, match="`parket`") as caught:
        run_sql(con, "select 1", "parket")
    assert caught.value.now == "did you mean `parquet`?"


def test_a_folder_without_a_ledger_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(GoodputError, match="holds no ledger") as caught:
        open_store(tmp_path)
    assert "goodput classify" in caught.value.now


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "goodput.duckdb").write_text("not a database" * 1000)
    with pytest.raises(GoodputError, match="cannot be opened"):
        open_store(tmp_path)


def test_the_connection_cannot_write(store: Path) -> None:
    with open_store(store) as con, pytest.raises(duckdb.Error, match="read-only"):
        con.execute("create table staging.other as select 1")
