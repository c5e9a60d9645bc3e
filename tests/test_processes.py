"""Units of work in other processes give what they give here, whatever becomes of these processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import processes as module
from pipeline.processes import Processes

#: An expression for the process that evaluates it.
WHERE = "__import__('os').getpid()"


def started() -> Processes:
    """One process beside this one."""
    found = Processes()
    found.expect(1 << 30, 2)
    return found


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """One process for all tests that leave it as it is."""
    with started() as kept:
        yield kept


def test_work_is_done_elsewhere(processes: Processes) -> None:
    first, second = (processes.do(eval, WHERE) for _ in range(2))
    assert first == second != os.getpid()
    processes.expect(1 << 40, 2)
    assert processes.do(eval, WHERE) == first


def test_little_work_and_a_single_worker_stay_here() -> None:
    with Processes() as none:
        none.expect(1 << 20, 8)
        none.expect(1 << 40, 1)
        assert none.do(eval, WHERE) == os.getpid()


def test_what_is_raised_there_is_raised_here(processes: Processes) -> None:
    with pytest.raises(ValueError, match="invalid literal for int"):
        processes.do(int, "seven")
    with pytest.raises(RuntimeError, match="Odd: it cannot be sent"):
        processes.do(exec, "class Odd(Exception): pass\nraise Odd('it cannot be sent')")
    assert processes.do(eval, WHERE) != os.getpid()


def test_what_is_printed_there_is_no_answer(processes: Processes) -> None:
    assert processes.do(eval, "print('from there', flush=True) or 7") == 7


def test_processes_end_with_their_owner() -> None:
    with started() as ending:
        other = ending.do(eval, WHERE)
    with pytest.raises(ProcessLookupError):
        os.kill(other, 0)


def test_the_work_of_a_lost_process_is_done_here() -> None:
    with started() as losing:
        killed = f"{WHERE} if {WHERE} == {os.getpid()} else __import__('os').kill({WHERE}, 9)"
        assert losing.do(eval, killed) == os.getpid()
        assert losing.do(eval, WHERE) == os.getpid()


def test_a_system_without_processes_does_all_work_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(module.subprocess, "Popen", refuse)
    with Processes() as none:
        none.expect(1 << 40, 4)
        assert none.do(eval, WHERE) == os.getpid()


def test_a_glance_at_logs_counts_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    for name, size in (("a.out", 3000), ("logs/b.out", 2000), ("logs/deep/c.out", 1000)):
        (tmp_path / name).write_bytes(b"\n" * size)
    looked: list[tuple[int, int]] = []
    monkeypatch.setattr(module, "_BYTES_EACH", 10_000)
    monkeypatch.setattr(Processes, "expect", lambda _, content, workers: looked.append((content, workers)))
    roots = [str(tmp_path / "a.out"), str(tmp_path / "logs"), str(tmp_path / "none"), "s3://bucket/logs"]
    Processes().glance(roots, 2)
    # The look ends where there are enough bytes for all workers, and one worker needs none.
    monkeypatch.setattr(module, "_BYTES_EACH", 1200)
    Processes().glance(roots, 2)
    Processes().glance(roots, 1)
    assert looked == [(6000, 2), (3000, 2)]
