"""The fast way through a chunk finds what every pattern alone finds, and accounts for every line."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.formats.format import Format, Pattern, Value
from pipeline.ingest.glue import split_glued_to_words
from pipeline.ingest.lines import read_lines as content_lines
from pipeline.ingest.match import match_format
from pipeline.ingest.peel import strip_escapes
from pipeline.ingest.rules import Rule, RuleSet, alternation, rules_for
from pipeline.ingest.scan import Scanner
from pipeline.ingest.signals import CATALOGUE, Signal, fold_signals, limit_signals
from tests.golden import label_of, read_lines, samples

LINE_FORMATS = [fmt for fmt in registry().values() if fmt.shape == "lines" and samples(fmt.name)]
STEP = Pattern(
    "step", "steps", {"step_last": Value("n", "int")}, ("step ",), r"step (?P<n>\d+)/", unique=True
)
NOTE = Pattern("note", "", {}, ("note: ", "step "), r"^note: ")
SAVE = Pattern(
    "save",
    "checkpoints",
    {"op": Value(const="save"), "step": Value("n", "int")},
    ("saved ",),
    r"saved (?P<n>\d+)",
)
HERON = Format("heron", "t", "l", "trainer", (STEP, NOTE, SAVE))
SIGNALS = (
    Signal("specific", "fault", r"fault (?P<xid>\d+) waited (?P<ran_ms>\d+) ms", 2),
    Signal("general", "fault", r"fault", 5),
    Signal("exception_line", "Error", r"\w+Error: ", 1),
    Signal("own", "HeronError", r"HeronError: rank (?P<rank>\d+)", 7),
)


def scanner(*signals: Signal) -> Scanner:
    return Scanner(RuleSet((Rule(HERON, pattern) for pattern in HERON.patterns), signals))


def distinct(lines: pl.Series) -> list[int]:
    return lines.unique().sort().to_list()


@pytest.mark.parametrize("fmt", LINE_FORMATS, ids=lambda fmt: fmt.name)
def test_scanning_finds_what_each_pattern_finds(fmt: Format) -> None:
    noise = pl.Series([f"rank noise {number}" for number in range(50)])
    for path in samples(fmt.name):
        sample = strip_escapes(read_lines(path).alias(""))
        lines = pl.concat([sample, noise, sample])
        label = label_of(sample)
        expected = match_format(fmt, lines, label)
        scanner_of_format = Scanner(RuleSet((Rule(fmt, pattern) for pattern in fmt.patterns), ()), label)
        scanner_of_format.scan(lines)
        found = scanner_of_format.scan(lines)
        assert expected.known.to_list() == distinct(found.known)
        assert expected.torn.to_list() == sorted({*found.torn} - {*found.known})
        assert list(expected.tables) == list(found.tables)
        for table, rows in expected.tables.items():
            assert rows.equals(found.tables[table]), table


def test_every_line_has_one_state() -> None:
    lines = pl.Series(["step 1/9", "step 2", "note: step 3", "noise", "", "saved 1", "note: none"])
    found = scanner().scan(lines)
    assert distinct(found.known) == [1, 3, 6, 7]
    assert found.torn.to_list() == [2]
    assert found.tables["steps"]["step_last"].to_list() == [1]


def test_a_line_of_several_segments_is_known_if_one_of_them_is() -> None:
    found = scanner().scan(pl.Series(["10%\rsaved 1\r20%\rsaved 2"]))
    assert distinct(found.known) == [1]
    assert found.tables["checkpoints"].select("line", "segment", "step").rows() == [(1, 1, 1), (1, 3, 2)]


def test_what_is_glued_to_a_step_line_is_a_line_of_its_own() -> None:
    lines = pl.Series(
        ["3: step 4/9 losslurmstepd: error: saved 1", "step 5/9 [rank2]:[E1 HeronError: rank 2"]
    )
    lines = pl.concat(
        [lines, pl.Series(["note: of a sosrun: error: saved 2", "3: slurmstepd: error: saved 3"])]
    )
    tables = scanner(SIGNALS[3]).scan(lines).tables
    assert tables["steps"].select("line", "step_last", "rank").rows() == [(1, 4, 3), (2, 5, None)]
    saves = tables["checkpoints"].select("line", "segment", "step", "rank").rows()
    assert saves == [(1, 1, 1, 3), (3, 1, 2, None), (4, 0, 3, 3)]
    assert tables["signals"].select("line", "segment", "signal_id").rows() == [(2, 1, "own")]


@pytest.mark.parametrize(
    "head",
    [
        "3: step 4/9 lo",
        "3: step 4/9 lm loss: ",
        "step 4/9 | lr: 0.1 | global_batch: ",
        "[titan] 2026-10-05 01:28:47,346 ",
        "[titan] 2026-10-05 01:28:47,346 - root - INFO - ",
        "Running with args: {'job': {'a': 1}, 'metrics'",
        "Running with args: {'metrics': ",
        'epoch 1 | {"update": 0.988, "ups":',
        "- root - INFO - validate step: 100  ",
        "[2026-10-05T01:28:47.934592] [40007] [7f80e7] [AsyncSaver] [#persist_ckpt] [END] ",
    ],
)
def test_a_line_may_be_cut_anywhere_before_what_is_glued_to_it(head: str) -> None:
    saves = scanner().scan(pl.Series([f"{head}[rank2]:[E1 saved 1"])).tables["checkpoints"]
    assert saves.select("segment", "step", "rank").rows() == [(1, 1, 2)]


@pytest.mark.parametrize(
    "prefix",
    [
        "3: ",
        "gx101: ",
        "[default2]:",
        "[default2]: ",
        "[12] ",
        "[pod/heron-0/pytorch] ",
        "[1,2]<stdout>:",
        "2026-10-05T01:28:47Z ",
    ],
)
def test_a_prefix_is_no_line_that_was_cut(prefix: str) -> None:
    saves = scanner().scan(pl.Series([f"{prefix}[rank2]:[E1 saved 1"])).tables["checkpoints"]
    assert saves.select("segment", "step").rows() == [(0, 1)]


def test_what_a_logger_says_is_of_its_line() -> None:
    head = "[2026-10-05 01:28:47,346] [ERROR] "
    lines = pl.Series([f"{head}Traceback (most recent call last)"])
    assert (
        split_glued_to_words(pl.DataFrame({"line": [1], "text": lines}))["text"].to_list() == lines.to_list()
    )


def test_a_step_line_that_holds_the_stamp_of_another_line_was_cut() -> None:
    lines = pl.Series(
        [
            "step 4/9 | lr: 1 [2026-10-05 00:38:43] saved 1",
            "step 4/9 | global ba[2026-10-05 00:18:31,465] [WARNING] saved 2",
            "[2026-10-05 00:38:43] step 5/9 | lr: 1",
            "step 6/9 | lr: 1 | re[NeMo I 2026-10-05 00:38:44 nemo_logger:145] saved 3",
        ]
    )
    tables = scanner().scan(lines).tables
    saves = tables["checkpoints"]
    assert saves.select("line", "segment", "step").rows() == [(1, 1, 1), (2, 1, 2), (4, 1, 3)]
    assert saves["ts_raw"].to_list() == [
        "2026-10-05 00:38:43",
        "2026-10-05 00:18:31,465",
        None,
    ]
    assert tables["steps"].select("line", "segment").rows() == [(1, 0), (2, 0), (3, 0), (4, 0)]


def test_a_line_of_a_logger_that_holds_the_head_of_another_one_was_cut() -> None:
    heads = [
        "[2026-10-05 00:38:43,100] [INFO] ",
        "2026-10-05 00:38:43,100 - heron.loop - INFO - ",
        "2026-10-05 00:38:43 | INFO | heron.loop | ",
    ]
    ray = "2026-10-05 00:38:43,100\tINFO worker.py:1841 -- "
    found = scanner().scan(pl.Series([f"(TaskRunner pid=4) step 4/9 - los{ray}saved 1", f"{ray}saved 2"]))
    assert found.tables["checkpoints"].select("line", "segment").rows() == [(1, 1), (2, 0)]
    cut = [f"3: {head}step 4/9 avera{head}step 4/9 av{head}saved 1" for head in heads]
    tables = scanner().scan(pl.Series([*cut, f"3: {heads[0]}saved 2"])).tables
    saves = tables["checkpoints"].select("line", "segment", "step", "rank")
    assert saves.rows() == [(1, 2, 1, 3), (2, 2, 1, 3), (3, 2, 1, 3), (4, 0, 2, 3)]
    assert saves.height == tables["checkpoints"]["ts"].count()
    assert tables["steps"]["line"].to_list() == [1, 1, 2, 2, 3, 3]


def test_what_is_glued_to_a_progress_bar_is_a_line_of_its_own() -> None:
    tables = (
        scanner().scan(pl.Series(["9%|#| 1/9 [00:01<00:08, 1.0it/s]step 4/9 loss"]), several=False).tables
    )
    assert tables["steps"].select("line", "segment", "step_last").rows() == [(1, 1, 4)]


def test_the_last_words_of_a_process_are_a_line_of_their_own() -> None:
    said = "terminate called after throwing an instance of saved 1"
    lines = pl.Series([f"step 4/9 | lr: 1.0E-04 {said}", f"3: {said}", f"2026-10-05T01:28:47Z {said}"])
    saves = scanner().scan(lines).tables["checkpoints"]
    assert saves.select("line", "segment", "rank").rows() == [(1, 1, None), (2, 0, 3), (3, 0, None)]


def test_a_colour_that_was_cut_off_takes_nothing_of_what_is_glued_to_it() -> None:
    lines = content_lines(b"- root - INFO - \x1b[33mvalidate step: 100  \x1b[rank2]:[E1 saved 1")
    saves = scanner().scan(lines).tables["checkpoints"]
    assert saves.select("segment", "step", "rank").rows() == [(1, 1, 2)]


def test_colours_inside_a_literal_do_not_hide_a_line() -> None:
    found = scanner().scan(content_lines(b"sa\x1b[31mved\x1b[0m 7"))
    assert found.tables["checkpoints"]["step"].to_list() == [7]


def test_the_most_specific_signal_of_a_line_counts() -> None:
    signals = tuple(sorted(SIGNALS, key=lambda signal: (signal.fallback, signal.causal_rank)))
    lines = pl.Series(
        ["fault 79 waited 1500 ms", "fault", "HeronError: rank 3", "OtherError: x", "step 5/9 fault"]
    )
    rows = scanner(*signals).scan(lines).tables["signals"]
    assert rows["signal_id"].to_list() == ["specific", "general", "own", "exception_line"]
    assert rows["code"].to_list() == ["79", None, None, None]
    assert rows["waited_s"].to_list() == [1.5, None, None, None]
    assert rows["fault_rank"].to_list() == [None, None, 3, None]
    assert rows["text"][0] == "fault 79 waited 1500 ms"


def test_rows_of_a_signal_beyond_the_limit_are_folded() -> None:
    found = scanner(SIGNALS[1]).scan(pl.Series([f"fault {number}" for number in range(7)]))
    kept: dict[str, int] = {}
    first, beyond = limit_signals(found.tables["signals"].head(4), kept, 5)
    second, more = limit_signals(found.tables["signals"].tail(3), kept, 5)
    folded = fold_signals([beyond, more])
    assert folded is not None
    assert [first.height, second.height] == [4, 1]
    assert folded.select("signal_id", "line", "repeats", "last_line", "text").rows() == [
        ("general", 6, 2, 7, "fault 5")
    ]


def test_patterns_of_another_trainer_do_not_fire() -> None:
    for name in ("megatron", "torchtitan", "unknown"):
        primary = {rule.fmt.name for rule in rules_for(name).rules if rule.fmt.primary}
        assert primary == {name} - {"unknown"}


def test_a_head_stamp_serves_what_prints_none_itself() -> None:
    lines = pl.Series(["[2026-10-05 03:00:00] fault", "2026-10-05T03:00:01.5+02:00 stdout F fault"])
    rows = scanner(SIGNALS[1]).scan(lines).tables["signals"]
    assert rows["ts_quality"].to_list() == ["zone_assumed", "logged"]
    assert rows["ts_raw"].to_list() == ["2026-10-05 03:00:00", "2026-10-05T03:00:01.5+02:00"]


def test_literals_that_a_shorter_one_covers_change_nothing() -> None:
    twice = replace(SAVE, name="twice", literals=("saved 1", "ved 2"), regex=r"saved [12]$", columns={})
    rules = RuleSet([Rule(HERON, replace(twice, table="")), Rule(HERON, SAVE)], ())
    found = Scanner(rules).scan(pl.Series(["saved 1", "saved 2", "saved 3"]))
    assert distinct(found.known) == [1, 2, 3]
    assert found.tables["checkpoints"]["step"].to_list() == [3]


def test_chatter_is_known_and_asked_no_more() -> None:
    chatty = replace(HERON, chatter=("chatter ",))
    rules = RuleSet((Rule(chatty, pattern) for pattern in chatty.patterns), SIGNALS[1:2])
    lines = pl.Series(
        ["chatter fault", "fault", "chatter step 7/9", "chatter\rsaved 3", "chatter 5\rsaved 4"]
    )
    found = Scanner(rules).scan(lines)
    assert distinct(found.known) == [1, 2, 3, 4, 5]
    assert found.tables["signals"]["line"].to_list() == [2]
    assert found.tables["steps"]["step_last"].to_list() == [7]
    assert found.tables["checkpoints"]["step"].to_list() == [3, 4]


def test_no_signal_and_no_row_hides_in_chatter() -> None:
    chatter = [literal for fmt in registry().values() for literal in fmt.chatter]
    examples = pl.read_csv(CATALOGUE, infer_schema=False)["example"].fill_null("")
    for literal in chatter:
        assert not examples.str.contains(literal, literal=True).any(), literal
    for fmt in LINE_FORMATS:
        for path in samples(fmt.name):
            lines = read_lines(path)
            rows = [table["line"].to_list() for table in match_format(fmt, lines).tables.values()]
            texts = lines.gather(sorted({line - 1 for found in rows for line in found}))
            assert not texts.str.contains(alternation(chatter)).any(), fmt.name
