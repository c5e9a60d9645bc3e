"""Stories whose clocks nobody explained: the zone of local times is found, and the ledger is the true one."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from pipeline.config import EMPTY_CONFIG, load_config
from pipeline.ingest.doctor import diagnose
from pipeline.ledger.build import DATABASE, sql_folder
from pipeline.ledger.build import classify as build_ledger
from pipeline.ledger.clocks import read_clocks
from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.invent import invent
from pipeline.simulate.judge import judge
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import Story
from pipeline.simulate.verdict import sentences
from pipeline.simulate.write import write_story
from pipeline.simulate.written import read_truth
from pipeline.windows import WindowOptions
from tests.simulated import classify, ledger

ENDS = {"gpu_off_bus_hang": 1.0, "double_bit_ecc": 1.0, "collective_hang": 1.0, "time_limit": 1.0}

#: Seconds that local clocks are ahead of UTC, by what they are then found to be.
ZONES = {"Etc/GMT-2": 7200, "Etc/GMT+7": -25_200, "Asia/Kolkata": 19_800, "Asia/Kathmandu": 20_700}


def story_of(seed: int, **how: object) -> Story:
    """Return a run of some attempts."""
    plan = replace(Plan(), ends=ENDS, gpus=16, max_attempts=4, steps_between=(20, 60), target=200)
    return invent(seed, (replace(plan, **how),))  # type: ignore[arg-type]


def untold(story: Story, out: Path, style: Style, blemishes: Blemishes) -> Path:
    """Write a story whose settings tell of no zone."""
    write_story(story, out, style, blemishes)
    settings = out / "logs" / "goodput.toml"
    parts = settings.read_text(encoding="utf-8").split("\n[runs", 1)
    assert parts[0].startswith("[zones]")
    settings.write_text("[runs" + parts[1], encoding="utf-8")
    return out


def differences(out: Path) -> list[str]:
    """Read the logs of a folder, and return sentences about what differs from the truth."""
    said = classify(out)
    with ledger(out) as con:
        found = judge(con, read_truth(out))
    return ([said] if said else []) + ([] if found.agrees else list(sentences(found, 5)))


def zones(out: Path) -> dict[str, set[tuple[str, str]]]:
    """Return by role of files the zones that were found for them, and from what."""
    found: dict[str, set[tuple[str, str]]] = {}
    with ledger(out) as con:
        rows = con.execute(
            "select s.role, s.zone, s.zone_from from staging.sources as s inner join events.sources as e "
            "using (source_id) where e.zone is not null and e.zone <> 'logged'"
        ).fetchall()
    for role, zone, source in rows:
        found.setdefault("program" if role not in ("scheduler", "node") else role, set()).add((zone, source))
    return found


@pytest.mark.parametrize(
    ("trainer", "zone"),
    [
        ("megatron", "Etc/GMT-2"),
        ("torchtitan", "Asia/Kolkata"),
        ("axlearn", "Etc/GMT+7"),
        ("maxtext", "Asia/Kathmandu"),
    ],
)
def test_local_times_of_trainers_are_found_from_accounting(trainer: str, zone: str, tmp_path: Path) -> None:
    # Accounting as JSON counts from the epoch; the controller, the kernels and the trainer print local times.
    worn = Blemishes(accounting="json", kernel="syslog")
    out = untold(story_of(3, trainer=trainer), tmp_path / "story", Style(1, ZONES[zone]), worn)
    assert differences(out) == []
    found = zones(out)
    assert found["program"] <= {(zone, "accounting"), (zone, "neighbours")}
    assert (zone, "accounting") in found["program"]
    assert {zone for role in ("scheduler", "node") for zone, _ in found.get(role, ())} <= {zone}


@pytest.mark.parametrize("zone", ["Etc/GMT-2", "Asia/Kolkata"])
def test_local_times_of_accounting_are_found_from_trainers(zone: str, tmp_path: Path) -> None:
    # Records carry an offset; accounting, the controller and the kernels print local times.
    worn = Blemishes(kernel="syslog")
    story = story_of(3, trainer="goodput_records")
    out = untold(story, tmp_path / "story", Style(1, ZONES[zone]), worn)
    assert differences(out) == []
    assert zones(out)["scheduler"] <= {(zone, "jobs"), (zone, "neighbours")}


@pytest.mark.parametrize("trainer", ["torchtitan"])
def test_containers_in_another_zone_than_accounting_are_moved_to_it(trainer: str, tmp_path: Path) -> None:
    # Nothing names a zone: accounting is taken at its word, and only the consoles are moved.
    story = story_of(5, trainer=trainer)
    out = untold(story, tmp_path / "story", Style(1, -14_400), Blemishes())
    write_story(story, tmp_path / "host", Style(1), Blemishes())
    for name in ("sacct.txt", "slurmctld.log", "nodes"):
        source, target = tmp_path / "host" / "logs" / name, out / "logs" / name
        if source.is_dir():
            shutil.rmtree(target)
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    said = classify(out)
    with ledger(out) as con:
        found = judge(con, read_truth(out))
    assert (said, found.agrees) == ("", True), list(sentences(found, 5))
    assert ("Etc/GMT+4", "accounting") in zones(out)["program"]
    assert zones(out)["scheduler"] == {("UTC", "assumed")}


def test_accounting_that_programs_and_kernels_contradict_is_moved_to_them(tmp_path: Path) -> None:
    # Nothing names a zone. The scheduler's clock is an hour ahead, and what kernels say of a GPU is not.
    story = story_of(5, trainer="megatron")
    worn = Blemishes(kernel="syslog")
    out = tmp_path / "story"
    write_story(story, out, Style(1), worn)
    write_story(story, tmp_path / "ahead", Style(1, 3600), worn)
    for name in ("sacct.txt", "slurmctld.log"):
        shutil.copyfile(tmp_path / "ahead" / "logs" / name, out / "logs" / name)
    assert differences(out) == []
    found = zones(out)
    assert found["scheduler"] == {("Etc/GMT-1", "hosts"), ("Etc/GMT-1", "neighbours")}
    assert found["program"] | found["node"] == {("UTC", "assumed")}
    # A look at the logs that builds no ledger says the same.
    diagnose([str(out / "logs")], EMPTY_CONFIG, clocks=tmp_path / "clocks")
    assert read_clocks(tmp_path / "clocks", EMPTY_CONFIG)["sacct.txt"].zone_from == "hosts"


def test_a_configured_zone_is_never_overruled(tmp_path: Path) -> None:
    out = untold(story_of(3), tmp_path / "story", Style(1, 7200), Blemishes(accounting="json"))
    settings = out / "logs" / "goodput.toml"
    told = settings.read_text(encoding="utf-8")
    settings.write_text('[zones]\n"heron-70b/**" = "Asia/Tokyo"\n' + told, encoding="utf-8")
    classify(out)
    assert zones(out)["program"] == {("Asia/Tokyo", "configuration")}


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return a story that every rank tells, read, by how far the clock of gx101 is ahead in microseconds."""
    story, found = story_of(3, trainer="torchtitan"), {}
    for skew in (0, 5_500_000, -75_250_000):
        out = tmp_path_factory.mktemp("skewed")
        style = Style(1, 0, {"gx101": skew} if skew else {})
        write_story(story, out, style, Blemishes(every_rank=True, prefix="host"))
        assert differences(out) == []
        found[skew] = out
    return found


