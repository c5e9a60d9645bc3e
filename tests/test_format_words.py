"""Any word but these: the expression takes every other text, and only whole ones."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.formats._words import other_than

WORDS = ("run_start", "run_stop", "step", "steps", "a.b")


def takes(text: str, words: tuple[str, ...] = WORDS) -> bool:
    return bool(pl.Series([f'"{text}"']).str.contains(f'"{other_than(words)}"')[0])


@pytest.mark.parametrize("word", WORDS)
def test_none_of_the_words_is_taken(word: str) -> None:
    assert not takes(word)


@pytest.mark.parametrize(
    "text", ["", "s", "ste", "stepss", "step ", " step", "run_sto", "run_stopped", "run", "aXb", "a.", "seed"]
)
def test_every_other_text_is_taken(text: str) -> None:
    assert takes(text)


def test_the_empty_text_can_be_a_word() -> None:
    assert not takes("", ("", "step"))
    assert takes("s", ("", "step"))
