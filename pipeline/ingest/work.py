"""Units of work on the threads of this machine, in order, with a bounded number in flight.

Threads and not processes: nearly all of the work happens in native code that lets other threads run, chunks
need no copy to get there, and there is no interpreter to start.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Small files that are handled together, and their bytes.
BATCH_ITEMS, BATCH_BYTES = 1024, 8 << 20

#: Results that may wait for their turn, for each worker. More costs memory and gains nothing.
_WAITING = 2


def worker_count(asked: int) -> int:
    """Return the number of workers: as asked, or one for each processor that this process may use."""
    return asked if asked > 0 else len(os.sched_getaffinity(0))


class Workers:
    """A pool of threads; a context manager that waits for them at its end."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="ingest")

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=error is not None)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of a function on items, in order; items are taken only as results are wanted."""
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) >= _WAITING * self.count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def run_here(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the results of a function on items, one after the other in this thread."""
    return map(function, items)


def cut_batches(items: Iterable[Item], weight: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield runs of items that are worth one task: not too many, and together not too heavy."""
    batch: list[Item] = []
    total = 0
    for item in items:
        if batch and (len(batch) == BATCH_ITEMS or total + weight(item) > BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += weight(item)
    if batch:
        yield batch
