"""Other processes that do units of work: the threads of one interpreter wait for each other.

Each is an interpreter of its own that is told nothing of the program that started it, so that it neither runs
that again nor inherits its locks. What it is sent, and what it answers, goes through pipes. This module loads
nothing that is large, so that processes can be started before the libraries of this one are loaded.
"""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from pkgutil import resolve_name
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Bytes of content that make it worth while to start a process, and how many are started at most: no disk
#: gives more than so many can read.
_BYTES_EACH, _MOST = 64 << 20, 15

_START = "import sys; from pipeline.processes import serve; serve(sys.argv[1])"

#: Bytes that a pipe is asked to hold where the system knows how: an answer comes in a few pieces, and each of
#: them waits for the threads of this process.
_PIPE_BYTES = 1 << 20

#: Such a process does one thing at a time: threads of its libraries would only be in the way, and the memory
#: of one unit of work serves the next.
_ALONE = {
    "POLARS_MAX_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(96 << 20),
}


def worker_count(asked: int) -> int:
    """Return the number of workers: as asked, or one for each processor that this process may use."""
    return asked if asked > 0 else len(os.sched_getaffinity(0))


class Processes:
    """Processes beside this one; a context manager that ends them, whatever they do.

    ``first`` names a function, as ``module:function``, that each of them calls before anything is asked.
    """

    def __init__(self, first: str = "") -> None:
        self._first = first
        self._started: list[_OtherProcess] = []
        self._idle: SimpleQueue[_OtherProcess] = SimpleQueue()

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        while self._started:
            self._started.pop().forget()

    def glance(self, logs: Iterable[str], workers: int) -> None:
        """Start processes by a quick look at the sizes of logs that are not known yet."""
        count = worker_count(workers)
        if count > 1:
            self.expect(_content_of(logs, count * _BYTES_EACH), count)

    def expect(self, content: int, workers: int) -> None:
        """Start as many processes as are worth while for so many bytes, one less than there are workers.

        Those that were started before count. Nothing waits for them to be ready.
        """
        for _ in range(min(workers - 1, content // _BYTES_EACH, _MOST) - len(self._started)):
            try:
                process = _OtherProcess(self._first)
            except OSError:
                # Where the system gives no more processes, those that there are do the work.
                return
            self._started.append(process)
            self._idle.put(process)

    def do(self, function: Callable[[Item], Result], item: Item) -> Result:
        """Return the result of a function on an item, from a process that has nothing to do, else from here.

        Function, item and result can be pickled. What the function raises there is raised here.
        """
        try:
            process = self._idle.get_nowait()
        except Empty:
            return function(item)
        try:
            done, result = process.ask(function, item)
        except (EOFError, OSError, pickle.UnpicklingError):
            # Whoever ended it, the work is still to be done. Nothing is sent there any more.
            return function(item)
        self._idle.put(process)
        if not done:
            raise result
        return result  # type: ignore[no-any-return]

    def end(self) -> None:
        """Tell all of them to end, whatever they do; nothing waits until they have."""
        for process in self._started:
            process.end()


class _OtherProcess:
    """A process that does one unit of work at a time."""

    def __init__(self, first: str) -> None:
        # The same modules are found there, and none of the folder that it happens to be started in.
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable or "", "-P", "-c", _START, first],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_ALONE | os.environ | {"PYTHONPATH": path},
        )
        assert self._process.stdout is not None
        with suppress(AttributeError, OSError):
            # Without it, or where all pipes of a person are too large already, they are as small as ever.
            fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def ask(self, function: Callable[[Item], Result], item: Item) -> tuple[bool, Any]:
        """Return whether a function could be applied to an item, and its result or what it raised."""
        request = pickle.dumps((function, item), pickle.HIGHEST_PROTOCOL)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(request)
        self._process.stdin.flush()
        answer: tuple[bool, Any] = pickle.load(self._process.stdout)
        return answer

    def end(self) -> None:
        """Tell it to end, whatever it does."""
        self._process.kill()

    def forget(self) -> None:
        """Wait until it has ended."""
        self._process.communicate()


def _content_of(logs: Iterable[str], enough: int) -> int:
    """Return how many bytes lie in files and folders by a quick look that ends once there are enough."""
    content = 0
    for log in logs:
        below = (os.path.join(folder, name) for folder, _, names in os.walk(log) for name in names)
        for path in chain([log] if os.path.isfile(log) else [], below):
            with suppress(OSError):
                content += os.stat(path).st_size
            if content >= enough:
                return content
    return content


def serve(first: str) -> None:
    """Do ``first``, and then what standard input asks for, one unit after the other, until it ends."""
    gc.set_threshold(100_000, 50, 50)
    # Ctrl-C is sent to all processes; the one that was started by a person ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints is no answer.
    os.dup2(2, 1)
    if first:
        resolve_name(first)()
    with os.fdopen(os.dup(0), "rb") as requests, suppress(EOFError, BrokenPipeError):
        while True:
            function, item = pickle.load(requests)
            pickle.dump(_answer(function, item), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _answer(function: Callable[[Any], Any], item: Any) -> tuple[bool, Any]:
    """Return whether a function could be applied to an item, and its result or what it raised."""
    try:
        return True, function(item)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return False, RuntimeError(f"{type(error).__name__}: {error}")
        return False, error
