"""Cutting step lines of one layout out of raw lines gives what searching every line gives."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.formats.format import Format, Pattern, Value
from pipeline.ingest import cuts
from pipeline.ingest.clock import read_stamps
from pipeline.ingest.cuts import Cutter
from pipeline.ingest.layout import Block, find_blocks
from pipeline.ingest.match import match_format
from pipeline.ingest.peel import PREFIXES, strip_escapes
from pipeline.ingest.regexes import is_blind
from pipeline.ingest.rules import Rule, RuleSet
from pipeline.ingest.scan import Scanner
from tests.golden import label_of, read_lines, samples

STEP = Pattern(
    "step",
    "steps",
    {"ts": Value("ts", "stamp", stamp="iso"), "step_last": Value("n", "int"), "ts_edge": Value("x")},
    ("step ",),
    r"(?:^|[^\s(])\s*(?:\[(?P<ts>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] )?"
    r"step\s+(?P<n>\d+)\s*\|(?: (?P<x>lost)\|)?",
    bars={
        "loss": (("loss", "other loss"), Value("v", "float")),
        "grad_norm": (("norm",), Value("v", "float")),
    },
)
HERON = Format("heron", "t", "l", "trainer", (STEP,))


def lines_of(count: int) -> pl.Series:
    rng = random.Random(7)
    made = []
    for number in range(count):
        stamp = f"[2026-10-05 03:{number // 60 % 60:02d}:{number % 60:02d}] " if rng.random() < 0.9 else ""
        loss = rng.choice(["loss", "loss", "loss", "other loss"])
        made.append(
            rng.choice(["", "", "7: ", "63: [default7]:", "gx001: ", "[rank3]: ", "(", "▇", "3: 4: x1"])
            + f"{stamp}step {number:6d} |{rng.choice(['', ' lost|'])} {loss}: {rng.random() * 20:.3f} |"
            + rng.choice([f" norm: {rng.random():.3f} |", f" norm: {rng.random():.3f}", " norm: nan |", ""])
            + rng.choice(["", "", "", "\r7: step 8 |"])
        )
    return pl.Series(made)


def rows_of(fmt: Format, lines: pl.Series) -> pl.DataFrame:
    """Return the steps that the scanner finds, layouts and all."""
    rules = RuleSet((Rule(fmt, pattern) for pattern in fmt.patterns), ())
    return Scanner(rules).scan(lines).tables["steps"]


@pytest.mark.parametrize("least", [1, 8, 64])
def test_cut_is_what_searching_finds(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = lines_of(3000)
    expected = match_format(HERON, lines).tables["steps"]
    monkeypatch.setattr(cuts, "MIN_LINES", least)
    found = rows_of(HERON, lines)
    assert found.height > 1000
    assert found.equals(expected)


def test_lines_of_one_layout_are_cut_and_not_searched() -> None:
    numbers = range(10_000, 20_000)
    lines = pl.DataFrame(
        {"line": numbers, "text": [f"12: gx{n % 7}: step {n:6d} | loss: 1.{n} |" for n in numbers]}
    )
    (found,) = Cutter((Rule(HERON, STEP),)).take(lines)
    assert found.matched.to_list() == list(range(10_000))
    assert found.rows is not None
    assert found.rows["line"].to_list() == list(numbers)
    assert found.rows["step_last"].to_list() == list(numbers)
    assert found.rows["loss"][7] == 1.10007
    assert found.rows["grad_norm"].null_count() == 10_000
    assert found.rows["host"].to_list() == [None] * 10_000
    assert found.rows["rank"].unique().to_list() == [12]


def test_a_layout_is_a_line_with_its_digits_alike() -> None:
    text = pl.Series(["a 1", "b 2", "a 3", "a x", "a 10", "ä4"])
    blocks = list(find_blocks(text, 1))
    found = {block.example: (block.rows.to_list(), block.cut(2, 3).to_list()) for block in blocks}
    assert found == {
        "a 0": ([0, 2], ["1", "3"]),
        "b 0": ([1], ["2"]),
        "a x": ([3], ["x"]),
        "a 00": ([4], ["1"]),
    }
    assert blocks[0].cut(-1, -1).to_list() == [None] * len(blocks[0].rows)
    assert blocks[0].cut(1, 1).to_list() == [""] * len(blocks[0].rows)


def block_of(texts: list[str]) -> Block:
    """Return texts of one layout as a block."""
    (block,) = find_blocks(pl.Series(texts), 1)
    return block


@pytest.mark.parametrize(
    "layout",
    ["0", "000000", "0" * 15, "-00", "0.0", "00.", "0.000000E+00", "-00.000e-0", "0.0E0", "0000000.00000000"],
)
def test_numbers_that_are_cut_are_those_of_their_texts(layout: str) -> None:
    rng = random.Random(layout)
    texts = [re.sub("0", lambda _: str(rng.randrange(10)), layout) for _ in range(500)]
    if "E" in layout or "e" in layout:
        # Beyond that a power of ten is not exact.
        texts = [re.sub(r"\d+$", lambda found: found[0].replace(found[0][0], "1", 1), text) for text in texts]
    block = block_of([*texts, layout])
    read = block.numbers(0, len(layout))
    assert read is not None
    assert read.dtype == (pl.Float64 if set(layout) & set(".eE") else pl.Int64)
    assert read.equals(block.cut(0, len(layout)).cast(read.dtype).alias(read.name))


@pytest.mark.parametrize(
    "text", ["", " 7", "1,200", "nan", "--1", "x7", ".5", "1e", "1" * 16, "1.2E+30", "1.2E-22", "12:30"]
)
def test_other_texts_are_no_plain_numbers(text: str) -> None:
    block = block_of([f"[{text}]"])
    assert block.numbers(1, 1 + len(text)) is None
    assert block.numbers(-1, -1) is None


@pytest.mark.parametrize(
    "layout", ["0000-00-00 00:00:00", "0000-00-00T00:00:00.0", "0000-00-00 00:00:00,000000000"]
)
def test_stamps_that_are_cut_are_those_of_their_texts(layout: str) -> None:
    rng = random.Random(layout)
    days = ["2000-01-01", "2024-02-29", "2026-12-31", "2099-11-30", "2026-02-28"]
    texts = [
        f"{rng.choice(days)}{layout[10]}{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
        + re.sub("0", lambda _: str(rng.randrange(10)), layout[19:])
        for _ in range(200)
    ]
    read = block_of(texts).stamps(0, len(layout))
    assert read is not None
    assert read.to_list() == read_stamps(pl.Series(texts), "iso")[0].to_list()


@pytest.mark.parametrize(
    "text",
    [
        *("2026-02-29 01:00:00", "2026-00-10 01:00:00", "2026-13-10 01:00:00", "2026-04-31 01:00:00"),
        *("2026-04-00 01:00:00", "2026-04-30 24:00:00", "2026-04-30 01:60:00", "2026-04-30 01:00:60"),
        *("1999-04-30 01:00:00", "2100-04-30 01:00:00", "2026-04-30 01:00:00Z", "26-04-30 01:00:00", ""),
    ],
)
def test_a_block_with_other_stamps_is_read_as_text(text: str) -> None:
    good = re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-04-30 01:00:00", text)
    assert block_of([f"[{good}]", f"[{text}]"] if good else ["[]"]).stamps(1, 1 + len(text)) is None


@pytest.mark.parametrize("character", ["/", ":", "a", " ", "\x7f"])
def test_what_stands_beside_the_digits_is_none(character: str) -> None:
    text = pl.Series(["n 5 z"] * 3 + [f"n {character} z"])
    assert [block.rows.to_list() for block in find_blocks(text, 2)] == [[0, 1, 2]]


@pytest.mark.parametrize("regex", [r"step (?P<n>[1-5]+)", r"step2 (?P<n>\d+)", r"step (?P<n>\d+) of 7"])
def test_an_expression_that_tells_digits_apart_is_searched(
    regex: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    picky = replace(STEP, regex=regex, bars={}, columns={"step_last": Value("n", "int")})
    lines = pl.Series([f"step {number % 9 + 1} of {number % 3 + 6}" for number in range(2000)])
    fmt = replace(HERON, patterns=(picky, replace(STEP, name="other")))
    expected = match_format(replace(fmt, patterns=(picky,)), lines).tables
    monkeypatch.setattr(cuts, "MIN_LINES", 2)
    assert not Cutter(RuleSet((Rule(fmt, p) for p in fmt.patterns), ()).steps).take(
        pl.DataFrame({"line": range(2000), "text": lines})
    )
    if expected:
        assert rows_of(fmt, lines).equals(expected["steps"])


def test_prefixes_do_not_tell_digits_apart() -> None:
    assert is_blind(PREFIXES)
    assert not is_blind((*PREFIXES, "[1-9]"))


def test_another_dialect_is_noticed() -> None:
    # In a verbose class this engine ignores blanks, and the other one does not.
    spaced = replace(STEP, regex=r"(?x) step(?P<n>[\d ]+)\|", bars={}, columns={"step_last": Value("n")})
    lines = pl.DataFrame({"line": range(2000), "text": [f"step {n:6d} |" for n in range(2000)]})
    assert not Cutter((Rule(HERON, spaced),)).take(lines)


def test_every_pattern_of_steps_cuts_what_it_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "MIN_LINES", 2)
    for fmt in registry().values():
        if fmt.shape != "lines" or not samples(fmt.name):
            continue
        rules = RuleSet((Rule(fmt, pattern) for pattern in fmt.patterns), ())
        lines = strip_escapes(pl.concat([read_lines(path).alias("") for path in samples(fmt.name)] * 3))
        label = label_of(lines)
        expected = match_format(fmt, lines, label)
        found = Scanner(rules, label).scan(lines)
        assert found.known.unique().sort().to_list() == expected.known.to_list(), fmt.name
        for table, rows in expected.tables.items():
            assert rows.equals(found.tables[table]), f"{fmt.name}, {table}"
