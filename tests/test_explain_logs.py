"""``goodput explain`` shows lines as their logs read now, and of a log that has gone what the store kept."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import fsspec
import pytest
from explained import FALLEN, FOLDER, SAMPLES, Tell, build_logs, cause_of, copy_of, evidence_of

from pipeline.ingest.neighbours import Logs, Wanted

KERNEL = Path("nodes") / "gx017.dmesg.txt"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of logs that lay in an object store, which has gone since."""
    memory = fsspec.filesystem("memory")
    memory.put(str(SAMPLES / "fallen-gpu"), "/bucket/fallen-gpu", recursive=True)
    try:
        return build_logs("memory://bucket/fallen-gpu", tmp_path_factory.mktemp("stores") / "fallen-gpu")
    finally:
        memory.rm("/bucket", recursive=True)


def test_logs_that_lie_elsewhere_now_are_named_and_others_are_gone(store: Path, tell: Tell) -> None:
    assert {one["log"] for one in evidence_of(tell(store, FALLEN, "--format", "json"))} == {"gone"}
    found = evidence_of(tell(store, FALLEN, SAMPLES / "fallen-gpu", "--format", "json"))
    assert {one["log"] for one in found} == {"same"}


def test_a_log_that_has_gone_is_told_by_what_the_store_kept(store: Path, tell: Tell, tmp_path: Path) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    (logs / KERNEL).unlink()
    text = tell(store, FALLEN, logs)
    assert "nodes/gx017.dmesg.txt: it no longer lies where it was read\n    kept  | " in text
    assert "GPU has fallen off the bus" in text
    # The other logs are still there.
    assert re.search(r"^  >     3 \|  3: \[rank3\]", text, re.MULTILINE)


def test_a_log_that_changed_shows_only_lines_that_read_as_they_did(
    store: Path, tell: Tell, tmp_path: Path
) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    kernel = logs / KERNEL
    lines = kernel.read_text(encoding="utf-8").splitlines()
    kernel.write_text("\n".join(["a line that was not there", *lines]) + "\n", encoding="utf-8")
    cause = cause_of(tell(store, FALLEN, logs, "--format", "json"))
    assert (cause["log"], cause["lines"]) == ("changed", [])
    text = tell(store, FALLEN, logs)
    assert "nodes/gx017.dmesg.txt: it has changed since it was read\n    kept  | " in text
    # A change far from the line leaves it as good as it was.
    kernel.write_text("\n".join(["another first line", *lines[1:]]) + "\n", encoding="utf-8")
    cause = cause_of(tell(store, FALLEN, logs, "--format", "json"))
    assert cause["log"] == "changed"
    assert [line["line"] for line in cause["lines"]] == [5, 6, 7, 8, 9]


def test_a_log_that_grew_is_still_what_was_read(store: Path, tell: Tell, tmp_path: Path) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    with (logs / KERNEL).open("a", encoding="utf-8") as kernel:
        kernel.write("kern  :info  : 2026-03-03T09:00:00,000000+00:00 something else\n")
    cause = cause_of(tell(store, FALLEN, logs, "--format", "json"))
    assert (cause["log"], cause["log_note"]) == ("grown", "it has grown since it was read")
    assert [line["line"] for line in cause["lines"]] == [5, 6, 7, 8, 9]


def test_a_log_that_was_compressed_since_is_found(store: Path, tell: Tell, tmp_path: Path) -> None:
    logs = copy_of("fallen-gpu", tmp_path)
    kernel = logs / KERNEL
    kernel.with_name(kernel.name + ".gz").write_bytes(gzip.compress(kernel.read_bytes()))
    kernel.unlink()
    assert tell(store, FALLEN, logs) == (FOLDER / "fallen_gpu.txt").read_text(encoding="utf-8")


def test_no_log_is_opened_where_none_shall_be(
    store: Path, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a log was opened")

    monkeypatch.setattr(Logs, "around", refuse)
    text = tell(store, FALLEN, SAMPLES / "fallen-gpu", "--neighbours", "0")
    assert "    kept  | " in text


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
