"""Host lists: the grammar of Slurm, and what is not a whole list."""

import pytest

from pipeline.ingest.hostlist import expand_hostlist, expand_slots


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("gx017", ["gx017"]),
        ("gx017,gx018", ["gx017", "gx018"]),
        ("gx[001-003,007]", ["gx001", "gx002", "gx003", "gx007"]),
        ("gx-[0416,0418-0419],login1", ["gx-0416", "gx-0418", "gx-0419", "login1"]),
        ("r[1-2]n[09-10]", ["r1n09", "r1n10", "r2n09", "r2n10"]),
        ("gx[1-2].cluster", ["gx1.cluster", "gx2.cluster"]),
        ("gx[9-11]", ["gx9", "gx10", "gx11"]),
        ("tux[00x11]", ["tux00", "tux01", "tux10", "tux11"]),
        ("tux[0Ax0B]", ["tux0A", "tux0B"]),
    ],
)
def test_expands(text: str, hosts: list[str]) -> None:
    assert hosts == expand_hostlist(text)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "None assigned",
        "(null)",
        "n/a",
        "gx[001-0",  # cut by a narrow column
        "gx[001-004,+",
        "gx[001-004]...",
        "gx001,gx0+",
        "gx[004-001]",
        "gx[[1-2]]",
        "gx[a-b]",
        "gx[1-2],",
        "gx[0-999999999]",
        "gx[0-" + "9" * 5000 + "]",
        "a[0-999]b[0-999]c[0-999]",
        "two words",
    ],
)
def test_is_not_a_whole_list(text: str | None) -> None:
    assert expand_hostlist(text) is None


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("gx001/0*8+gx002/0*8", ["gx001", "gx002"]),
        ("gx001/0+gx001/1+gx002.cluster/0-3", ["gx001", "gx002.cluster"]),
        ("(gx001:ncpus=112:ngpus=8)+(gx002:ncpus=56+gx002:ngpus=4)", ["gx001", "gx002"]),
        ('"gx001" "gx001" "16*gx002"', ["gx001", "gx002"]),
        ("<8*gx001> <gx002@heron>", ["gx001", "gx002"]),
        ("gx001", ["gx001"]),
    ],
)
def test_takes_each_host_of_a_list_of_slots_once(text: str, hosts: list[str]) -> None:
    assert hosts == expand_slots(text)


@pytest.mark.parametrize("text", [None, "", " ", "++", "gx001/0+?"])
def test_refuses_what_is_no_list_of_slots(text: str | None) -> None:
    assert expand_slots(text) is None
