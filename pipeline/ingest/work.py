"""Units of work on all processors of this machine, in order, with a bounded number in flight.

Threads do what is small: there is no interpreter to start, and nothing to copy. The chunks of large logs go
to processes: the threads of one interpreter would wait for each other a third of the time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from pipeline.places import Place
from pipeline.processes import Processes

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Small files that are handled together, and their bytes.
BATCH_ITEMS, BATCH_BYTES = 1024, 8 << 20

#: Results that may wait for their turn, for each worker. More costs memory and gains nothing.
_WAITING = 2


class Workers:
    """A pool of threads, of which some let other processes work; a context manager that waits for them."""

    def __init__(self, count: int, processes: Processes) -> None:
        self.count, self.processes = count, processes
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="ingest")

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            # A thread that waits for one of them need not wait until it is done.
            self.processes.end()
        self._pool.shutdown(wait=True, cancel_futures=error is not None)
        self.processes.end()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of a function on items, in order; items are taken only as results are wanted."""
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) >= _WAITING * self.count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def map_over(self, places: Iterable[Place]) -> Callable[..., Iterator[Any]]:
        """Return what runs work that reads places: `map_apart` where other processes can read them, too."""
        return self.map_apart if all(place.local for place in places) else self.map

    def map_apart(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Do the same as `map` in other processes, too; what they are given and give can be pickled."""
        return self.map(lambda item: self.processes.do(function, item), items)


def run_here(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the results of a function on items, one after the other in this thread."""
    return map(function, items)


def cut_batches(
    items: Iterable[Item], weight: Callable[[Item], int], most: int = BATCH_BYTES
) -> Iterator[list[Item]]:
    """Yield runs of items that are worth one task: not too many, and together no heavier than ``most``."""
    batch: list[Item] = []
    total = 0
    for item in items:
        if batch and (len(batch) == BATCH_ITEMS or total + weight(item) > most):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += weight(item)
    if batch:
        yield batch
