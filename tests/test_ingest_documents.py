"""Whole documents and quoted tables: where records are, which lines they stand on, what a cut leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pipeline.formats.format import Derived, Format, Pattern, Value
from pipeline.ingest.csv_tables import find_csv_header, may_be_headers, read_csv
from pipeline.ingest.documents import read_documents
from pipeline.ingest.fields import build_fields, field_of
from pipeline.ingest.match import match_format
from pipeline.ingest.reader import SourceReader
from pipeline.ingest.work import run_here
from pipeline.places import FilePlace

PODS = {"kind": "List", "items": [{"name": "a", "n": 1}, {"name": "b", "n": 2}], "more": {"items": [3]}}


def records_of(text: str, *elements: str) -> list[tuple[object, int, int]]:
    """Return value and lines of each record."""
    read = read_documents(text.split("\n"), elements)
    assert read.broken == 0
    return [(record.value, record.first, record.last) for record in read.records]


def test_the_items_of_an_array_are_records_with_their_lines() -> None:
    a, b = PODS["items"]
    assert records_of(json.dumps(PODS, indent=1), "items") == [(a, 4, 7), (b, 8, 11)]
    assert records_of(json.dumps(PODS), "items") == [(a, 1, 1), (b, 1, 1)]


def test_a_document_without_the_array_is_one_record() -> None:
    assert records_of('\n{"name": "a"}\n', "items") == [({"name": "a"}, 2, 2)]
    assert records_of('[{"name": "a"},\n {"name": "b"}]') == [({"name": "a"}, 1, 1), ({"name": "b"}, 2, 2)]


def test_documents_one_behind_the_other_are_all_read() -> None:
    text = '{"items": [{"n": 1}]}\n{"items": [{"n": 2}]}\n{"n": 3}'
    assert [value for value, _, _ in records_of(text, "items")] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_inner_arrays_are_gone_down_into_and_know_what_is_around() -> None:
    text = json.dumps({"spans": [{"host": "gx1", "parts": [{"n": 1}, {"n": 2}]}]})
    found = [value for value, _, _ in records_of(text, "spans/[]/parts/[]")]
    assert [(item["n"], item["^"]["host"]) for item in found] == [(1, "gx1"), (2, "gx1")]


def test_yaml_is_read_like_json() -> None:
    text = "---\nkind: List\nitems:\n- name: a\n  n: 1\n- name: b\n  n: 2\n---\nname: c\n"
    assert records_of(text, "items") == [
        ({"name": "a", "n": 1}, 4, 5),
        ({"name": "b", "n": 2}, 6, 7),
        ({"name": "c"}, 9, 9),
    ]


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('{"items": [\n{"n": 1},\n{"n": 2', 3),
        ('{"items": [\n{"n": 1}\nx', 3),
        ("items:\n- n: 1\n- n: [2\n", 1),
        ("{", 1),
    ],
)
def test_a_document_that_is_cut_off_gives_what_is_before_the_cut(text: str, broken: int) -> None:
    read = read_documents(text.split("\n"), ("items",))
    assert (read.broken > 0, len(read.records)) == (True, 1 if broken == 3 else 0)
    assert read.broken >= broken


def test_deep_nesting_is_damage_and_no_crash() -> None:
    assert read_documents(["[" * 100_000], ()).broken == 1


def test_pointers_go_through_objects_and_arrays() -> None:
    value = {"a": {"b/c": [{"d": 1}]}}
    assert field_of(value, "a/b~1c/0/d") == 1
    assert field_of(value, "a/b~1c/1/d") is None
    assert field_of(value, "a/x/y") is None


def test_a_step_of_a_pointer_picks_the_item_with_a_member() -> None:
    value = {"parts": [3, {"kind": "a", "ok": False, "n": 1}, {"kind": "a", "ok": True, "n": 2}]}
    assert field_of(value, "parts/[kind=a]/n") == 1
    assert field_of(value, "parts/[kind=a,ok=true]/n") == 2
    assert field_of(value, "parts/[kind=b]/n") is None
    assert field_of({"parts": {"[kind=a]": 4}}, "parts/[kind=a]") == 4


def test_a_number_may_be_multiplied_by_another_field() -> None:
    size = Value("each", "int", times="count", mapping={"big": "8"})
    fmt = replace(DOCUMENT, patterns=(Pattern("job", "allocations", {"gpus": size}, when=("name",)),))
    text = '{"items": [{"name": "n1", "each": "big", "count": 3}, {"name": "n2", "each": 4}]}'
    found = match_format(fmt, pl.Series([text]))
    assert found.tables["allocations"]["gpus"].to_list() == [24, None]


def test_all_matches_in_a_field_are_counted_or_listed() -> None:
    columns = {
        "gpus": Value("parts", "int", every=r'"gpu\d+"'),
        "nodes": Value("parts", "hostlist", every=r'"ip":"(?P<v>[^"]+)"'),
    }
    fmt = replace(DOCUMENT, patterns=(Pattern("job", "allocations", columns, when=("name",)),))
    parts = [{"ip": "gx001", "gpus": ["gpu0", "gpu1"]}, {"ip": "gx002", "gpus": ["gpu3"]}]
    text = json.dumps({"items": [{"name": "a", "parts": parts}, {"name": "b"}, {"name": "c", "parts": []}]})
    found = match_format(fmt, pl.Series([text]))
    assert found.tables["allocations"].select("gpus", "nodes").rows() == [
        (3, ["gx001", "gx002"]),
        (None, None),
        (0, None),
    ]


def test_an_array_inside_of_a_bare_array_is_a_record_whose_fields_are_its_places() -> None:
    read = read_documents(["[[1.5, 7, NaN],", "[2.5, 8]]"], ())
    assert build_fields(read.records, ("0", "1", "2")).rows() == [
        (1, 1, "1.5", "7", "nan"),
        (2, 2, "2.5", "8", None),
    ]


def test_an_array_of_a_record_makes_a_row_for_each_item() -> None:
    read = read_documents(['{"name": "a", "parts": [{"n": 1}, {"n": true}, {"n": [2, {"z": 1}]}]}'], ())
    rows = build_fields(read.records, ("name", "*/n", "*last"), "parts").rows()
    assert rows == [
        (1, 1, "a", "1", "false"),
        (1, 1, "a", "true", "false"),
        (1, 1, "a", '[2,{"z":1}]', "true"),
    ]


DOCUMENT = Format(
    name="heron",
    title="t",
    link="l",
    role="scheduler",
    shape="document",
    elements=("items",),
    header=('"items"',),
    header_min=1,
    derive={"number": Derived(("name",), r"n(?P<v>\d+)")},
    patterns=(
        Pattern("one", "nodes", {"host": Value("name"), "state": Value("state")}, when=("state", "number")),
    ),
)


def test_lines_of_records_that_no_pattern_knows_are_unknown() -> None:
    text = '{"items": [\n{"name": "n1",\n"state": "down"},\n{"name": "x"},\n{"name": "n2", "state": "up"}\n]}'
    found = match_format(DOCUMENT, pl.Series(text.split("\n")))
    assert found.known.to_list() == [1, 2, 3, 5, 6]
    assert found.tables["nodes"].select("line", "host", "state").rows() == [
        (2, "n1", "down"),
        (5, "n2", "up"),
    ]
    assert found.torn.to_list() == []


def test_a_record_may_lie_below_a_key() -> None:
    text = '{"type": "ADDED", "object": {"name": "n1", "state": "down"}}\n{"name": "n2", "state": "up"}'
    found = match_format(replace(DOCUMENT, unwrap=("object",)), pl.Series(text.split("\n")))
    assert found.tables["nodes"].select("line", "host").rows() == [(1, "n1"), (2, "n2")]


def test_the_lines_behind_a_cut_are_bad() -> None:
    text = '{"items": [\n{"name": "n1", "state": "down"},\n{"name": "n2",\n"sta'
    found = match_format(DOCUMENT, pl.Series(text.split("\n")))
    assert found.known.to_list() == [1, 2]
    assert found.torn.to_list() == [3, 4]


def test_a_document_over_many_chunks_is_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.ingest.reader.registry", lambda: {"heron": DOCUMENT})
    monkeypatch.setattr("pipeline.ingest.chunks.CHUNK_BYTES", 1000)
    monkeypatch.setattr("pipeline.ingest.chunks.read_chunks.__defaults__", (1000,))
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({"items": [{"name": f"n{n}", "state": "up"} for n in range(200)]}, indent=1))
    reader = SourceReader(FilePlace(path), "heron")
    rows = [rows["nodes"].height for rows in reader.rows(run_here) if "nodes" in rows]
    lines = len(path.read_text().splitlines())
    assert (sum(rows), reader.account.lines, reader.account.counts) == (200, lines, [0, 0, lines])
    assert len(reader.account.digests) > 1


TABLE = Format(
    name="heron",
    title="t",
    link="l",
    role="trainer",
    shape="csv",
    header=("step", "train/loss", "note"),
    header_min=2,
    patterns=(
        Pattern(
            "step",
            "steps",
            {"step_last": Value("step", "int"), "loss": Value("train/loss", "float")},
            when=("step",),
        ),
    ),
)


def test_cells_may_be_quoted_and_columns_stand_in_any_order() -> None:
    lines = pl.Series(['note,Step,"train/loss"', '"a, b",1,2.5', ',2,"3.5"', "", "x,3,"])
    found = match_format(TABLE, lines)
    assert found.tables["steps"].select("line", "step_last", "loss").rows() == [
        (2, 1, 2.5),
        (3, 2, 3.5),
        (5, 3, None),
    ]
    assert found.known.to_list() == [1, 2, 3, 5]


def test_rows_with_too_few_or_too_many_cells_are_bad() -> None:
    table = read_csv(
        pl.Series(["step\ttrain/loss", "1\t2", "1\t2\t3", "4", '"5\t6', "step\ttrain/loss"]), TABLE
    )
    assert (table.fields["line"].to_list(), table.bad_lines, table.header_lines) == ([2], [3, 4, 5], [1, 6])


def test_a_mark_inside_of_a_cell_is_damage_and_no_crash() -> None:
    table = read_csv(
        pl.Series(["step,train/loss", '1,"gpu":"0"}', '2,a"b"', '3, "4"', '5,"6"', '"7","8""9"']), TABLE
    )
    assert (table.fields["line"].to_list(), table.bad_lines) == ([5, 6], [2, 3, 4])


def test_later_parts_of_a_table_use_the_header_of_the_first() -> None:
    found = find_csv_header(pl.Series(["step,train/loss"]), TABLE)
    assert found is not None
    table = read_csv(pl.Series(["7,1.5"]), TABLE, found[1])
    assert table.fields.select("line", "step", "train/loss").rows() == [(1, "7", "1.5")]


def test_a_table_without_the_known_names_is_none_of_the_format() -> None:
    assert find_csv_header(pl.Series(["a,b,c", "1,2,3"]), TABLE) is None
    assert match_format(TABLE, pl.Series(["a,b,c", "1,2,3"])).known.to_list() == []


COLUMNS = Format(
    name="heron",
    title="t",
    link="l",
    role="node",
    shape="columns",
    header=("pwr", "sm", "POWER"),
    header_min=1,
    derive={"sm_number": Derived(("sm",), r"^(?P<v>\d+)$")},
    patterns=(
        Pattern(
            "sm",
            "telemetry",
            {
                "ts": Value("Time", "stamp", stamp="iso"),
                "gpu": Value(("gpu", "Entity")),
                "metric": Value(const="sm"),
                "value": Value("sm_number", "float", scale=0.01),
            },
            when=("sm_number",),
        ),
    ),
)


def test_columns_stand_apart_by_blanks_and_their_header_comes_again() -> None:
    lines = [
        "#Date       Time        gpu    pwr     sm",
        "#YYYYMMDD   HH:MM:SS    Idx      W      %",
        " 20260301   10:11:12      0    117     45",
        " 20260301   10:11:12      1      -      -",
        "#Date       Time        gpu    pwr     sm",
        " 20260301   10:11:13      0    117",
    ]
    found = match_format(COLUMNS, pl.Series(lines))
    rows = found.tables["telemetry"].select("line", "ts_raw", "gpu", "value").rows()
    assert rows == [(3, "2026-03-01T10:11:12", "0", 0.45)]
    assert (found.known.to_list(), found.torn.to_list()) == ([1, 2, 3, 5], [6])


def test_a_device_and_its_number_are_one_cell() -> None:
    lines = ["#Entity   POWER   sm", "ID        W       ", "GPU 7     59.2    45"]
    found = match_format(COLUMNS, pl.Series(lines))
    assert found.tables["telemetry"].select("line", "gpu").rows() == [(3, "GPU:7")]
    assert found.known.to_list() == [1, 2, 3]


def test_a_sentence_with_a_name_of_some_table_is_no_header() -> None:
    """Of a table of DCGM one name is enough, of one of Slurm three of its own."""
    sentence = "gx001:1:2 [0] NCCL INFO comm rank 3 - Init START"
    lines = pl.Series(
        "text", [sentence, "JobID,State,Start", "State,step,Start", "host,DCGM_FI_DEV_GPU_UTIL"]
    )
    assert may_be_headers(lines).to_list() == [False, True, False, True]
