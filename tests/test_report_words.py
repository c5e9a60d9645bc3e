"""Sentences, numbers and times of the review."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.report import units
from pipeline.report.text import anchor, elide, visible
from pipeline.report.words import Headline, alternative, clause, headline, listed, marks_of, second_line

CASES = Path(__file__).parent / "report" / "words_cases.csv"


def read_cases() -> list[dict[str, str]]:
    with CASES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def spaced(text: str) -> str:
    """Thin spaces as plain ones, so that expectations can be typed."""
    return text.replace(units.THIN, " ").replace(units.SPACE, " ")


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case["case"])
def test_headline(case: dict[str, str]) -> None:
    def real(name: str) -> float | None:
        return float(case[name]) if case[name] else None

    def gpu_s(name: str) -> float:
        return float(case[name] or 0) * units.HOUR

    facts = Headline(
        goodput=real("goodput"),
        undefined_reason=case["undefined_reason"],
        unknown_share=float(case["unknown_share"]),
        held_gpu_s=gpu_s("held_gpu_h"),
        previous=real("previous"),
        disruptions=int(case["disruptions"]),
        cost_gpu_s=gpu_s("cost_gpu_h"),
        top_cause=case["top_cause"],
        top_share=float(case["top_share"]),
        top_loss=case["top_loss"],
        top_loss_gpu_s=gpu_s("top_loss_gpu_h"),
        top_loss_share=float(case["top_loss_share"]),
        budget_gpu_s=gpu_s("budget_gpu_h") if case["budget_gpu_h"] else None,
        budget_name=case["budget_name"],
    )
    assert case["headline"] == spaced(headline(facts))


@pytest.mark.parametrize(
    ("expected", "composite", "reason"),
    [
        ("composite goodput is 38.2 %.", 0.3821, ""),
        (
            "composite goodput is not known: the peak FLOP/s are not known.",
            None,
            "The peak FLOP/s are not known.",
        ),
    ],
)
def test_second_line_always_speaks_of_the_composite(
    expected: str, composite: float | None, reason: str
) -> None:
    line = spaced(second_line(3600 * 1200, 3600 * 1100.4, composite, reason))
    assert f"Of 1,200 GPU-hours held, 1,100 became retained training progress; {expected}" == line


@pytest.mark.parametrize(
    ("expected", "hours"),
    [
        ("0", 0),
        ("<0.001", 0.0001),
        ("0.459", 0.459),
        ("9.99", 9.99),
        ("10.0", 9.999),
        ("12.3", 12.34),
        ("100", 99.96),
        ("1,234", 1234.4),
        ("−5.20", -5.2),
    ],
)
def test_gpu_hours_from_a_hundred_on_have_no_decimals(expected: str, hours: float) -> None:
    assert expected == units.gpu_hours(hours * 3600)


@pytest.mark.parametrize(
    ("expected", "share"),
    [
        ("–", None), ("0.0 %", 0.0), ("<0.1 %", 0.0001), ("3.1 %", 0.0312), ("99.9 %", 0.9991),
        (">99.9 %", 0.99999), ("100.0 %", 1.0), ("−2.0 %", -0.02),
    ],
)  # fmt: skip
def test_a_share_is_never_rounded_to_nothing_or_all(expected: str, share: float | None) -> None:
    assert expected == spaced(units.percent(share))


@pytest.mark.parametrize(
    ("expected", "delta"), [("+1.2", 0.012), ("−0.3", -0.003), ("0.0", 0.0001), ("–", None)]
)
def test_a_change_has_a_sign(expected: str, delta: float | None) -> None:
    assert expected == units.signed_points(delta)


@pytest.mark.parametrize(
    ("expected", "seconds"),
    [
        ("1.5 s", 1.5),
        ("38 s", 38),
        ("2 min", 120),
        ("9 min 30 s", 570),
        ("42 min", 2520),
        ("3 h 20 min", 12000),
        ("24 h", 86400),
        ("2 d 4 h", 2 * 86400 + 4 * 3600 + 59),
        ("7 d", 7 * 86400),
    ],
)
def test_durations(expected: str, seconds: float) -> None:
    assert expected == spaced(units.duration(seconds))


def at(day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2026, 10, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expected", "start", "end"),
    [
        ("Mon 5 Oct 2026", at(5), at(6)),
        ("Mon 5 Oct – Sun 11 Oct 2026", at(5), at(12)),
        ("Mon 5 Oct 2026, 14:07:12 – 14:20:58", at(5, 14, 7, 12), at(5, 14, 20, 58)),
        ("Mon 5 Oct 2026, 22:00 – Tue 6 Oct, 03:30", at(5, 22), at(6, 3, 30)),
    ],
)
def test_periods(expected: str, start: datetime, end: datetime) -> None:
    assert expected == units.period(start, end)


def test_reasons_end_a_sentence() -> None:
    reasons = ["The peak is not known.", "MFU is not printed", "no step line"]
    assert [clause(reason) for reason in reasons] == [
        "the peak is not known",
        "MFU is not printed",
        "no step line",
    ]


def test_lists_and_text_alternatives() -> None:
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a"]) == "a"
    assert alternative("Bars", ["a 1", "b 2", "c 3"], most=2) == "Bars: a 1; b 2; and 1 more."
    assert alternative("Bars", []) == "Bars."


def test_marks_come_from_the_data_alone() -> None:
    assert marks_of([None, "", "no mark"]) == ()
    assert tuple(meaning[0] for meaning in marks_of(["¶†", None, "†"])) == ("†", "¶")


def test_text_of_logs_is_made_visible() -> None:
    assert visible("a\tb\x1b \u202ec") == "a b� �c"
    assert anchor("incident-a/b<script>.1") == "incident-a-b-script-.1"
    assert elide("short", 10) == "short"
    assert elide("abcdefghijklmnopqrstuvwxyz", 10) == "abcdef…xyz"