def test_the_clock_of_a_host_is_found_from_steps_that_all_hosts_print(skewed: dict[int, Path]) -> None:
    # A GPU of gx101 falls off the bus, and the kernel of gx101 says so by a clock that is 5.5 s ahead.
    found = []
    for skew, out in skewed.items():
        with ledger(out) as con:
            offsets = con.execute(
                "select clock, offset_s from staging.clock_offsets order by clock"
            ).fetchall()
            assert offsets == [("gx100", 0.0), ("gx101", skew / 1e6), ("gx102", 0.0)]
            query = "select category, seconds, gpu_us from ledger.intervals order by run_id, start_ts, part"
            marks = con.execute("select cause from ledger.incidents where mark = '\u2021'").fetchall()
            assert marks == ([("gpu_fell_off_bus",)] if skew else [])
            told = con.execute(
                "select clock_offset_s from marts.data_quality where path = 'nodes/gx101.dmesg.txt'"
            ).fetchall()
            assert told == [(skew / 1e6,)]
            found.append(con.execute(query).fetchall())
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_without_a_correction_the_figure_is_that_of_a_ledger_that_corrects_none(
    skewed: dict[int, Path], tmp_path: Path
) -> None:
    query = "select run_id, as_is, clocks_not_corrected from marts.sensitivity order by run_id"
    found = []
    for skew in (0, 5_500_000):
        with ledger(skewed[skew]) as con:
            found.append(con.execute(query).fetchall())
    # Nothing was corrected, nothing differs; what was corrected tells what it would have been.
    assert all(as_is == unmoved for _, as_is, unmoved in found[0])
    assert [row[:2] for row in found[1]] == [row[:2] for row in found[0]]
    assert all(as_is != unmoved for _, as_is, unmoved in found[1])

    ahead = skewed[5_500_000]
    sql = tmp_path / "sql"
    shutil.copytree(sql_folder(), sql)
    clocks = sql / "staging" / "clock_offsets.sql"
    text = clocks.read_text(encoding="utf-8")
    assert text.count("abs(ahead_us) > 1000000 as moves") == 1
    clocks.write_text(text.replace("abs(ahead_us) > 1000000 as moves", "false as moves"), encoding="utf-8")
    again = tmp_path / "again"
    again.mkdir()
    for part in ("events", "config", "manifest.json"):
        (again / part).symlink_to(ahead / "store" / part)
    build_ledger(again, load_config([str(ahead / "logs")]), WindowOptions(), sql)
    with duckdb.connect(str(again / DATABASE), read_only=True) as con:
        other = con.execute(
            "select run_id, training_time_goodput from marts.period order by run_id"
        ).fetchall()
    assert [(row[0], row[2]) for row in found[1]] == other


