"""``goodput explain`` says what and where as far as lines tell; every key of its document means something."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from explained import ROOT, line_of

from pipeline.config_values import EMPTY_CONFIG
from pipeline.ledger import story as told_story
from pipeline.ledger.story_load import BENIGN
from pipeline.ledger.story_text import story_text
from pipeline.ledger.story_where import where
from pipeline.project import read_seed

AT = datetime(2026, 3, 3, 8, tzinfo=UTC)


def story_of(evidence: tuple[told_story.Evidence, ...] = (), **values: object) -> told_story.Story:
    """Return a story of an end of which only some facts matter."""
    usual: dict[str, Any] = {field.name: None for field in fields(told_story.Head)} | {
        "incident_id": "heron/1.0/1",
        "kind": "unplanned",
        "run_id": "heron",
        "attempt": 1,
        "at": AT,
        "mark": "",
        "cause": "gpu_other",
        "title": "Other GPU fault",
        "confidence": "evidence",
        "failed_start": False,
        "stepless": False,
        "unseen": False,
        "crash_loop": False,
        "cascade": (),
        "lost_steps": 0,
        "lost_gpu_s": 0.0,
        "gpu_s": 0.0,
    }
    why = told_story.Why(None, (), None, (), None, None, "the scheduler says nothing of this end")
    advice = told_story.Advice(None, None, None, None, None, None, "", "")
    return told_story.Story(told_story.Head(**{**usual, **values}), (), evidence, why, (), None, advice)


def test_part_loop_and_cascade_are_told() -> None:
    line = line_of(taken_for="collective_timeout", title="Collective timed out")
    story = story_of(
        (line,),
        device="mlx5_3",
        faulty_part="link",
        stepless=True,
        failed_start=True,
        crash_loop=True,
        cascade=("collective_timeout", "exit_code"),
        caused_by_job="77",
    )
    text = story_text(story, width=160)
    assert "mlx5_3; what failed is the link\n" in text
    assert "a failed start: its log tells of no step; one of at least three in a row" in text
    assert "preempted for job 77\n" in text
    # A cause bears the title that its lines bear.
    assert "  - what followed from it: Collective timed out, exit code\n" in text


def test_a_size_that_no_source_tells_is_not_made_up() -> None:
    assert "(how many GPUs is not known: counted as one)" in story_text(story_of(gpus=None), width=160)
    assert "(job 7, 8 GPUs)" in story_text(story_of(job_id="7", gpus=8), width=160)


@pytest.mark.parametrize("kind", ["completed", "planned", "preemption"])
def test_an_end_without_a_step_that_was_no_failure_is_no_failed_start(kind: str) -> None:
    text = story_text(story_of(kind=kind, stepless=True))
    assert "note       no step of this attempt is logged\n" in text
    assert "failed start" not in text


#: Columns of an incident and of its deciding line to where it happened.
PLACES: tuple[tuple[dict[str, Any], dict[str, Any] | None, str], ...] = (
    (
        {"host": "gx017", "gpu": "0000:9b:00", "faulty_part": "gpu"},
        {},
        "host gx017, GPU 0000:9b:00; what failed is the GPU",
    ),
    (
        {"host": "gx017", "gpus_at_once": 4, "faulty_part": "host"},
        {},
        "host gx017, 4 GPUs of it at once; what failed is the host",
    ),
    ({"rank": 3, "copy_ranks": 1}, {}, "rank 3"),
    ({}, None, "no line tells on which host"),
    ({}, {"host": "gx017"}, "several hosts say the same, so that it failed on none of them"),
    ({"rank": 2, "copy_ranks": 4}, {"host": "gx017"}, "4 ranks say the same; rank 2 stands first"),
    ({"copy_ranks": 4}, {}, "the line that decided names no host; 4 ranks say the same"),
    (
        {"host": "gx017", "rank": 2, "copy_ranks": 4, "copy_spread_s": 0.0},
        {},
        "host gx017; 4 ranks say the same within 0.1 s, first rank 2",
    ),
    (
        {"rank": 2, "copy_ranks": 4, "copy_hosts": 2},
        {},
        "names no host; 4 ranks on 2 hosts say the same; rank 2 stands first",
    ),
    (
        {},
        {"taken_for": "collective_timeout", "rank": 5},
        "names no host; rank 5 waited, and does not say for whom",
    ),
    (
        {"host": "gx013"},
        {"taken_for": "peer_lost", "rank": 13, "host": "gx013"},
        "host gx013; rank 13 lost the connection to a rank there",
    ),
    ({}, {"taken_for": "peer_lost", "rank": 13}, "names no host; rank 13 lost a connection"),
)


@pytest.mark.parametrize(("head", "line", "words"), PLACES)
def test_where_it_happened_is_told_as_far_as_lines_tell(
    head: dict[str, Any], line: dict[str, Any] | None, words: str
) -> None:
    evidence = () if line is None else (line_of(role="cause", **line),)
    assert words in where(story_of(evidence, **head))


def test_every_key_of_the_document_is_described() -> None:
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    kinds = [kind for kind in vars(told_story).values() if hasattr(kind, "__dataclass_fields__")]
    assert len(kinds) >= 10
    assert {field.name for kind in kinds for field in fields(kind)} - named == set()


def test_every_condition_of_the_catalogue_has_words() -> None:
    assert {row["benign_when"] for row in read_seed("signals")} - {""} == set(BENIGN)
    assert EMPTY_CONFIG.privacy.users == "keep"
