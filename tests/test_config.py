"""``goodput.toml`` and the tables beside it: everything known is read, everything else is named."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from pipeline.config import EMPTY_CONFIG, Config, Price, Verdict, load_config, without_effect
from pipeline.errors import GoodputError
from pipeline.globs import glob_matches, glob_pattern, name_pattern

FULL = """
[zones]
default = "UTC"
"trainer/**" = "Europe/Berlin"

[sources."old/*.txt"]
format = "slurm_sacct"
host = "gx017"
cluster = "heron"

[runs.heron-70b]
logs = ["heron/**"]
jobs = ["heron-70b*", "880100"]
gpus = 1024
gpu_model = "H100-SXM"
parameters = 70.6e9
start = 2026-10-05T03:00:00Z
end = 2026-10-12
restart = "continue"

[runs.mixed]
gpu_model = [{gpu_model = "H100-SXM", count = 512}, {gpu_model = "A100", count = 256}]

[policy]
evaluation = "framework"
first_queue_wait = false

[classes]
debug = { partition = "debug*", max_gpus = 16 }

[owners]
infrastructure = "cluster operations"

[[maintenance]]
start = 2026-10-07T08:00:00+02:00
end = 2026-10-07T10:00:00Z
declared = 2026-10-01

[price]
gpu_hour = 2.50
currency = "EUR"

[targets]
training_time_goodput = 0.95

[privacy]
users = "hash"

