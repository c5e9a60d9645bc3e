"""``goodput explain`` of logs that are hard to tell: packed, hostile, countless, judged by people, or silent.

The logs of the smallest sample are spoiled in all these ways at once, so that one ledger serves every test.
"""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest
from explained import FALLEN, SAMPLES, Tell, build_logs, cause_of, copy_of, in_one_line

from pipeline.ledger.query import open_store
from pipeline.report.load import load_facts
from pipeline.report.model import Page, Table
from pipeline.report.review import build_review
from pipeline.report.sections.given import Given

#: Incidents of which a person says that the run was completed, what came second, and what the logs say.
CONTRADICTED, ADDED, AGREED = FALLEN, "heron-70b/41233.0/1", "heron-70b/41251.0/1"

#: The second row is the one that is printed to be pasted, as it is.
VERDICTS = f"""incident_id,cause,owner,reason,date,role
{CONTRADICTED},completed,,all data was used,2026-03-04,shift lead
{ADDED},process_aborted,,why you say so,,your role
{AGREED},completed,,,,
"""

#: An incident that nothing explains: of a run of its own, weeks before all others.
SILENT = "plover/job-1.0/1"

TOKEN = "hf_" + "a" * 30

_HEAD = (
    "using world size: 8, data-parallel size: 8, tensor-model-parallel size: 1\n"
    "[before the start of training step] datetime: 2026-01-05 07:{:02d}:00 \n"
)
_STEP = (
    " [2026-01-05 07:{:02d}:00.000000] iteration {:8d}/    1000 | consumed samples: {:12d} | "
    "elapsed time per iteration (ms): 60000.0 | global batch size:   256 | lm loss: 1.180579E+01 | "
    "loss scale: 1.0 | grad norm: 1.862 | number of skipped iterations:   0 | "
    "number of nan iterations:   0 |\n"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of the spoiled logs."""
    folder = tmp_path_factory.mktemp("spoiled")
    logs = copy_of("fallen-gpu", folder)
    spoil_kernel(logs / "nodes" / "gx017.dmesg.txt")
    pack(logs / "nodes" / "gx017.dmesg.txt", "w:gz", ".tar.gz")
    pack(logs / "nodes" / "gx012.dmesg.txt", "w", ".tar")
    (logs / "verdicts.csv").write_text(VERDICTS, encoding="utf-8")
    with (logs / "goodput.toml").open("a", encoding="utf-8") as config:
        config.write('\n[privacy]\nusers = "drop"\n')
    write_silent(logs / "plover")
    return build_logs(logs, folder / "store")


def spoil_kernel(kernel: Path) -> None:
    """Write a hostile line before the one that decides, and that one 1,412 times: 1,000 are kept."""
    lines = kernel.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[5] = f"evil \x1b[2J\x1b]0;title\x07 \x9b31m \u202e HF_TOKEN={TOKEN} " + "x" * 20_000 + "\n"
    place = next(at for at, line in enumerate(lines) if ": 79," in line)
    kernel.write_text(
        "".join([*lines[: place + 1], *[lines[place]] * 1411, *lines[place + 1 :]]), encoding="utf-8"
    )


def pack(log: Path, mode: str, ending: str) -> None:
    """Put a log into an archive beside it."""
    with tarfile.open(log.with_name(log.name + ending), mode) as packed:  # type: ignore[call-overload]
        packed.add(log, arcname=log.name)
    log.unlink()


def write_silent(folder: Path) -> None:
    """Write two launches of a run, of which the first ends without a word."""
    folder.mkdir()
    words = "the last words of the program\n"
    first = _HEAD.format(0) + "".join(_STEP.format(n, n, 256 * n) for n in range(1, 11)) + words
    second = _HEAD.format(20) + "".join(_STEP.format(20 + n, n, 256 * n) for n in range(1, 13))
    (folder / "job-1.out").write_text(first, encoding="utf-8")
    (folder / "job-2.out").write_text(second, encoding="utf-8")


def test_lines_are_read_out_of_archives(store: Path, tell: Tell) -> None:
    cause = cause_of(tell(store, FALLEN, "--format", "json"))
    assert cause["path"] == "nodes/gx017.dmesg.txt.tar.gz/gx017.dmesg.txt"
    assert [line["line"] for line in cause["lines"]] == [5, 6, 7, 8, 9]
    text = tell(store, ADDED)
    assert re.search(
        r"nodes/gx012\.dmesg\.txt\.tar/gx012\.dmesg\.txt:8.*^  > +8 \| \[Tue Mar  3 09:12:01 2026\] NVRM",
        text,
        re.MULTILINE | re.DOTALL,
    )


def test_lines_that_were_only_counted_are_said_to_be(store: Path, tell: Tell) -> None:
    cause = cause_of(tell(store, FALLEN, "--format", "json"))
    assert (cause["rows"], cause["counted_rows"]) == (1412, 411)
    told = in_one_line(tell(store, FALLEN))
    assert "1,412 such lines, 411 of them only counted, for any host or attempt of the file" in told


@pytest.mark.parametrize("form", ["text", "json"])
def test_lines_of_logs_are_safe_to_print(form: str, store: Path, tell: Tell) -> None:
    told = tell(store, FALLEN, "--format", form)
    assert "evil" in told
    assert "HF_TOKEN=***" in told
    assert TOKEN not in told
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", told)
    assert max(map(len, told.splitlines())) < 1000


def test_names_of_users_stay_hidden(store: Path, tell: Tell) -> None:
    """The accounting of the sample names one, and its line is shown where nothing is said of privacy."""
    assert "mira" in (SAMPLES / "fallen-gpu" / "sacct.txt").read_text(encoding="utf-8")
    assert "mira" in (SAMPLES.parents[1] / "tests" / "explain" / "fallen_gpu.txt").read_text(encoding="utf-8")
    text = tell(store, FALLEN)
    assert "mira" not in text
    assert "it names users, whom `[privacy]` hides" in text


def test_an_attempt_that_nothing_explains_says_what_was_looked_for(store: Path, tell: Tell) -> None:
    text = tell(store, SILENT)
    assert "the cause is unknown, and not guessed" in text
    assert "no log of a node, service or scheduler covers the time" in text
    assert "no source names the nodes that the attempt held" in text
    assert "the last words of the program" in text
    assert re.search(r"^            fault +not known: no line tells$", text, re.MULTILINE)


#: Incident to what is told of its verdict, and what is not: it would be said of the logs alone.
JUDGED = {
    CONTRADICTED: (
        "heron-70b/41207.0/1: Completed when",
        "cause completed, by a person's verdict",
        'a person (shift lead, 2026-03-04) says Completed (completed): "all data was used"; the logs '
        "contradict it: they say GPU fell off the bus (gpu_fell_off_bus), confidence: evidence",
        "<- THE CAUSE",
        "why Completed - a person's verdict says so, and the logs contradict it",
        "why GPU fell off the bus, by the logs alone - its line names a cause, causal rank 1",
        "why not Collective timed out (collective_timeout), at heron-70b/job-41207.err:3: who times out",
        "the scheduler says FAILED: that it failed, which contradicts the verdict",
    ),
    ADDED: (
        "heron-70b/41233.0/1: Process aborted when",
        'a person (your role) says Process aborted (process_aborted): "why you say so"; the logs alone say '
        "Collective timed out (collective_timeout), confidence: unknown",
        # The verdict names no owner: it is that of the cause.
        "owner training framework; charged to unknown",
        "a person's verdict says so; the logs alone do not, and do not rule it out",
        "why Collective timed out, by the logs alone - its line tells what happened and not why",
        "why not Process aborted (process_aborted), at heron-70b/job-41233.err:20: it is a symptom",
        "the scheduler says FAILED: that it failed, and not why",
        "Not so? Change the row of this incident in verdicts.csv, and report again.",
    ),
    AGREED: (
        "a person says Completed (completed); the logs alone say the same, confidence: evidence",
        "why Completed - a person's verdict says so, and the logs alone say the same - the program says",
        "the scheduler says COMPLETED, which agrees",
    ),
}


@pytest.mark.parametrize("incident", JUDGED)
def test_a_verdict_stands_beside_what_the_logs_alone_say(incident: str, store: Path, tell: Tell) -> None:
    told = in_one_line(tell(store, incident))
    assert [words for words in JUDGED[incident] if words not in told] == []
    assert "the program says itself" not in told or incident == AGREED
    assert "Add these lines to verdicts.csv" not in told


def test_no_line_of_a_verdict_is_wider_than_asked(store: Path, tell: Tell) -> None:
    for incident in JUDGED:
        assert max(map(len, tell(store, incident, "--neighbours", "0", width=72).splitlines())) <= 72


def test_the_document_names_both_causes(store: Path, tell: Tell) -> None:
    told = json.loads(tell(store, CONTRADICTED, "--format", "json"))
    assert {told["verdict"][key] for key in ("cause", "title")} == {"completed", "Completed"}
    assert (told["verdict"]["cause_by_evidence"], told["verdict"]["fit"]) == (
        "gpu_fell_off_bus",
        "contradicts",
    )
    assert told["why"]["scheduler_agrees"] is False


def test_the_review_names_the_verdicts_that_the_logs_contradict(store: Path) -> None:
    with open_store(store) as con:
        pages: dict[str, Page] = {
            page.key: page for page in build_review(load_facts(con), Given(), "a4").pages
        }
    broke = pages["broke"]
    assert broke.sentence.endswith(" The logs contradict 1 of 3 verdicts.")
    (table,) = (block for block in broke.blocks if isinstance(block, Table) and block.name == "verdicts")
    assert [(row.cells[1:3], row.cells[3], row.cells[5]) for row in table.rows] == [
        ((CONTRADICTED, "Completed"), "GPU fell off the bus", "CONTRADICT it"),
        ((ADDED, "Process aborted"), "Collective timed out", "do not say so"),
        ((AGREED, "Completed"), "Completed", "say the same"),
    ]
    assert table.rows[0].detail.startswith(
        "shift lead, 2026-03-04 · all data was used · the logs: nodes/gx017"
    )
