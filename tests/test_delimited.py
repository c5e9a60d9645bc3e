"""Delimited tables: any delimiter, values that hold it, records over several lines, and torn rows."""

from random import Random

import polars as pl
import pytest

from pipeline.formats.slurm_sacct import FORMAT
from pipeline.ingest.delimited import Delimited, parse_header, read_delimited

HEADER = "JobIDRaw|JobID|JobName|State|Start|End|NNodes|AllocTRES|NodeList"
ROW = "7101|7101|heron-70b|FAILED|2026-10-05T08:14:02|2026-10-05T09:00:00|2|gres/gpu=16,node=2|gx[001-002]"


def read(*lines: str) -> Delimited:
    return read_delimited(pl.Series(lines, dtype=pl.String), FORMAT)


def cells(table: Delimited, *columns: str) -> list[tuple[object, ...]]:
    return table.fields.select(columns).rows()


@pytest.mark.parametrize("delimiter", ["|", "|#", "\x1f", "\t", "^", "☃", ";", "||", ","])
@pytest.mark.parametrize("trailing", [False, True])
def test_finds_the_delimiter_in_the_header(delimiter: str, trailing: bool) -> None:
    lines = [text.replace("|", delimiter) + delimiter * trailing for text in (HEADER, ROW)]
    table = read(*lines)
    expected = [("7101", "heron-70b", "FAILED", "gres/gpu=16,node=2", "gx[001-002]")]
    assert expected == cells(table, "job", "JobName", "state", "AllocTRES", "NodeList")
    assert (table.header_lines, table.bad_lines) == ([1], [])


def test_names_come_in_any_case_and_order() -> None:
    table = read("STATE|nnodes|jobid|start", "COMPLETED|4|12|2026-01-01T00:00:00")
    assert cells(table, "job", "state", "NNodes", "Start") == [
        ("12", "COMPLETED", "4", "2026-01-01T00:00:00")
    ]


@pytest.mark.parametrize(
    "line",
    [
        "JobID           JobName      State    ExitCode",  # fixed width: values are cut
        "JobID|Colour|Shape",
        "JOBID|PARTITION|NAME|USER|STATE|TIME|NODES",  # squeue
        "7101|heron-70b|FAILED",
        "epoch,step,loss",
        "",
    ],
)
def test_is_not_a_header(line: str) -> None:
    assert parse_header(line, FORMAT) is None


def test_a_delimiter_inside_a_name_is_put_back() -> None:
    torn = ROW.replace("heron-70b", "a|b|c")
    table = read(HEADER, torn, ROW)
    assert cells(table, "line", "JobName", "state") == [(2, "a|b|c", "FAILED"), (3, "heron-70b", "FAILED")]
    assert table.bad_lines == []


def test_a_line_break_inside_a_comment_is_one_record() -> None:
    header = HEADER.replace("JobName|", "JobName|Comment|")
    first, rest = ROW.replace("heron-70b|", "heron-70b|code at\n/opt/x|").split("\n")
    table = read(header, first, rest, ROW.replace("heron-70b|", "heron-70b||"))
    assert cells(table, "line", "last_line", "NodeList") == [(2, 3, "gx[001-002]"), (4, 4, "gx[001-002]")]
    assert table.bad_lines == []


def test_two_free_columns_in_doubt_are_null_and_the_others_stand() -> None:
    header = HEADER.replace("JobName|", "JobName|Comment|")
    table = read(header, ROW.replace("heron-70b|", "a|b|c|"))
    assert cells(table, "JobName", "state", "NNodes") == [(None, "FAILED", "2")]


def test_a_torn_row_is_bad_and_takes_nothing_from_its_neighbours() -> None:
    table = read(HEADER, "7100|7100|heron", ROW, "7102|7102|x|RUNN")
    assert cells(table, "job", "state") == [("7101", "FAILED")]
    assert table.bad_lines == [2, 4]


def test_two_torn_rows_do_not_make_one() -> None:
    table = read(HEADER, "7100|7100|her", ROW.replace("heron-70b", "a|b"), "7102|7102|n")
    assert cells(table, "job", "JobName") == [("7101", "a|b")]
    assert table.bad_lines == [2, 4]


def test_a_shifted_row_is_bad() -> None:
    table = read(HEADER, ROW.replace("FAILED|", ""), ROW.replace("FAILED", "failed after|all"))
    assert cells(table, "job") == []
    assert table.bad_lines == [2, 3]


