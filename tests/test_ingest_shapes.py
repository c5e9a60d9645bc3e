"""Asking about shapes of lines gives what asking about every line gives."""

from __future__ import annotations

import random
import re

import pytest

from pipeline.formats import registry
from pipeline.ingest import shapes
from pipeline.ingest.lines import controls_of, read_lines
from pipeline.ingest.rules import rules_for
from pipeline.ingest.scan import Scanner
from pipeline.ingest.shapes import Shapes, read_shapes
from tests.golden import samples

#: Trainers whose steps have one line each, and none.
OWN = ("megatron", "hf_trainer", "")


def contents(own: str) -> dict[str, bytes]:
    """Return sample files without control characters: of a format, a guest, and what occurs anywhere."""
    found = {}
    for fmt in registry().values():
        wanted = fmt.shape == "lines" and (fmt.name in (own, "torchtitan") or not fmt.primary)
        texts = [path.read_bytes() for path in samples(fmt.name)] if wanted else []
        plain = [text if text.endswith(b"\n") else text + b"\n" for text in texts if not controls_of(text)]
        if plain:
            found[fmt.name] = b"".join(plain)
    return found


def with_other_digits(content: bytes, rng: random.Random) -> bytes:
    """Return a content with some of its digits replaced by others."""
    return re.sub(rb"\d", lambda _: b"%d" % rng.randrange(10), content)


@pytest.fixture(autouse=True)
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask about shapes however few lines there are."""
    monkeypatch.setattr(shapes, "MIN_BYTES", 1)


def test_shapes_have_zeros_for_digits() -> None:
    text = "rank 12 of 4096\n\nécole 9٣\n[30:01] ok"
    assert read_shapes(text.encode()).to_list() == ["rank 00 of 0000", "", "école 0٣", "[00:00] ok"]
    assert read_shapes(b"7\n" * 200_000).unique().to_list() == ["0"]


@pytest.mark.parametrize("own", OWN)
def test_shapes_find_what_lines_find(own: str) -> None:
    rng = random.Random(11)
    known = contents(own)
    content = b"".join(known.values()) + b"loader 3: shard 00012 of a corpus is open\n" * 50
    content += b"".join(with_other_digits(content, rng) for _ in range(2))
    lines = read_lines(content)
    asked = Scanner(rules_for(own)).scan(lines, several=False)
    scanner = Scanner(rules_for(own))
    # The second time the scanner knows what is common.
    for _ in range(2):
        found = scanner.scan(lines, several=False, plain=content)
        assert found.known.unique().sort().equals(asked.known.unique().sort())
        assert found.torn.unique().sort().equals(asked.torn.unique().sort())
        assert found.tables.keys() == asked.tables.keys()
        for table, rows in asked.tables.items():
            assert rows.equals(found.tables[table]), table
    settled = scanner.shapes.settle(content, lines)
    assert settled is not None
    flags = zip(settled.known, settled.steps, settled.asked, settled.unknown, strict=True)
    assert {sum(of_line) for of_line in flags} == {1}
    assert settled.known.sum() > 100
    assert settled.unknown.sum() >= 150
    if own:
        assert settled.steps.any()


def test_a_literal_with_digits_is_looked_for_in_every_line() -> None:
    rules = rules_for("megatron")
    chatter = "gx001:1:1 [0] NCCL INFO P2P Chunksize set to 131072"
    content = f"{chatter}\n{chatter.replace('P2P', 'P3P')}\n".encode() * 4
    settled = Shapes(rules).settle(content, read_lines(content))
    assert settled is not None
    # The others cannot hold it, and their shape tells of them.
    assert settled.asked.to_list() == [True, False] * 4


@pytest.mark.parametrize("content", [b"a\nb\nc 1\nc 2\n", b"c 1\nc 2\nc 3\n\xff 4\n"])
def test_lines_are_asked_where_shapes_are_no_help(content: bytes) -> None:
    """Three shapes of four lines are too many; bytes that are no text have none."""
    found = Shapes(rules_for("megatron"))
    assert found.settle(content, read_lines(content)) is None
    assert (found.settle(b"c 1\nc 2\n", read_lines(b"c 1\nc 2\n")) is None) == (b"\xff" not in content)
