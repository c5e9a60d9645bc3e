"""Blocks of keys and values: where a record begins and ends, and what a free text may hold."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from pipeline.formats.format import Format, Pattern, Value
from pipeline.ingest.blocks import count_keys, read_blocks
from pipeline.ingest.match import match_format

BLOCKS = Format(
    name="heron",
    title="t",
    link="l",
    role="scheduler",
    shape="blocks",
    elements=("Node",),
    header=("Node", "State", "Reason", "Owner"),
    header_min=2,
    free=("Reason",),
    patterns=(
        Pattern("node", "nodes", {"host": Value("Node"), "reason": Value("Reason")}, when=("Node", "State")),
    ),
)


def records_of(text: str) -> list[tuple[dict[str, str], int, int]]:
    """Return fields and lines of each record."""
    return [(r.value, r.first, r.last) for r in read_blocks(text.split("\n"), BLOCKS).records]


def test_a_record_goes_to_the_next_empty_line_or_beginning() -> None:
    text = "Node=a Cores=2\n   State=UP\n\nNode=b State=DOWN\nNode=c\n  State=UP\nelse"
    assert records_of(text) == [
        ({"Node": "a", "Cores": "2", "State": "UP"}, 1, 2),
        ({"Node": "b", "State": "DOWN"}, 4, 4),
        ({"Node": "c", "State": "UP\nelse"}, 5, 7),
    ]


def test_values_may_hold_blanks_and_equal_signs() -> None:
    assert records_of("Node=a OS=Linux 6.1 #1 SMP Cfg=cpu=2,mem=4 State=") == [
        ({"Node": "a", "OS": "Linux 6.1 #1 SMP", "Cfg": "cpu=2,mem=4", "State": ""}, 1, 1)
    ]


def test_a_free_text_ends_before_a_known_key_or_with_its_line() -> None:
    assert records_of("Node=a Reason=no LR=3 left, TP=8 Owner=root") == [
        ({"Node": "a", "Reason": "no LR=3 left, TP=8", "Owner": "root"}, 1, 1)
    ]
    assert records_of("Node=a Reason=no LR=3 left\n Extra=1")[0][0] == {
        "Node": "a",
        "Reason": "no LR=3 left",
        "Extra": "1",
    }


def test_of_a_key_that_is_there_twice_the_first_counts() -> None:
    assert records_of("Node=a State=UP State=DOWN")[0][0] == {"Node": "a", "State": "UP"}


def test_a_text_of_blocks_is_known_by_the_keys_of_its_first_record() -> None:
    assert count_keys(["x", "Node=a State=UP Other=1"], BLOCKS) == 2
    assert count_keys(["Other=1 Node=a State=UP"], BLOCKS) == 0


def test_lines_outside_of_known_records_are_unknown_unless_they_are_empty() -> None:
    text = "$ show\nNode=a\n State=UP\n\nNode=b\n\nNode=c State=UP"
    found = match_format(BLOCKS, pl.Series(text.split("\n")))
    assert found.known.to_list() == [2, 3, 4, 6, 7]
    assert found.tables["nodes"].select("line", "host").rows() == [(2, "a"), (7, "c")]


def test_a_list_of_hosts_makes_a_row_for_each() -> None:
    columns = {"host": Value("h", "hostlist"), "state": Value("s")}
    down = Pattern("down", "nodes", columns, (" is ",), r"(?P<h>\S+) is (?P<s>\w+)")
    fmt = replace(BLOCKS, shape="lines", patterns=(down,))
    found = match_format(fmt, pl.Series(["gx[1-2] is down", "gx[1 is down"]))
    assert found.tables["nodes"].select("line", "host", "state").rows() == [
        (1, "gx1", "down"),
        (1, "gx2", "down"),
    ]
    assert found.known.to_list() == [1, 2]


def test_a_record_of_very_many_keys_is_read_in_a_moment() -> None:
    fields = records_of("Node=a Reason=" + " A=1" * 300_000 + " State=UP")[0][0]
    assert (fields["State"], len(fields["Reason"])) == ("UP", 4 * 300_000 - 1)
    assert len(records_of("Node=a" + " A=1" * 300_000)[0][0]) == 2