def test_rows_may_end_with_a_delimiter_where_the_header_does_not() -> None:
    table = read(HEADER, ROW + "|", ROW.replace("heron-70b", "a|b") + "|")
    assert cells(table, "JobName", "NodeList") == [("heron-70b", "gx[001-002]"), ("a|b", "gx[001-002]")]


def test_a_row_without_the_last_delimiter_is_torn_where_the_header_has_it() -> None:
    table = read(HEADER + "|", ROW, ROW + "|")
    assert (cells(table, "line"), table.bad_lines) == ([(3,)], [2])


def test_exports_put_behind_each_other_have_their_own_headers() -> None:
    table = read("notice: cluster heron", HEADER, ROW, "", "State|JobID|Start", "COMPLETED|8|Unknown")
    assert cells(table, "line", "job", "state") == [(3, "7101", "FAILED"), (6, "8", "COMPLETED")]
    assert table.header_lines == [2, 5]


def test_a_part_without_header_is_read_with_that_of_the_file() -> None:
    header = parse_header(HEADER, FORMAT)
    table = read_delimited(pl.Series([ROW]), FORMAT, header)
    assert cells(table, "line", "job") == [(1, "7101")]


@pytest.mark.parametrize(
    ("job", "raw", "expected"),
    [
        ("7101", "7101", ("7101", None)),
        ("7090_7", "7101", ("7101", None)),
        ("7090_7", "", ("7090_7", None)),
        ("7100+1", "", ("7100+1", None)),
        ("7090_[8-31%4]", "", ("7090", None)),
        ("7101.batch", "7101.batch", (None, "batch")),
        ("7101.0+1", "", (None, "0+1")),
        ("7090_7.extern", "7101.extern", (None, "extern")),
    ],
)
def test_tells_jobs_from_steps(job: str, raw: str, expected: tuple[str | None, str | None]) -> None:
    header, ids = ("JobID|JobIDRaw", f"{job}|{raw}") if raw else ("JobID", job)
    table = read(f"{header}|State|Submit", f"{ids}|COMPLETED|2026-01-01T00:00:00")
    assert [expected] == cells(table, "job", "step")


def test_cancelled_by_is_cut_in_two() -> None:
    table = read("JobID|State|ExitCode|Reason|TimelimitRaw", "1|CANCELLED by 1234|0:15|None|90")
    expected = [("CANCELLED", "1234", "0", "15", None, "90:00")]
    assert expected == cells(table, "state", "state_by", "exit_code", "exit_signal", "reason", "limit")


def test_the_failed_node_is_the_reason_where_there_is_one() -> None:
    table = read("JobID|State|FailedNode|Reason", "1|NODE_FAIL|gx003|Priority", "2|FAILED||Dependency")
    assert cells(table, "reason") == [("gx003",), ("Dependency",)]


def test_whatever_is_in_the_names_no_column_shifts() -> None:
    """Names and reasons of random text with delimiters and breaks: a value is the true one, null, or bad."""
    random = Random(20261005)
    header = "JobIDRaw|JobName|State|Reason|Start|ExitCode|AllocTRES|NodeList"
    states = ("COMPLETED", "FAILED", "CANCELLED by 12", "TIMEOUT")
    truth, lines = {}, [header]
    for number in range(400):
        name, reason = ("".join(random.choices("ab |\n,=:", k=random.randrange(9))) for _ in range(2))
        values = (str(7000 + number), name, random.choice(states), reason, "2026-10-05T08:14:02", "1:0")
        row = "|".join((*values, "gres/gpu=16,node=2", "gx[001-002]"))
        if random.random() < 0.1:
            row = row[: random.randrange(len(row))]
        truth[values[0]] = values
        lines += row.split("\n")
    table = read(*lines)
    columns = ("JobIDRaw", "JobName", "State", "Reason", "Start", "ExitCode")
    for values in table.fields.select(columns).iter_rows():
        for column, value, true in zip(columns, values, truth[str(values[0])], strict=True):
            free = column in ("JobName", "Reason")
            same = (value or "").split() == true.split()
            assert same or (free and value is None), (column, value, true)
    assert table.fields.height > 200
    told = sum(last - first + 1 for first, last in table.fields.select("line", "last_line").iter_rows())
    blank = sum(not line.strip() for line in lines)
    assert told + len(table.bad_lines) + len(table.header_lines) in range(len(lines) - blank, len(lines) + 1)
