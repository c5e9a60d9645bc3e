"""Expressions for ASCII, and their part that matches at the head of a line, match what the whole ones do."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.ingest.regexes import at_head, to_ascii
from pipeline.ingest.search import match_groups
from tests.golden import read_lines, samples

ASCII = {
    r"\d+": "[0-9]+",
    r"[\d.]": "[0-9.]",
    r"[^\s|]": r"[^\t\n\v\f\r\x20|]",
    r"\bNCCL\b": r"(?-u:\b)NCCL(?-u:\b)",
    r"\\d": r"\\d",
    r"[]\d]\d": r"[]0-9][0-9]",
    r"[^]\d]\d": r"[^]0-9][0-9]",
    r"[[:alpha:]\d]\d": r"[[:alpha:]0-9][0-9]",
    r"[\]\d]\D": r"[\]0-9]\D",
    r"\w\S": r"[0-9A-Za-z_]\S",
}


@pytest.mark.parametrize("regex", ASCII)
def test_classes_are_those_of_ascii(regex: str) -> None:
    assert ASCII[regex] == to_ascii(regex)


HEADS = {
    r"(?:^|[^\]a])x": "^x",
    "(?x) (?:^|[^a]) x": "(?x) ^ x",
    "^x": None,
    "(?:^|a)x": None,
    "a(?:^|[^b])x": None,
}


@pytest.mark.parametrize("regex", HEADS)
def test_the_part_at_the_head(regex: str) -> None:
    assert HEADS[regex] == at_head(regex)


def test_lines_that_match_elsewhere_are_found_as_well() -> None:
    lines = pl.Series(["step 1", "glued step 2", "(step 3", "step 4 step 5", "none"])
    groups, hit = match_groups(lines, r"(?:^|[^(])\s*step (?P<n>\d)")
    assert hit.to_list() == [True, True, False, True, False]
    assert groups["n"].to_list() == ["1", "2", None, "4", None]


def test_every_pattern_matches_the_same_lines() -> None:
    for fmt in registry().values():
        lines = (
            pl.concat([read_lines(path).alias("") for path in samples(fmt.name)])
            if samples(fmt.name)
            else None
        )
        for pattern in fmt.patterns if lines is not None else ():
            for regex in filter(
                None, (pattern.regex, pattern.each, *(extra for extra, _ in pattern.extras.values()))
            ):
                whole, ascii_only = lines.str.contains(regex), lines.str.contains(to_ascii(regex))
                assert whole.to_list() == ascii_only.to_list(), f"{fmt.name}.{pattern.name}"
