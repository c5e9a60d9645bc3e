"""The catalogue of signals and the failure taxonomy: every row knows its own line, and points to a cause."""

from __future__ import annotations

import re
from collections import Counter

from tests.catalogue import KINDS, ROOT, SIGNALS, chosen

#: Groups that ingest copies into columns of the event table; another name would be lost without a word.
GROUPS = {
    *("pci", "xid", "sxid", "exitcode", "code", "status", "signo", "sig", "gpu", "from_rank", "rank", "job"),
    *("node", "nodes", "host", "hca", "dev", "port", "path", "server", "switch"),
    *("secs", "open_s", "stuck_s", "ran_ms", "mins"),
}

#: When a line of a signal means nothing, in words that a query can compare.
BENIGN = {
    "",
    "after_end",  # after the first exit of the attempt, or after a normal end
    "after_kill",  # within half a minute after somebody killed the process
    "at_boot",  # printed at every start
    "alone",  # without another signal of the same device
    "other_xid",  # where the same node has another Xid
    "process_goes_on",  # where steps go on
    "restored",  # where the line that closes it follows within seconds
}

#: What a healthy cluster prints all day. No literal may be in it: each would cost a look at every such line.
CHATTER = (ROOT / "tests" / "signals" / "chatter.log").read_text(encoding="utf-8")


def test_every_row_is_taken_for_its_own_example() -> None:
    examples = tuple(row["example"] for row in SIGNALS)
    names = [row["signal_id"] for row in SIGNALS]
    wrong = {name: got for name, got in zip(names, chosen(examples), strict=True) if got != name}
    assert wrong == {}


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(row["signal_id"] for row in SIGNALS).items() if count > 1] == []


def test_cells_are_of_the_known_words() -> None:
    wrong = [
        row["signal_id"]
        for row in SIGNALS
        if row["cause"] not in KINDS
        or row["weight"] not in ("cause", "symptom", "noise")
        or row["planned"] not in ("", "planned", "preemption")
        or row["severity"] not in ("info", "warning", "error", "critical")
        or row["owner_layer"] not in ("infrastructure", "framework", "program", "planned", "unknown")
        or row["benign_when"] not in BENIGN
        or not row["causal_rank"].isdigit()
        or not all(row[column] for column in ("source", "literal", "regex", "domain", "action", "verified"))
    ]
    assert wrong == []


def test_what_is_restored_within_seconds_names_the_line_that_says_so() -> None:
    weights = {row["signal_id"]: row["weight"] for row in SIGNALS}
    restored = {row["signal_id"]: row["cleared_by"] for row in SIGNALS if row["benign_when"] == "restored"}
    assert restored == {row["signal_id"]: row["cleared_by"] for row in SIGNALS if row["cleared_by"]}
    assert {weights[closer] for closer in restored.values()} == {"noise"}


def test_a_planned_signal_points_to_a_planned_cause() -> None:
    kinds = {"planned": {"planned"}, "preemption": {"preemption"}}
    wrong = [
        row["signal_id"]
        for row in SIGNALS
        if row["planned"] and (KINDS[row["cause"]] not in kinds[row["planned"]] or row["weight"] == "noise")
    ]
    assert wrong == []


def test_groups_have_names_that_ingest_knows() -> None:
    found = {group for row in SIGNALS for group in re.findall(r"\?P<(\w+)>", row["regex"])}
    assert found - GROUPS == set()


def test_the_literal_is_part_of_the_expression() -> None:
    """So that a line without the literal cannot match; alternatives need a row each."""
    wrong = [
        row["signal_id"]
        for row in SIGNALS
        if row["literal"] not in re.sub(r"\?P<\w+>|[\\()]", "", row["regex"])
        and row["literal"] not in row["regex"].replace("\\", "")
    ]
    assert wrong == []


def test_no_literal_is_in_the_lines_of_a_healthy_run() -> None:
    common = {row["literal"] for row in SIGNALS if row["literal"] in CHATTER}
    assert common == set()
    assert chosen(tuple(CHATTER.splitlines())) == [None] * len(CHATTER.splitlines())
