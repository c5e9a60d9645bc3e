"""Numbers that no log can mean."""

from __future__ import annotations

import math

import polars as pl
import pytest

from pipeline.ingest.limits import bound_rows

CASES: dict[str, tuple[list[float | None], list[float | None]]] = {
    "step_last": ([1, 10**12, 10**12 + 1, 2**62, -1, None], [1, 10**12, None, None, None, None]),
    "tokens": ([10**15, 10**15 + 1], [10**15, None]),
    "gpus": ([0, 10**9, 10**9 + 1], [0, 10**9, None]),
    "step_time_s": ([0.0, 1e300, math.nan, math.inf, -1.0, 15.0], [0.0, None, None, None, None, 15.0]),
    "tokens_per_s": ([1e12], [1e12]),
    "loss": ([-math.inf], [-math.inf]),
}


@pytest.mark.parametrize("column", CASES)
def test_a_number_beyond_its_limits_is_none(column: str) -> None:
    given, expected = CASES[column]
    assert bound_rows(pl.DataFrame({column: given}))[column].to_list() == expected


def test_what_is_no_number_stays() -> None:
    rows = pl.DataFrame({"step": [7], "host": ["gx010"], "nodes": [["gx010"]], "ok": [True]})
    assert bound_rows(rows).equals(rows)
