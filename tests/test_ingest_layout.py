"""Cutting fields out of lines of one layout gives what searching every line gives."""

from __future__ import annotations

import random
from dataclasses import replace

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.formats.format import Pattern, Value
from pipeline.ingest import extract, layout
from pipeline.ingest.extract import match_fields
from tests.golden import read_lines, samples

Searched = tuple[pl.DataFrame, pl.Series]

STEP = Pattern(
    "step",
    "steps",
    {"ts": Value("ts", "stamp", stamp="iso"), "step_last": Value("n", "int")},
    ("step ",),
    r"(?:^|[^\s(])\s*(?:\[(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] )?"
    r"step\s+(?P<n>\d+)\s*\|(?: (?P<x>lost)\|)?",
    bars={
        "loss": (("loss", "other loss"), Value("v", "float")),
        "grad_norm": (("norm",), Value("v", "float")),
    },
)


def lines_of(count: int) -> pl.Series:
    rng = random.Random(7)
    made = []
    for number in range(count):
        stamp = f"[2026-10-05 03:{number // 60 % 60:02d}:{number % 60:02d}] " if rng.random() < 0.9 else ""
        loss = rng.choice(["loss", "loss", "loss", "other loss"])
        made.append(
            rng.choice(["", "", "", "glued", "(", "▇", "x1"])
            + f"{stamp}step {number:6d} |{rng.choice(['', ' lost|'])} {loss}: {rng.random() * 20:.3f} |"
            + rng.choice([f" norm: {rng.random():.3f} |", f" norm: {rng.random():.3f}", " norm: nan |", ""])
        )
    return pl.Series(made)


def searched(
    text: pl.Series, pattern: Pattern, monkeypatch: pytest.MonkeyPatch
) -> tuple[pl.DataFrame, pl.Series]:
    with monkeypatch.context() as patch:
        patch.setattr(extract, "cut_fields", lambda *_: None)
        return match_fields(text, pattern)


@pytest.mark.parametrize("least", [1, 8, 64])
def test_cut_is_what_searching_finds(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = lines_of(3000)
    fields, hit = searched(text, STEP, monkeypatch)
    monkeypatch.setattr(layout, "MIN_LINES", least)
    cut, cut_hit = match_fields(text, STEP)
    assert 1000 < hit.sum() < 3000
    assert hit.to_list() == cut_hit.to_list()
    assert fields.filter(hit).select(cut.columns).equals(cut.filter(hit))


def test_lines_of_one_layout_are_cut_and_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    text = pl.Series([f"step {number:6d} | loss: 1.{number:05d} |" for number in range(10_000, 20_000)])
    monkeypatch.setattr(extract, "search_fields", None)
    fields, hit = match_fields(text, STEP)
    assert hit.all()
    assert fields["n"].to_list() == [str(number) for number in range(10_000, 20_000)]
    assert fields["|loss"][7] == "1.10007"
    assert fields["|grad_norm"].null_count() == len(text)


@pytest.mark.parametrize("regex", [r"step (?P<n>[1-5]+)", r"step2 (?P<n>\d+)", r"step (?P<n>\d+) of 7"])
def test_an_expression_that_tells_digits_apart_is_searched(regex: str) -> None:
    text = pl.Series([f"step {number % 9 + 1} of {number % 3 + 6}" for number in range(1000)])
    assert layout.cut_fields(text, regex, ()) is None


def test_another_dialect_is_noticed() -> None:
    # In a verbose class this engine ignores blanks, and the other one does not.
    spaced = replace(STEP, regex=r"(?x) step(?P<n>[\d ]+)\|", bars={})
    text = pl.Series([f"step {number:6d} |" for number in range(1000)])
    fields, hit = match_fields(text, spaced)
    assert not hit.any()
    assert fields["n"].null_count() == 1000


def test_every_pattern_of_steps_cuts_what_it_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MIN_LINES", 2)
    for fmt in registry().values():
        if fmt.shape != "lines" or not samples(fmt.name):
            continue
        lines = pl.concat([read_lines(path).alias("") for path in samples(fmt.name)] * 3)
        for pattern in fmt.patterns:
            where = f"{fmt.name}.{pattern.name}"
            fields, hit = searched(lines, pattern, monkeypatch)
            cut, cut_hit = match_fields(lines, pattern)
            assert hit.to_list() == cut_hit.to_list(), where
            if hit.any() and fields.columns != [""]:
                assert fields.filter(hit).select(cut.columns).equals(cut.filter(hit)), where
