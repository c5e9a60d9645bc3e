"""``goodput explain`` tells an incident as a story: true, whole, readable, and safe to print."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsspec
import pytest
from explained import FOLDER, ROOT, STORIES, build_store

from pipeline.cli import run
from pipeline.config_values import EMPTY_CONFIG
from pipeline.ingest.neighbours import Logs, Wanted
from pipeline.ledger import story as told_story
from pipeline.ledger.story import Evidence
from pipeline.ledger.story_load import BENIGN
from pipeline.ledger.story_text import story_text
from pipeline.ledger.story_why import build_why, compare
from pipeline.project import read_seed

SAMPLES = ROOT / "data" / "samples"
FALLEN = "heron-70b/41207.0/1"
Tell = Callable[..., str]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the store of a sample, built once."""
    folder = tmp_path_factory.mktemp("stores")
    return lambda story: build_store(story, folder / story)


@pytest.fixture
def tell(
    stores: Callable[[str], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Tell:
    """Return what the command prints of a sample, 100 characters wide if nothing else is said."""

    def told(story: str | Path, *arguments: object, width: int = 100, code: int = 0) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        store = story if isinstance(story, Path) else stores(story)
        capsys.readouterr()
        assert run(["explain", "--store", str(store), *map(str, arguments)]) == code
        out, err = capsys.readouterr()
        return err if code else out

    return told


def copy_of(story: str, folder: Path) -> Path:
    """Return a copy of the logs of a sample that may be spoiled."""
    shutil.copytree(SAMPLES / story, folder / story)
    return folder / story


def evidence_of(document: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(document)["evidence"]
    return found


@pytest.mark.parametrize("name", STORIES)
def test_a_story_reads_as_it_did(name: str, tell: Tell) -> None:
    story, arguments = STORIES[name]
    expected = (FOLDER / name).read_text(encoding="utf-8")
    assert tell(story, *arguments) == expected, "run `make golden`, and read the diff"


@pytest.mark.parametrize("width", [72, 80, 160])
@pytest.mark.parametrize("incident", ["egret-13b/60161.0/1", "egret-13b/60195.0/1", "egret-13b/60140.0/1"])
def test_no_line_is_wider_than_asked(width: int, incident: str, tell: Tell) -> None:
    lines = tell("one-week", incident, width=width).splitlines()
    pasted = [n for n, line in enumerate(lines) if line.startswith("incident_id,")]
    # What is there to be copied is neither cut nor wrapped.
    wide = [
        line
        for n, line in enumerate(lines)
        if len(line) > width and n not in (*pasted, *(p + 1 for p in pasted))
    ]
    assert wide == []


def test_the_phases_add_up_to_the_incident(tell: Tell) -> None:
    for incident in ("egret-13b/60110.0/1", "egret-13b/60140.0/1", "egret-13b/60188.0/1"):
        story = json.loads(tell("one-week", incident, "--format", "json"))
        whole = story["incident"]["gpu_s"]
        assert sum(phase["gpu_s"] for phase in story["phases"]) == whole
        assert sum(cost["gpu_s"] for cost in story["costs"]) == whole


def test_without_an_id_incidents_are_listed_newest_or_dearest_first(tell: Tell) -> None:
    ids = [line.split()[-1] for line in tell("fallen-gpu").splitlines()]
    assert ids == ["incident", "heron-70b/41251.0/1", "heron-70b/41233.0/1", FALLEN]
    # 155,200 GPU-seconds, 131,968 and 9,984: 43.1, 36.7 and 2.8 GPU-hours.
    dearest = tell("fallen-gpu", "--by", "dearest").splitlines()[1:]
    assert [line.split()[-1] for line in dearest] == ["heron-70b/41233.0/1", FALLEN, "heron-70b/41251.0/1"]
    found = json.loads(tell("fallen-gpu", "--format", "json"))["incidents"]
    assert [row["incident_id"] for row in found] == ids[1:]
    assert found[-1]["gpu_s"] == 131_968


def test_an_unknown_id_names_the_nearest(tell: Tell) -> None:
    err = tell("fallen-gpu", "heron-70b/41270.0/1", code=2)
    assert err.startswith("error: `heron-70b/41270.0/1` is neither an incident nor a time\n")
    assert f"did you mean `{FALLEN}`" in err
    err = tell("fallen-gpu", "heron-70b/", code=2)
    assert "3 with that in their id" in err
    assert "`heron-70b/41233.0/1`" in err
    assert "lists the incidents" in tell("fallen-gpu", "\x1b[2Jxyzzy", code=2)
    assert "\x1b" not in tell("fallen-gpu", "\x1b[2Jxyzzy", code=2)


def test_logs_without_a_store_are_read_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["explain", FALLEN, str(SAMPLES / "fallen-gpu")]) == 0
    out, err = capsys.readouterr()
    assert out == (FOLDER / "fallen_gpu.txt").read_text(encoding="utf-8")
    assert "9 files" in err


def test_neither_store_nor_logs_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["explain", FALLEN]) == 2
    assert "neither a store nor logs were given" in capsys.readouterr().err


def test_the_folder_of_a_store_needs_no_option(
    stores: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(stores("fallen-gpu"))
    assert run(["explain", FALLEN]) == 0
    assert capsys.readouterr().out.startswith(f"{FALLEN}: GPU fell off the bus\n")


def test_a_log_that_has_gone_is_told_by_what_the_store_kept(tell: Tell, tmp_path: Path) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    (logs / "nodes" / "gx017.dmesg.txt").unlink()
    text = tell("fallen-gpu", FALLEN, logs)
    assert "nodes/gx017.dmesg.txt: it no longer lies where it was read\n    kept  | " in text
    assert "GPU has fallen off the bus" in text
    # The other logs are still there.
    assert re.search(r"^  >     3 \|  3: \[rank3\]", text, re.MULTILINE)


def test_a_log_that_changed_shows_only_lines_that_read_as_they_did(tell: Tell, tmp_path: Path) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    kernel = logs / "nodes" / "gx017.dmesg.txt"
    kernel.write_text("a line that was not there\n" + kernel.read_text(encoding="utf-8"), encoding="utf-8")
    rows = evidence_of(tell("fallen-gpu", FALLEN, logs, "--format", "json"))
    cause = next(row for row in rows if row["role"] == "cause")
    assert (cause["log"], cause["lines"]) == ("changed", [])
    text = tell("fallen-gpu", FALLEN, logs)
    assert "nodes/gx017.dmesg.txt: it has changed since it was read\n    kept  | " in text
    # A change far from the line leaves it as good as it was.
    lines = (SAMPLES / "fallen-gpu" / "nodes" / "gx017.dmesg.txt").read_text(encoding="utf-8").splitlines()
    kernel.write_text("\n".join(["another first line", *lines[1:]]) + "\n", encoding="utf-8")
    cause = next(
        row
        for row in evidence_of(tell("fallen-gpu", FALLEN, logs, "--format", "json"))
        if row["role"] == "cause"
    )
    assert cause["log"] == "changed"
    assert [line["line"] for line in cause["lines"]] == [5, 6, 7, 8, 9]  # type: ignore[attr-defined]


def test_a_log_that_grew_is_still_what_was_read(tell: Tell, tmp_path: Path) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    with (logs / "nodes" / "gx017.dmesg.txt").open("a", encoding="utf-8") as kernel:
        kernel.write("kern  :info  : 2026-03-03T09:00:00,000000+00:00 something else\n")
    cause = next(
        row
        for row in evidence_of(tell("fallen-gpu", FALLEN, logs, "--format", "json"))
        if row["role"] == "cause"
    )
    assert (cause["log"], cause["log_note"]) == ("grown", "it has grown since it was read")
    assert [line["line"] for line in cause["lines"]] == [5, 6, 7, 8, 9]  # type: ignore[attr-defined]


def test_a_log_that_was_compressed_since_is_found(tell: Tell, tmp_path: Path) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    kernel = logs / "nodes" / "gx017.dmesg.txt"
    kernel.with_name(kernel.name + ".gz").write_bytes(gzip.compress(kernel.read_bytes()))
    kernel.unlink()
    assert tell("fallen-gpu", FALLEN, logs) == (FOLDER / "fallen_gpu.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", [".tar", ".tar.gz"])
def test_lines_are_read_out_of_an_archive(ending: str, tmp_path: Path, tell: Tell) -> None:
    archive = tmp_path / f"logs{ending}"
    mode = "w:gz" if ending.endswith("gz") else "w"
    with tarfile.open(archive, mode) as packed:  # type: ignore[call-overload]
        packed.add(SAMPLES / "fallen-gpu", arcname=".")
    assert run(["ingest", str(archive), "--store", str(tmp_path / "store")]) == 0
    assert run(["classify", "--store", str(tmp_path / "store")]) == 0
    (found,) = json.loads(tell(tmp_path / "store", "--format", "json", "41207"))["evidence"][1:2]
    assert found["path"] == f"logs{ending}/nodes/gx017.dmesg.txt"
    assert [line["line"] for line in found["lines"]] == [5, 6, 7, 8, 9]


def test_lines_are_read_out_of_an_object_store(tmp_path: Path, tell: Tell) -> None:
    memory = fsspec.filesystem("memory")
    memory.put(str(SAMPLES / "fallen-gpu"), "/bucket/fallen-gpu", recursive=True)
    store = tmp_path / "store"
    try:
        assert run(["ingest", "memory://bucket/fallen-gpu", "--store", str(store)]) == 0
        assert run(["classify", "--store", str(store)]) == 0
        told = evidence_of(tell(store, "--format", "json", "41207"))
    finally:
        memory.rm("/bucket", recursive=True)
    local = evidence_of(tell("fallen-gpu", "--format", "json", FALLEN))
    assert [one["path"] for one in told] == [one["path"] for one in local]
    assert [one["lines"] for one in told] == [one["lines"] for one in local]
    assert {one["log"] for one in told} == {"same"}
    # The bucket has gone: what the store kept is shown.
    gone = evidence_of(tell(store, "--format", "json", "41207"))
    assert {one["log"] for one in gone} == {"gone"}


def test_lines_that_were_only_counted_are_said_to_be(tmp_path: Path, tell: Tell) -> None:
    """A link complains 1,412 times in one file: 1,000 rows are kept, and one stands for 412."""
    logs = copy_of("fallen-gpu", tmp_path)
    kernel = logs / "nodes" / "gx017.dmesg.txt"
    lines = kernel.read_text(encoding="utf-8").splitlines(keepends=True)
    place = next(at for at, line in enumerate(lines) if ": 79," in line)
    kernel.write_text(
        "".join([*lines[: place + 1], *[lines[place]] * 1411, *lines[place + 1 :]]), encoding="utf-8"
    )
    store = tmp_path / "store"
    assert run(["ingest", str(logs), "--store", str(store)]) == 0
    assert run(["classify", "--store", str(store)]) == 0
    (found,) = (
        one for one in evidence_of(tell(store, "--format", "json", "41207")) if one["role"] == "cause"
    )
    assert (found["rows"], found["counted_rows"]) == (1412, 411)
    text = " ".join(tell(store, "41207").split())
    assert "1,412 such lines, 411 of them only counted, for any host or attempt of the file" in text


def test_lines_of_logs_are_safe_to_print(tmp_path: Path, tell: Tell) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    kernel = logs / "nodes" / "gx017.dmesg.txt"
    lines = kernel.read_text(encoding="utf-8").splitlines()
    token = "hf_" + "a" * 30
    lines[5] = f"evil \x1b[2J\x1b]0;title\x07 \x9b31m \u202e HF_TOKEN={token} " + "x" * 20_000
    kernel.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run(["ingest", str(logs), "--store", str(tmp_path / "store")]) == 0
    assert run(["classify", "--store", str(tmp_path / "store")]) == 0
    for form in ("text", "json"):
        told = tell(tmp_path / "store", "41207", "--format", form)
        assert "evil" in told
        assert "HF_TOKEN=***" in told
        assert token not in told
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", told)
        assert max(map(len, told.splitlines())) < 1000


def test_no_log_is_opened_where_none_shall_be(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a log was opened")

    monkeypatch.setattr(Logs, "around", refuse)
    assert "    kept  | " in tell("fallen-gpu", FALLEN, "--neighbours", "0")


def test_a_verdict_stands_beside_what_the_evidence_says(tmp_path: Path, tell: Tell) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    document = tell("fallen-gpu", FALLEN, "--format", "json")
    advice = json.loads(document)["advice"]
    line = (
        advice["verdict_line"]
        .replace("collective_timeout", "node_failure")
        .replace("why you say so", "the PDU of rack 4 tripped")
    )
    (logs / "verdicts.csv").write_text(f"{advice['verdict_head']}\n{line}\n", encoding="utf-8")
    assert run(["ingest", str(logs), "--store", str(tmp_path / "store")]) == 0
    assert run(["classify", "--store", str(tmp_path / "store")]) == 0
    text = " ".join(tell(tmp_path / "store", FALLEN).split())
    assert text.startswith(f"{FALLEN}: Node lost when")
    assert 'verdict a person (your role) says Node lost (node_failure): "the PDU of rack 4 tripped"; ' in text
    assert "the evidence alone says GPU fell off the bus (gpu_fell_off_bus)" in text
    # The verdict names no owner: it is that of the cause.
    assert "owner cluster operations; charged to infrastructure" in text
    # The reasons are those of the evidence.
    assert "why GPU fell off the bus - its line names a cause, causal rank 1" in text
    verdict = json.loads(tell(tmp_path / "store", FALLEN, "--format", "json"))["verdict"]
    assert (verdict["cause"], verdict["cause_by_evidence"]) == ("node_failure", "gpu_fell_off_bus")


def test_names_of_users_stay_hidden(tmp_path: Path, tell: Tell) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    with (logs / "goodput.toml").open("a", encoding="utf-8") as config:
        config.write('\n[privacy]\nusers = "drop"\n')
    assert "mira" in (logs / "sacct.txt").read_text(encoding="utf-8")
    assert "mira" in tell("fallen-gpu", FALLEN)
    assert run(["ingest", str(logs), "--store", str(tmp_path / "store")]) == 0
    assert run(["classify", "--store", str(tmp_path / "store")]) == 0
    text = tell(tmp_path / "store", FALLEN)
    assert "mira" not in text
    assert "it names users, whom `[privacy]` hides" in text


def test_an_attempt_that_nothing_explains_says_what_was_looked_for(tmp_path: Path, tell: Tell) -> None:
    (tmp_path / "logs" / "heron").mkdir(parents=True)
    head = (
        "using world size: 8, data-parallel size: 8, tensor-model-parallel size: 1\n"
        "[before the start of training step] datetime: 2026-03-03 07:{:02d}:00 \n"
    )
    step = (
        " [2026-03-03 07:{:02d}:00.000000] iteration {:8d}/    1000 | consumed samples: {:12d} | "
        "elapsed time per iteration (ms): 60000.0 | global batch size:   256 | lm loss: 1.180579E+01 | "
        "loss scale: 1.0 | grad norm: 1.862 | number of skipped iterations:   0 | "
        "number of nan iterations:   0 |\n"
    )
    first = (
        head.format(0)
        + "".join(step.format(n, n, 256 * n) for n in range(1, 11))
        + "the last words of the program\n"
    )
    second = head.format(20) + "".join(step.format(20 + n, n, 256 * n) for n in range(1, 13))
    (tmp_path / "logs" / "heron" / "job-1.out").write_text(first, encoding="utf-8")
    (tmp_path / "logs" / "heron" / "job-2.out").write_text(second, encoding="utf-8")
    assert run(["ingest", str(tmp_path / "logs"), "--store", str(tmp_path / "store")]) == 0
    assert run(["classify", "--store", str(tmp_path / "store")]) == 0
    text = tell(tmp_path / "store", "heron/job-1.0/1")
    assert "the cause is unknown, and not guessed" in text
    assert "no log of a node, service or scheduler covers the time" in text
    assert "no source names the nodes that the attempt held" in text
    assert "the last words of the program" in text
    assert re.search(r"^            fault +not known: no line tells$", text, re.MULTILINE)


def line_of(**values: object) -> Evidence:
    """Return a line of evidence of which only some facts matter."""
    usual = {field.name: None for field in fields(Evidence)} | {
        "role": "evidence",
        "planned": False,
        "by_scheduler": False,
        "own": True,
        "weight": "cause",
        "causal_rank": 3,
        "dated_after_progress": True,
        "taken_for": "gpu_other",
        "path": "a.log",
        "line": 1,
    }
    return Evidence(**{**usual, **values})  # type: ignore[arg-type]


AT = datetime(2026, 3, 3, 8, tzinfo=UTC)

#: What the line that decided is like, what the other one is like, and what is said of that.
COMPARED = {
    "planned": ({"planned": True}, {}, "a planned end comes first"),
    "planned too late": ({}, {"planned": True}, "a fault was told more than 5 s before it"),
    "symptom": ({}, {"weight": "symptom"}, "it is a symptom"),
    "beside": ({"weight": "symptom"}, {"weight": "symptom", "own": False}, "the run's own line comes before"),
    "watchdog": ({}, {"taken_for": "collective_timeout", "causal_rank": 6}, "has waited for somebody else"),
    "went": ({}, {"causal_rank": 7}, "tells that something went, and not why"),
    "undated": ({}, {"dated_after_progress": False}, "may be noise of the start"),
    "deeper": ({"causal_rank": 1}, {}, "causal rank 3 against 1"),
    "earlier": ({"near": AT}, {"near": AT + timedelta(seconds=9)}, "later: 2026-03-03 08:00:09 against"),
    "nearer": (
        {"line": 9, "dated_after_progress": False},
        {"line": 3, "dated_after_progress": False},
        "stands nearer to the end of the log",
    ),
    "same": ({"path": "b.log"}, {}, "nothing that the lines tell sets them apart"),
    # The ledger knows more than the lines: where they would say the contrary, nothing is made up.
    "contrary": ({"causal_rank": 4, "near": AT}, {"near": AT + timedelta(seconds=9)}, "has the whole order"),
}


@pytest.mark.parametrize("case", COMPARED)
def test_the_first_fact_that_differs_is_told(case: str) -> None:
    chosen, other, words = COMPARED[case]
    assert words in compare(line_of(**chosen), line_of(**other))


#: State of a scheduler and cause by evidence to whether they agree.
AGREES = {
    ("TIMEOUT", "time_limit"): True,
    ("CANCELLED", "maintenance"): True,
    ("NODE_FAIL", "gpu_fell_off_bus"): False,
    ("COMPLETED", "gpu_out_of_memory"): False,
    ("FAILED", "gpu_out_of_memory"): None,
    (None, "gpu_out_of_memory"): None,
}


@pytest.mark.parametrize(("state", "cause"), AGREES)
def test_the_word_of_the_scheduler_is_weighed(state: str | None, cause: str) -> None:
    head = {
        "kind": "unplanned",
        "state": state,
        "state_by": None,
        "cause_by_evidence": cause,
        "runner_up_cause": None,
        "last_progress_ts": None,
        "confidence_reason": "a line of the run itself",
    }
    why = build_why(head, [line_of(role="cause")], {}, 5)
    assert AGREES[state, cause] is why.scheduler_agrees
    assert (state or "nothing") in why.scheduler


def test_a_declared_maintenance_is_the_first_reason_of_a_stop() -> None:
    entry = "a person's stop within the [[maintenance]] of the configuration from 08:00 to 10:00"
    head = {
        "kind": "planned",
        "state": "CANCELLED",
        "state_by": "0",
        "cause_by_evidence": "maintenance",
        "runner_up_cause": None,
        "last_progress_ts": None,
        "confidence_reason": entry,
        "evidence_path": None,
    }
    by_line = build_why(head, [line_of(role="cause")], {}, 5)
    by_state = build_why(head, [], {}, 5)
    assert [why.reasons[0] for why in (by_line, by_state)] == [entry, entry]


def test_a_document_has_no_lines_and_a_file_outside_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "secret").write_text("nobody shall read this\n", encoding="utf-8")
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "secret")
    logs = Logs([str(tmp_path / "logs")], {})
    for path in ("../secret", "link", "nowhere"):
        around = logs.around(Wanted(path, 23, "", "megatron", frozenset({1}), {}))
        assert (around.state, dict(around.lines)) == ("gone", {})
    (tmp_path / "logs" / "pods.json").write_text("{}\n", encoding="utf-8")
    around = logs.around(Wanted("pods.json", 3, "", "kubernetes", frozenset({1}), {}))
    assert around.state == "no_lines"


def test_part_loop_and_cascade_are_told(tell: Tell) -> None:
    story = json.loads(tell("fallen-gpu", FALLEN, "--format", "json"))["incident"]
    told = told_story.Head(
        **{
            **story,
            "at": AT,
            "device": "mlx5_3",
            "faulty_part": "link",
            "failed_start": True,
            "crash_loop": True,
            "cascade": ("collective_timeout", "exit_code"),
            "caused_by_job": "77",
        }
    )
    nothing = told_story.Why((), None, (), None, None, "the scheduler says nothing of this end")
    advice = told_story.Advice(None, None, None, None, None, None, "", "")
    text = story_text(told_story.Story(told, (), (), nothing, (), None, advice), width=160)
    assert "mlx5_3; what failed is the link\n" in text
    assert "reached no step; one of at least three in a row that failed alike\n" in text
    assert "preempted for job 77\n" in text
    assert "  - what followed from it: collective timeout, exit code\n" in text


def test_every_key_of_the_document_is_described() -> None:
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    kinds = [kind for kind in vars(told_story).values() if hasattr(kind, "__dataclass_fields__")]
    assert len(kinds) >= 10
    assert {field.name for kind in kinds for field in fields(kind)} - named == set()


def test_every_condition_of_the_catalogue_has_words() -> None:
    assert {row["benign_when"] for row in read_seed("signals")} - {""} == set(BENIGN)
    assert EMPTY_CONFIG.privacy.users == "keep"
