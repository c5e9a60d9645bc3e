"""No sample, no format: every pattern is matched by a sample, every sample line by exactly one pattern."""

from __future__ import annotations

import re

import polars as pl
import pytest

from pipeline.formats import check_format, registry
from pipeline.formats.format import Format, Head, Pattern, Value
from pipeline.ingest.glue import split_glued, split_glued_to_words
from tests.golden import FOLDER, match_sample, read_lines, render_events, samples

FORMATS = list(registry().values())
if not FORMATS:
    pytest.skip("no format is registered", allow_module_level=True)
each_format = pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)


def matched(fmt: Format, stem: str) -> list[tuple[str, pl.Series, pl.DataFrame, list[int]]]:
    """Return for each file name, lines, matches, and bad lines."""
    found = [(path.name, read_lines(path)) for path in samples(fmt.name, stem)]
    return [
        (name, lines, result.matches, result.torn.to_list())
        for name, lines in found
        for result in [match_sample(fmt, lines)]
    ]


@each_format
def test_a_registered_format_breaks_no_rule(fmt: Format) -> None:
    assert list(check_format(fmt)) == []


@each_format
def test_every_pattern_is_matched_by_a_sample(fmt: Format) -> None:
    expected = {pattern.name for pattern in fmt.patterns}
    seen = {name for _, _, matches, _ in matched(fmt, "sample") for name in matches["pattern"]}
    assert sorted(expected - seen) == []


@each_format
def test_every_sample_line_is_matched_by_exactly_one_pattern(fmt: Format) -> None:
    wrong = []
    for name, lines, matches, bad in matched(fmt, "sample"):
        assert bad == [], f"{name}: lines claimed and not read"
        counts = dict(
            matches.group_by("line").agg(pl.len(), pl.col("pattern")).select("line", "pattern").iter_rows()
        )
        if fmt.shape in ("csv", "columns", "document", "trace"):
            # A record may tell several things: each column of a wide table, a state and its conditions.
            known = set(match_sample(fmt, lines).known)
            wrong += [
                f"{name}:{line}: {text}"
                for line, text in enumerate(lines.to_list(), start=1)
                if text.strip() and line not in known
            ]
        elif fmt.shape in ("lines", "records"):
            # A line of a step may tell its parts too, and a measurement its rate.
            beside = {p.name for p in fmt.patterns if p.beside}
            wrong += [
                f"{name}:{line}: {found}: {text}"
                for line, text in enumerate(lines.to_list(), start=1)
                for found in [counts.get(line, [])]
                if text.strip()
                and (not found or len(set(found) - beside) > 1 or len(found) > len(set(found)))
            ]
        else:
            # A document may be one line, with all its records.
            found = {line: set(names) if fmt.shape == "document" else names for line, names in counts.items()}
            wrong += [f"{name}:{line}: {names}" for line, names in found.items() if len(names) != 1]
    assert wrong == []


@each_format
def test_lookalikes_are_matched_by_no_pattern(fmt: Format) -> None:
    assert samples(fmt.name, "not_this"), "a format needs lines that look like it and are not"
    for name, lines, matches, _ in matched(fmt, "not_this"):
        assert len(lines.filter(lines.str.contains(r"\S"))) >= 3, f"{name}: at least three lookalikes"
        assert [f"{name}:{line}: {pattern}" for line, pattern in matches.iter_rows()] == []


@each_format
def test_every_head_begins_a_line_of_a_sample_and_is_found_behind_another_line(fmt: Format) -> None:
    """The other lines are cut in a word, at the end of a field, and behind the head of another line."""
    lines = [text for path in samples(fmt.name, "sample") if fmt.heads for text in read_lines(path)]
    for head in fmt.heads:
        own = [text for text in lines if re.search(rf"^(?:\[\w+\] )?(?:{head.regex})", text)]
        assert own, f"no line of a sample begins with `{head.regex}`"
        begin, line = "3: step: 4 | lr: 1.0E-04 | ", own[0].removeprefix("[titan] ")
        others = {
            "words": [f"{begin}grad_norm: "],
            "cut": [f"{begin}lo"],
            "twin": [f"{own[0]} step 4/9 lo", f"{own[0]} step 4/9 | "],
        }
        for cut in others.get(head.behind, [begin]):
            glued = pl.DataFrame({"line": [1], "text": [cut + line]})
            split = split_glued if head.behind in ("any", "message") else split_glued_to_words
            apart = split(glued)["text"][0]
            assert line == apart.rpartition("\r")[2], cut


@each_format
def test_golden_events(fmt: Format) -> None:
    """`make golden` rewrites them; read the difference line by line."""
    assert (FOLDER / fmt.name / "events.jsonl").read_text(encoding="utf-8") == render_events(fmt)


def test_what_makes_steps_says_what_their_time_includes_and_each_format_its_versions() -> None:
    steps = {fmt.name: fmt.step_time for fmt in FORMATS if any(p.table == "steps" for p in fmt.patterns)}
    assert len(steps) > 40
    assert [name for name, text in steps.items() if not text] == []
    assert [fmt.name for fmt in FORMATS if not fmt.versions] == []


def test_every_folder_of_samples_belongs_to_a_format() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} <= set(registry())


def a_format(**changes: object) -> Format:
    values: dict[str, object] = {
        "name": "heron",
        "title": "t",
        "link": "l",
        "role": "trainer",
        "patterns": (
            Pattern("step", "steps", {"step_last": Value("n", "int")}, ("step ",), r"step (?P<n>\d+)"),
        ),
    }
    return Format(**(values | changes))  # type: ignore[arg-type]


def a_pattern(**changes: object) -> Format:
    values: dict[str, object] = {
        "name": "step",
        "table": "steps",
        "literals": ("step ",),
        "regex": r"step (?P<n>\d+)",
    }
    return a_format(patterns=(Pattern(**(values | changes)),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fmt", "problem"),
    [
        (a_pattern(table="stepz"), "no event table `stepz`; did you mean `steps`?"),
        (a_pattern(table="sources"), "no event table `sources`"),
        (
            a_pattern(columns={"step_lost": Value("n")}),
            "`steps` has no column `step_lost`; did you mean `step_last`?",
        ),
        (a_pattern(columns={"loss": Value("m")}), "no group `m`"),
        (a_pattern(regex="(?=step)"), "look-around"),
        (a_pattern(regex=""), "needs a regular expression"),
        (a_pattern(literals=()), "needs literals"),
        (a_pattern(literals=("",)), "needs literals"),
        (a_pattern(extras={"loss": (r"loss (?P<x>\d)", Value())}), "exactly one group, named `v`"),
        (a_format(heads=(Head(r"\[step (\d+)\] ", "cut"),)), "only groups that take nothing"),
        (a_format(heads=(Head(r"^step ", "cut"),)), "no anchor helps"),
        (a_format(heads=(Head(r"(?:step ", "cut"),)), "does not compile"),
        (a_format(deciding=("stop",)), "deciding pattern `stop` does not exist"),
        (a_format(patterns=a_format().patterns * 2), "two patterns are called `step`"),
    ],
)
def test_the_registry_refuses(fmt: Format, problem: str) -> None:
    assert problem in "\n".join(check_format(fmt))


def test_the_registry_accepts_a_format_without_problems() -> None:
    assert list(check_format(a_format())) == []
