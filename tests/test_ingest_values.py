"""How columns are filled from texts."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.formats.format import Value
from pipeline.ingest.values import read_value

CASES: list[tuple[Value, pl.DataType, dict[str, str | None]]] = [
    (Value("v", "int"), pl.Int64(), {"1,200": "1200", " 7": "7", "1200.0": "1200", "1.5": None, "nan": None}),
    (Value("v", "int", scale=1e-3), pl.Int64(), {"600000": "600", "1800000": "1800"}),
    (Value("v", "int", offset=1), pl.Int64(), {"129": "130", "0": "1", "7.0": "8", "?": None}),
    (Value("v", "float"), pl.Float64(), {"1.5E+00": "1.5", "1,874": "1874.0", "inf": "inf", "N/A": None}),
    (
        Value("v", "human"),
        pl.Float64(),
        {"3.41K": "3410.0", "2.62G": "2620000000.0", "2.5B": "2500000000.0", "402": "402.0", "3.41X": None},
    ),
    (Value("v", "human", scale=1e-3), pl.Float64(), {"2.5K": "2.5"}),
    (Value("v", "human"), pl.Int64(), {"4.19M": "4190000"}),
    (Value("v", "float", scale=1e-2), pl.Float64(), {"43.5": "0.435"}),
    (
        Value("v", "seconds"),
        pl.Float64(),
        {"1-02:03:04": "93784.0", "00:10:00": "600.0", "01:30.5": "90.5", "42": "42.0", "UNLIMITED": None},
    ),
    (Value("v", "seconds"), pl.Float64(), {"1 day, 2:03:04": "93784.0", "12 days, 0:00:01": "1036801.0"}),
    (Value("v", "per_second"), pl.Float64(), {"4.0": "0.25", "0.0": None, "?": None}),
    (Value("v", "bool"), pl.Boolean(), {"true": "True", "No": "False", "1": "True", "maybe": None}),
    (Value("v", "pci"), pl.String(), {"00000000:9B:00.0": "0000:9b:00", "0000:9b:00": "0000:9b:00"}),
    (Value("v", "lower"), pl.String(), {"GX017": "gx017"}),
    (Value("v"), pl.String(), {" a b ": "a b", "  ": None, "": None}),
    (
        Value("v", "tres_gpus"),
        pl.Int64(),
        {
            "billing=448,cpu=1792,gres/gpu:h100=64,gres/gpu=64,mem=15T": "64",
            "gres/gpu:a100=4,gres/gpu:h100=8": "12",
            "cpu=4,gres/gpumem=80G": None,
            "gres/gpu=0": "0",
            "gres/gpu=32,node=+": "32",
            "cpu=4,gres/gpu=3+": None,
            "gres/gpu:a100=4,gres/gpu:h1+": None,
            '[{"count":4,"id":1,"name":null,"type":"cpu"},{"count":8,"id":1001,"name":"gpu","type":"gres"},'
            '{"count":8,"id":1002,"name":"gpu:h100","type":"gres"}]': "8",
            '[{"count":4,"name":"gpu:a100","type":"gres"},{"count":2,"name":"gpu:h100","type":"gres"}]': "6",
            "[]": None,
        },
    ),
    (
        Value("v", "spec_gpus"),
        pl.Int64(),
        {
            "Resource_List.ngpus=16": "16",
            "exec_vnode=(gx001:ncpus=112:ngpus=8)+(gx002[0]:ncpus=60:ngpus=4+gx002[1]:ngpus=4)": "16",
            "Resource_List.select=2:ncpus=32:ngpus=4+1:ngpus=1": "9",
            "Resource_List.nodes=gx001:ppn=2:gpus=8:exclusive+gx002:ppn=2:gpus=8": "16",
            "2:ppn=8": None,
            "2:ppn=8:gpus=0": "0",
        },
    ),
    (
        Value("v", "hostlist"),
        pl.List(pl.String()),
        {"gx[001-002]": "['gx001', 'gx002']", "None assigned": None},
    ),
    (Value("v", mapping={"a": "b"}), pl.String(), {"a": "b", "c": "c"}),
    (Value("v", mapping={"a": "b", "*": "z"}), pl.String(), {"a": "b", "c": "z"}),
    (Value(("w", "v")), pl.String(), {"x": "x"}),
    (Value(const="end"), pl.String(), {"x": "end"}),
    (Value(const=1), pl.Int32(), {"x": "1"}),
]


@pytest.mark.parametrize(("value", "dtype", "texts"), CASES)
def test_a_value_reads_texts(value: Value, dtype: pl.DataType, texts: dict[str, str | None]) -> None:
    fields = pl.DataFrame({"w": [""] * len(texts), "v": list(texts)})
    column = read_value(fields, value, dtype)
    assert list(texts.values()) == [None if item is None else str(item) for item in column.to_list()]
    assert dtype == column.dtype


def test_a_field_that_is_not_there_is_null() -> None:
    assert read_value(pl.DataFrame({"v": ["1", "2"]}), Value("w", "int"), pl.Int64()).to_list() == [
        None,
        None,
    ]


def test_a_missing_text_stays_missing_under_a_mapping() -> None:
    column = read_value(pl.DataFrame({"v": ["a", None]}), Value("v", mapping={"*": "z"}), pl.String())
    assert column.to_list() == ["z", None]


def test_a_length_is_the_time_from_one_stamp_to_another() -> None:
    fields = pl.DataFrame({"begin": ["1781000104231000123", "x"], "end": ["1781000105731000999", "1"]})
    length = Value("end", "stamp", stamp="epoch_ns", less="begin")
    assert read_value(fields, length, pl.Float64()).to_list() == [1.5, None]
    told = pl.DataFrame({"begin": ["2026-06-09T10:15:04.25Z"], "end": ["2026-06-09T10:15:06Z"]})
    assert read_value(told, Value("end", "stamp", less="begin"), pl.Float64()).to_list() == [1.75]


def test_the_place_in_an_array_stands_behind_the_number_of_a_job() -> None:
    fields = pl.DataFrame({"job": ["4420", "4421", "4422", None], "at": ["3", "0", None, "1"]})
    ids = read_value(fields, Value("job", index="at"), pl.String()).to_list()
    assert ids == ["4420[3]", "4421", "4422", None]


def test_parts_that_are_there_are_taken_off_a_number() -> None:
    fields = pl.DataFrame(
        {"n": ["184.814", "112.3", None], "a": ["48.331", None, "1"], "b": ["22.907", "", None]}
    )
    whole = Value("n", "float", less=("a", "b", "c"))
    assert read_value(fields, whole, pl.Float64()).to_list() == [113.576, 112.3, None]


def test_the_product_of_two_fields_is_added_to_a_number() -> None:
    fields = pl.DataFrame({"n": ["7", "7", "7"], "epoch": ["2", "0", None], "total": ["100", "100", "100"]})
    assert read_value(fields, Value("n", "int", plus=("epoch", "total")), pl.Int64()).to_list() == [
        207,
        7,
        None,
    ]