def test_without_pairs_no_clock_is_corrected(tmp_path: Path) -> None:
    style = Style(1, 0, {"gx101": 5_500_000})
    out = tmp_path / "story"
    write_story(story_of(3, trainer="torchtitan"), out, style, Blemishes(prefix="host"))
    classify(out)
    with ledger(out) as con:
        assert con.execute("select count(*) from staging.clock_offsets").fetchall() == [(0,)]
        assert con.execute("select distinct clock_offset_s from marts.data_quality").fetchall() == [(None,)]


def test_the_doctor_reads_clocks_as_the_ledger_does(tmp_path: Path) -> None:
    zone = "Asia/Kolkata"
    worn = Blemishes(accounting="json", kernel="syslog", every_rank=True, prefix="host")
    style = Style(1, ZONES[zone], {"gx101": 5_500_000})
    out = untold(story_of(3, trainer="torchtitan"), tmp_path / "story", style, worn)
    (tmp_path / "clocks").mkdir()
    diagnose([str(out / "logs")], EMPTY_CONFIG, clocks=tmp_path / "clocks")
    clocks = read_clocks(tmp_path / "clocks", EMPTY_CONFIG)
    classify(out)
    with ledger(out) as con:
        rows = con.execute(
            "select s.path, s.zone_told, o.offset_s, min(y.year), min(y.year_from) from staging.sources as s "
            "left join ledger.clocks as o using (source_id) left join staging.years as y using (source_id) "
            "group by all order by all"
        ).fetchall()
    told = [(path, c.zone_told, c.offset_s, c.first_year, c.year_from) for path, c in clocks.items()]
    assert sorted(told, key=str) == sorted(rows, key=str)