[report]
window = "1h"
paper = "letter"
"""


def load(tmp_path: Path, text: str, **beside: str) -> Config:
    (tmp_path / "goodput.toml").write_text(text, encoding="utf-8")
    for name, table in beside.items():
        (tmp_path / f"{name}.csv").write_text(table, encoding="utf-8")
    return load_config([str(tmp_path)])


def test_every_documented_key_is_read(tmp_path: Path) -> None:
    config = load(tmp_path, FULL)
    heron, mixed = config.runs
    assert (
        heron.run_id,
        heron.logs,
        heron.jobs,
        heron.gpus,
    ) == ("heron-70b", ("heron/**",), ("heron-70b*", "880100"), 1024)
    assert (datetime(2026, 10, 5, 3, tzinfo=UTC), datetime(2026, 10, 12, tzinfo=UTC)) == (
        heron.start,
        heron.end,
    )
    assert (mixed.gpus, mixed.fleet) == (768, (("H100-SXM", 512), ("A100", 256)))
    assert [(z.glob, z.zone) for z in config.zones] == [("trainer/**", "Europe/Berlin"), ("**", "UTC")]
    assert [(s.glob, s.format, s.host, s.cluster) for s in config.sources] == [
        ("old/*.txt", "slurm_sacct", "gx017", "heron")
    ]
    assert config.policy == {"evaluation": "framework", "first_queue_wait": False}
    assert config.owners == {"infrastructure": "cluster operations"}
    assert config.targets == {"training_time_goodput": 0.95}
    assert config.price == Price(2.5, "EUR")
    assert (config.privacy.users, config.report.window, config.report.paper) == ("hash", "1h", "letter")
    assert (
        config.classes[0].name,
        config.classes[0].partition,
        config.classes[0].max_gpus,
    ) == ("debug", "debug*", 16)


def test_times_with_an_offset_become_utc_and_dates_stay_dates(tmp_path: Path) -> None:
    (stop,) = load(tmp_path, FULL).maintenance
    assert datetime(2026, 10, 7, 6, tzinfo=UTC) == stop.start
    assert stop.declared == (datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 10, 2, tzinfo=UTC))
    (stop,) = load(
        tmp_path, FULL.replace("declared = 2026-10-01", "declared = 2026-10-07T07:30:00+02:00")
    ).maintenance
    assert stop.declared == (datetime(2026, 10, 7, 5, 30, tzinfo=UTC),) * 2


def test_what_has_no_effect_is_named_and_nothing_else(tmp_path: Path) -> None:
    assert without_effect(load(tmp_path, FULL)) == ("[classes]",)
    assert without_effect(load(tmp_path, "[policy]\nfirst_queue_wait = true")) == ()


def test_no_configuration_is_the_empty_one(tmp_path: Path) -> None:
    assert load_config([str(tmp_path)]) == EMPTY_CONFIG
    assert load_config([]) == EMPTY_CONFIG


def test_the_configuration_of_a_single_file_lies_beside_it(tmp_path: Path) -> None:
    load(tmp_path, "[price]\ngpu_hour = 2\n")
    (tmp_path / "job.out").touch()
    assert load_config([str(tmp_path)]) == load_config([str(tmp_path / "job.out")])


def test_an_explicit_file_wins_and_must_exist(tmp_path: Path) -> None:
    load(tmp_path, "[price]\ngpu_hour = 2\n")
    other = tmp_path / "other.toml"
    with pytest.raises(GoodputError, match="does not exist"):
        load_config([str(tmp_path)], other)
    other.write_text("[price]\ngpu_hour = 3\n")
    assert load_config([str(tmp_path)], other).price == Price(3)


def test_two_configurations_are_a_question_not_a_guess(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        load(tmp_path / name, "")
    with pytest.raises(GoodputError, match="more than one configuration"):
        load_config([str(tmp_path / "a"), str(tmp_path / "b")])


def test_the_hash_follows_the_text_and_not_the_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first, second = load(tmp_path / "a", FULL), load(tmp_path / "b", FULL)
    assert first == second
    assert load(tmp_path / "b", FULL + "\n").text_hash != first.text_hash


MISTAKES = {
    "[runs.x]\ngpu = 8": ("unknown key `gpu` in [runs.x]", ":2", "did you mean `gpus`?"),
    "[prices]\ngpu_hour = 2": ("unknown key `prices`", ":1", "did you mean `price`?"),
    "[runs.x]\nlogs = []\ngpus = 'many'": ("`gpus` is a text ('many')", ":3", ""),
    "[runs.x]\ngpus = true": ("`gpus` is true or false (True)", ":2", ""),
    "[runs.x]\ngpus = 1.5": ("`gpus` is 1.5", ":2", ""),
    "[runs.x]\ngpus = 0": ("`gpus` is 0", ":2", ""),
    "[runs.x]\nlogs = [1]": ("`logs` holds a list", ":2", ""),
    "[runs.x]\nrestart = 'contine'": ("`restart` is `contine`", ":2", "did you mean `continue`?"),
    "[runs.x]\nstart = 2026-10-06\nend = 2026-10-05": ("run `x` ends before it starts", ":3", ""),
    "[runs.x]\nstart = '2026-10-06'": ("`start` is a text ('2026-10-06')", ":2", ""),
    "[zones]\ndefault = 'Europe/Berln'": (
        "`Europe/Berln` is not a time zone",
        ":2",
        "did you mean `Europe/Berlin`?",
    ),
    "[policy]\nevaluatoin = 'planned'": (
        "unknown key `evaluatoin` in [policy]",
        ":2",
        "did you mean `evaluation`?",
    ),
    "[policy]\nevaluation = 'plan'": ("`evaluation` is `plan`", ":2", "did you mean `planned`?"),
    "[targets]\ncomposite = 40": ("`composite` is 40.0", ":2", ""),
    "[classes]\nproductoin = {qos = 'x'}": ("unknown class `productoin`", ":2", "did you mean `production`?"),
    "[report]\nwindow = 'a day'": ("`a day` is not a length of time", ":2", "write for example `24h`"),
    "[[maintenance]]\nstart = 2026-10-07": ("a maintenance has no length", ":2", ""),
    "[privacy]\nusers = 'no'": ("`users` is `no`", ":2", ""),
    "runs = 3": ("`runs` is a number (3)", ":1", ""),
    "[runs.x\n": ("the configuration is not valid TOML", ":1", ""),
    '[sources."a.b"]\nhots = "gx1"': ("unknown key `hots` in [sources.a.b]", ":2", "did you mean `host`?"),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_named_with_its_place_and_the_nearest_name(tmp_path: Path, text: str) -> None:
    what, where, now = MISTAKES[text]
    with pytest.raises(GoodputError, match=re.escape(what)) as caught:
        load(tmp_path, text)
    assert caught.value.where.endswith(f"goodput.toml{where}")
    assert now in caught.value.now


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "goodput.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(GoodputError, match="not UTF-8"):
        load_config([str(tmp_path)])


def test_verdicts_and_actions_are_read_from_beside(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "",
        verdicts='incident_id,cause,reason,date\nheron/1.0/1,gpu_fell_off_bus,"bad, seat",2026-10-08\n\n',
        actions="id,action,owner,opened\nA1,swap the riser,hardware,2026-10-01\n",
    )
    expected = Verdict("heron/1.0/1", "gpu_fell_off_bus", reason="bad, seat", date=date(2026, 10, 8))
    assert (expected,) == config.verdicts
    assert [("A1", "open", date(2026, 10, 1))] == [(a.action_id, a.state, a.opened) for a in config.actions]


BAD_VERDICTS = {
    "incident_id,cuase\nx,y\n": ("unknown column `cuase`", ":1"),
    "incident_id\nx\n": ("the column `cause` is missing", ":1"),
    "incident_id,cause\nx\n": ("the row has 1 cells and the header 2", ":2"),
    "incident_id,cause\n,unknown\n": ("`incident_id` is empty", ":2"),
    "incident_id,cause\nx,gpu_fell_of_bus\n": ("unknown cause `gpu_fell_of_bus`", ":2"),
    "incident_id,cause,date\nx,unknown,soon\n": ("`date` is `soon`, not a date", ":2"),
    "incident_id,cause\nx,unknown\nx,unknown\n": ("two verdicts on `x`", "verdicts.csv:2"),
}


@pytest.mark.parametrize("table", BAD_VERDICTS)
def test_a_broken_verdict_is_named_with_its_line(tmp_path: Path, table: str) -> None:
    what, where = BAD_VERDICTS[table]
    with pytest.raises(GoodputError, match=re.escape(what)) as caught:
        load(tmp_path, "", verdicts=table)
    assert caught.value.where.endswith(where)


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_another_sign_between_cells_is_told_from_a_wrong_name(tmp_path: Path, sign: str) -> None:
    with pytest.raises(GoodputError) as caught:
        load(tmp_path, "", verdicts=f"incident_id{sign}cause\nx{sign}unknown\n")
    assert caught.value.now == "put commas between the cells"


GLOBS = [
    ("heron/**", "heron/a/b.out", True),
    ("heron/**", "heronx/a", False),
    ("old/*.txt", "old/a.txt", True),
    ("old/*.txt", "old/a/b.txt", False),
    ("**/*.txt", "a.txt", True),
    ("**/*.txt", "x/y/a.txt", True),
    ("**", "anything/at all", True),
    ("a?c", "abc", True),
    ("a?c", "a/c", False),
    ("a.c", "abc", False),
]


@pytest.mark.parametrize(("glob", "path", "matches"), GLOBS)
def test_globs_match_whole_paths(glob: str, path: str, *, matches: bool) -> None:
    assert matches == glob_matches(glob, path)


def test_names_have_no_folders() -> None:
    assert re.fullmatch(name_pattern("heron*"), "heron/70b")
    assert not re.fullmatch(glob_pattern("heron*"), "heron/70b")
