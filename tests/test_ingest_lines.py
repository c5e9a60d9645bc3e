"""Bytes → lines → peeled lines: encodings, carriage returns, colours, prefixes of launchers."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.ingest.labels import find_labels
from pipeline.ingest.lines import build_frame, is_binary, read_lines
from pipeline.ingest.sample import lines_of

CONTENTS = {
    b"a\nb\n": ["a", "b"],
    b"a\nb": ["a", "b"],
    b"a\r\nb\r\n": ["a", "b"],
    b"\n\nx": ["", "", "x"],
    b"\xef\xbb\xbfa\n": ["a"],
    b"a\0\0b\n": ["ab"],
    b"\xffa\n\xe2\x82": ["\ufffda", "\ufffd"],
    b"": [],
    "a\x85b\x0bc\u2028d\n".encode(): ["a\x85b\x0bc\u2028d"],
}


@pytest.mark.parametrize("content", CONTENTS)
def test_lines_end_where_an_editor_says_so(content: bytes) -> None:
    assert CONTENTS[content] == read_lines(content).to_list()


BINARY = {
    b"\x7fELF\x02\x01": True,
    b"PAR1 anything": True,
    bytes(range(256)) * 4: True,
    b"\0" * 100: True,
    b"": False,
    b"iteration 1\n" * 10: False,
    b"good\n" * 10 + b"\0" * 4096 + b"good\n": False,
    "Schritt für Schritt ▇▇▇\n".encode() * 10: False,
    b"\x1b[31mred\x1b[0m\r\n" * 10: False,
}


@pytest.mark.parametrize("head", BINARY)
def test_a_file_that_is_no_text_is_recognised(head: bytes) -> None:
    assert BINARY[head] == is_binary(head)


#: Labels of the file that the lines below stand in.
LABELS = r"gx[0-9]+: |in_fp[0-9]+_mx/[0-9]+ |retraining/[0-9]+ "

PREFIXES: dict[str, tuple[str, int | None, str | None, str | None]] = {
    "3: [default5]:[rank29]: text": ("text", 29, None, None),
    "3: [default5]:text": ("text", 3, None, None),
    " 12: text": ("text", 12, None, None),
    "5:": ("", 5, None, None),
    "[default7]:  text": (" text", 7, None, None),
    "[trainer3]: text": ("text", 3, None, None),
    "[rank12-group_rank1-attempt0]:text": ("text", 12, None, None),
    "[1,12]<stdout>:text": ("text", 12, None, None),
    "Thu Jun  9 09:15:21 2026[1,2]<stdout>:text": ("text", 2, None, "Thu Jun  9 09:15:21 2026"),
    "[0] text": ("text", 0, None, None),
    "[20260822 10:15:04][rank-7/64][INFO]     [----------trainer.py:2110] :  text": (
        " text",
        7,
        None,
        "20260822 10:15:04",
    ),
    "[default3]:[20260822 10:15:04][ann/llm][pretrain   ][ip-10.1.0.4][rank-7/64][DEBUG]    text": (
        "text",
        7,
        None,
        "20260822 10:15:04",
    ),
    "[20251023 10:15:04][rank-7/64][INFO ] [--------trainer.py:2382] :  text": (
        " text",
        7,
        None,
        "20251023 10:15:04",
    ),
    "in_fp8_mx/0 Step Time : 9.09s": ("Step Time : 9.09s", None, None, None),
    "retraining/0 [default0]:Training epoch 0": ("Training epoch 0", 0, None, None),
    "reads/3 files are open": ("reads/3 files are open", None, None, None),
    "[20260822 10:15:04][rank-7][INFO] text": ("[20260822 10:15:04][rank-7][INFO] text", None, None, None),
    "[pod/heron-0/main] 2026-03-01T10:11:12.123456789Z text": (
        "text",
        None,
        "heron-0",
        "2026-03-01T10:11:12.123456789Z",
    ),
    "2026-03-01T10:11:12.1+00:00 stdout F [rank1]: text": ("text", 1, None, "2026-03-01T10:11:12.1+00:00"),
    "\x1b[36m(WorkerDict pid=19740, ip=10.0.0.7)\x1b[0m text": ("text", None, "10.0.0.7", None),
    "stdout: text": ("text", None, None, None),
    "10.1.2.3: text": ("text", None, "10.1.2.3", None),
    "gx017: [2026-01-01 00:00:00] text": ("[2026-01-01 00:00:00] text", None, "gx017", None),
    "gx017: 2026-01-01 00:00:00,100 - text": ("2026-01-01 00:00:00,100 - text", None, "gx017", None),
    "gx017:  [2026-01-01 00:00:00] text": (" [2026-01-01 00:00:00] text", None, "gx017", None),
    "gx017: [default1]:[rank9]: text": ("text", 9, "gx017", None),
    "gx017:  loading checkpoint from /c": (" loading checkpoint from /c", None, "gx017", None),
    "gx017:     load-checkpoint ......: (1.0, 2.0)": (
        "    load-checkpoint ......: (1.0, 2.0)",
        None,
        "gx017",
        None,
    ),
    "gx017: using world size: 16, data": ("using world size: 16, data", None, "gx017", None),
    "3: gx017: [rank9]: text": ("text", 9, "gx017", None),
    "gx017: anything at all": ("anything at all", None, "gx017", None),
    # A label stands there once: what follows is of the line.
    "gx017: gx018: unreachable": ("gx018: unreachable", None, "gx017", None),
    # No prefix: the words of ordinary lines.
    "rank: 0": ("rank: 0", None, None, None),
    "step1: warming up": ("step1: warming up", None, None, None),
    "srun: error: gx017": ("srun: error: gx017", None, None, None),
    "12:34:56 text": ("12:34:56 text", None, None, None),
    "[371022.480117] NVRM": ("[371022.480117] NVRM", None, None, None),
    "gx017: {'loss': 2.5}": ("{'loss': 2.5}", None, "gx017", None),
    "gx017:  42%|####": (" 42%|####", None, "gx017", None),
    "gx017: step:29/400 train_time:54ms": ("step:29/400 train_time:54ms", None, "gx017", None),
    "gx017: (TaskRunner pid=71) step:2 - loss:1": ("step:2 - loss:1", None, "gx017", None),
    "gx017:     dp=2": ("    dp=2", None, "gx017", None),
    "epoch2: done": ("epoch2: done", None, None, None),
    "phase1: steps of 5": ("phase1: steps of 5", None, None, None),
    # Torn: what is left of it stays in the text.
    "3: [defau": ("[defau", 3, None, None),
    "ault5]:text": ("ault5]:text", None, None, None),
}


@pytest.mark.parametrize("line", PREFIXES)
def test_prefixes_are_peeled_and_told(line: str) -> None:
    frame = build_frame(pl.Series([line]), 1, LABELS)
    assert PREFIXES[line] == frame.select("text", "rank", "host", "stamp").row(0)


SAVES = ("saving checkpoint at iteration 10 to /c", "  successfully saved checkpoint from iteration 10 to /c")
#: Lines of a file, and the expression for the names that label them.
FILES: dict[tuple[str, ...], str] = {
    tuple(f"gx{host}: {text}" for host in (17, 18) for text in SAVES): r"gx[0-9]+: ",
    # Among lines that bear none, behind another prefix, and before lines that nobody knows as well.
    ("text", *(f"3: gx017: {text}" for text in SAVES), "gx018: text"): r"gx[0-9]+: ",
    tuple(f"ip-10-1-2-3.heron: {text}" for text in SAVES): r"ip\-[0-9]+\-[0-9]+\-[0-9]+\-[0-9]+\.heron: ",
    tuple(f"retraining/0 {text}" for text in SAVES): r"retraining/[0-9]+ ",
    # Once, but before another prefix: the error stream of a job whose output is in another file.
    (f"gx017: [rank9]: {SAVES[0]}", "text"): r"gx[0-9]+: ",
    # Once, but before the head of a program's line: no other line of this stream is one of a rank.
    (
        "gx017: [2026-10-05 00:32:08,714] [WARNING] [RankMonitorServer-7] [Cycle 0] Did not get subsequent"
        " heartbeat. Waited 180.00 seconds.",
        "slurmstepd: error: *** STEP 95000.0 ON gx016 CANCELLED AT 2026-10-05T00:33:56 DUE TO TASK FAILURE"
        " ***",
        "srun: error: gx[016-017]: tasks 0-15: Terminated",
    ): r"gx[0-9]+: ",
    # A start that was killed: its first line proves its program, and its second one is cut.
    (
        "gx017: [2026-10-04T20:05:16.241503] [40021] [66dd47] [AtorchTrainerV2] [#start] [INSTANT] {}",
        "gx017: [2026-10-04 20:05:16,242] [INFO] [training.py:830:_rende",
        "srun: error: Node failure on gx116",
    ): r"gx[0-9]+: ",
    # Again and again, but before lines that no program is known to print without it.
    ("psnr_1: 20.5", "psnr_1: 21.5", "psnr_1: [1, 2]"): "",
    # Known, but once.
    (f"stage1: {SAVES[0]}", "stage1: text", f"stage2: {SAVES[1]}"): "",
    # As a program begins its lines, which is known of it.
    (
        "slurmstepd-gx001: error: *** JOB 881200 ON gx001 CANCELLED AT 2026-10-05T20:22:50 ***",
        "slurmstepd-gx001: error: *** STEP 881200.0 ON gx001 CANCELLED AT 2026-10-05T20:22:50 ***",
    ): "",
    # A date.
    tuple(f"08/21 {text}" for text in SAVES): "",
    # Words of ordinary lines.
    tuple(f"rank: {text}" for text in SAVES): "",
}


@pytest.mark.parametrize("lines", FILES, ids=lambda lines: lines[0][:20])
def test_labels_are_told_by_the_lines_that_they_stand_before(lines: tuple[str, ...]) -> None:
    others = pl.Series(["another file", *SAVES])
    found = find_labels(lines_of([others, pl.Series(lines), others]), 3)
    assert ["", FILES[lines], ""] == found


def test_what_is_glued_to_the_line_of_a_logger_has_not_its_prefix() -> None:
    line = "[20260822 10:15:04][rank-7/64][INFO] [--trainer.py:2] : iter\rTraceback (most recent call last):"
    other = "3: iter\rTraceback (most recent call last):"
    frame = build_frame(pl.Series([line, other]), 1)
    told = frame.select("text", "rank", "stamp").rows()
    assert told == [
        ("iter", 7, "20260822 10:15:04"),
        ("Traceback (most recent call last):", None, None),
        ("iter", 3, None),
        ("Traceback (most recent call last):", 3, None),
    ]


@pytest.mark.parametrize(
    ("line", "uncaught"),
    [
        # PyTorch's hook of exceptions that nothing caught puts a blank behind its prefix, a launcher none.
        ("[rank11]: ValueError: no rows", True),
        (" 1: [default3]:[rank11]: ValueError: no rows", True),
        ("[rank0]:[rank0]: ValueError: no rows", True),
        ("[rank11]:ValueError: no rows", None),
        ("[default3]: ValueError: no rows", None),
        ("[rank3]: [default3]:ValueError: no rows", None),
        ("[rank3]:[E302 10:16:08.000000000 ProcessGroupNCCL.cpp:684] stopped", None),
        ("ValueError: no rows", None),
    ],
)
def test_an_exception_that_nothing_caught_is_told_by_the_hook_that_prints_it(
    line: str, uncaught: bool | None
) -> None:
    assert build_frame(pl.Series([line]), 1)["uncaught"].to_list() == [uncaught]


@pytest.mark.parametrize(
    ("line", "rank", "task"),
    [
        # Whether a task is a rank, or holds several, its number does not tell.
        ("5: ValueError: no rows", 5, 5),
        ("5: [default1]:ValueError: no rows", 5, 5),
        ("[1,5]<stderr>:ValueError: no rows", 5, 5),
        ("5: [default1]:[rank21]: ValueError: no rows", 21, None),
        ("[rank5]: ValueError: no rows", 5, None),
        ("[default5]:ValueError: no rows", 5, None),
        ("ValueError: no rows", None, None),
    ],
)
def test_a_rank_that_only_the_number_of_a_task_tells_is_marked(
    line: str, rank: int | None, task: int | None
) -> None:
    assert build_frame(pl.Series([line]), 1).select("rank", "task").row(0) == (rank, task)


def test_a_line_is_split_where_a_progress_bar_returns() -> None:
    lines = pl.Series(["3: 10%|#\r 20%|##\r[2026-01-01 00:00:00] iteration 7\r", "whole\r"])
    frame = build_frame(lines, 7)
    assert frame.select("line", "segment", "text", "rank").rows() == [
        (7, 0, "10%|#", 3),
        (7, 1, " 20%|##", 3),
        (7, 2, "[2026-01-01 00:00:00] iteration 7", 3),
        (8, 0, "whole", None),
    ]


def test_what_is_printed_behind_a_progress_bar_is_a_line_of_its_own() -> None:
    lines = pl.Series(
        ["50%|#| 2/4 [00:02<00:02,  1.00s/it][INFO] saved", "9%|#| 1/9 [00:01<00:08, 1.0it/s, a=1]b"]
    )
    assert build_frame(lines, 1).select("line", "segment", "text").rows() == [
        (1, 0, "50%|#| 2/4 [00:02<00:02,  1.00s/it]"),
        (1, 1, "[INFO] saved"),
        (2, 0, "9%|#| 1/9 [00:01<00:08, 1.0it/s, a=1]"),
        (2, 1, "b"),
    ]


def test_an_inner_bar_is_told_by_the_cursor_that_goes_up_behind_it() -> None:
    lines = pl.Series(["9%|#| 1/9 [00:01<00:08, 1.0it/s]\x1b[A", "9%|#| 1/9 [00:01<00:08, 1.0it/s][A"])
    assert build_frame(lines, 1)["text"].to_list() == ["9%|#| 1/9 [00:01<00:08, 1.0it/s][A"] * 2


def test_colours_are_removed_wherever_they_stand() -> None:
    frame = build_frame(pl.Series(["\x1b[31mstep:\x1b[0m 1\x1b[K", "\x1b]0;title\x07text\x1b[I"]), 1)
    assert frame["text"].to_list() == ["step: 1", "text"]
