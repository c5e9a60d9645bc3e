"""Traces of the PyTorch profiler (Kineto) → records: where the time of each device went.

Of a trace, which may hold millions of events, a record for each device and kind of work is kept, and one with
what the trace says of itself. Names of kernels and of operators are not kept.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from pipeline.ingest.documents import Document, Record
from pipeline.ingest.trace_events import TraceEvents
from pipeline.ingest.trace_times import (
    COMMUNICATION,
    COMPUTE,
    COPY,
    LATE_LAUNCH,
    NOT_KNOWN,
    QUEUED,
    Activities,
    Ints,
    shares_of,
)

#: Category of an event, in lower case, to what its device did. Names of 2021 and of today.
_WORK = {
    "kernel": COMPUTE,
    "gpu_memcpy": COPY,
    "memcpy": COPY,
    "gpu_memset": COPY,
    "memset": COPY,
}
#: Categories of calls by which a processor asks for it.
_LAUNCHES = ("cuda_runtime", "cuda_driver", "runtime")

_IDLE = {LATE_LAUNCH: "late_launch", QUEUED: "queued", NOT_KNOWN: "not_known"}

#: Kernels of libraries that move data between devices.
_COLLECTIVE = re.compile(r"\b(?:nccl|rccl|mscclpp|oneccl|hccl)|^nccl", re.IGNORECASE)

#: What kernels and calls are named after, without marks and case, to the kind; the first counts.
_KINDS = (
    ("reducescatter", "reduce_scatter"),
    ("allreduce", "all_reduce"),
    ("allgather", "all_gather"),
    ("alltoall", "all_to_all"),
    ("broadcast", "broadcast"),
    ("sendrecv", "send_recv"),
    ("send", "send_recv"),
    ("recv", "send_recv"),
    ("reduce", "reduce"),
    ("barrier", "barrier"),
)
_MARKS = re.compile(r"[^a-z]")

#: Bytes of an element by the name that the profiler gives its type.
_ELEMENT_BYTES = {
    **dict.fromkeys(("Byte", "Char", "Bool", "Float8_e4m3fn", "Float8_e5m2"), 1),
    **dict.fromkeys(("Short", "Half", "BFloat16"), 2),
    **dict.fromkeys(("Int", "Float"), 4),
    **dict.fromkeys(("Long", "Double"), 8),
}

#: Microseconds since the epoch that no trace reaches.
_LATEST = 9e15

_STEP = re.compile(r"ProfilerStep#(\d+)$")


class _Device:
    """Activities of one device, as they are met."""

    def __init__(self) -> None:
        self.columns = {name: array("q") for name in ("start", "end", "work", "kind", "bytes", "call")}

    def add(self, *values: int) -> None:
        """Add an activity: start, end, work, kind, bytes, and the number of the call that asked for it."""
        for column, value in zip(self.columns.values(), values, strict=True):
            column.append(value)

    def activities(self, calls: Ints, asked: Ints) -> Activities:
        """Return the activities, with the times at which sorted calls asked for them."""
        found = {name: np.array(column, dtype=np.int64) for name, column in self.columns.items()}
        call = found.pop("call")
        launch = np.full(len(call), -1, dtype=np.int64)
        if len(calls):
            place = np.minimum(np.searchsorted(calls, call), len(calls) - 1)
            hit = (calls[place] == call) & (call >= 0)
            launch[hit] = asked[place[hit]]
        return Activities(**found, launch=launch)


class _Kinds:
    """Numbers for kinds of work with the group of processes that did it."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, str | None], int] = {}

    def number(self, kind: str, group: str | None) -> int:
        """Return the number of a kind in a group."""
        return self.numbers.setdefault((kind, group), len(self.numbers))


def read_trace(blocks: Iterable[bytes]) -> tuple[list[dict[str, Any]], str]:
    """Return the records of a trace, and why its rest cannot be read, or an empty text.

    Nothing is returned for a JSON text that is none of this profiler. Records have ``record`` (``trace`` or
    ``share``), ``start_ns`` since the epoch, ``first_step``, ``last_step``, ``rank`` and what the trace says
    of itself; a share also ``device, component, kind, group, busy_ns, exposed_ns, calls, bytes, span_ns``.
    """
    events = TraceEvents(blocks)
    devices: dict[str, _Device] = {}
    kinds = _Kinds()
    calls, asked = array("q"), array("q")
    steps: list[int] = []
    met = False
    for event in events:
        category = str(event.get("cat") or "").lower()
        work = _WORK.get(category)
        if event.get("ph") != "X" or not category:
            continue
        args = event.get("args")
        args = args if isinstance(args, Mapping) else {}
        start = _nanoseconds(event.get("ts"))
        if start is None:
            continue
        met = met or category in ("cpu_op", "operator", "kernel")
        if work is not None:
            end = start + (_nanoseconds(event.get("dur")) or 0)
            device = devices.setdefault(str(args.get("device", event.get("pid", ""))), _Device())
            name = str(event.get("name") or "")
            device.add(
                start, end, *_classified(work, category, name, args, kinds), _whole(args.get("correlation"))
            )
        elif category in _LAUNCHES and "correlation" in args:
            calls.append(_whole(args["correlation"]))
            asked.append(start)
        elif step := _STEP.search(str(event.get("name") or "")):
            steps.append(int(step[1]))
    if not met and "deviceProperties" not in events.head:
        return [], events.broken
    said = _said(events.head, steps)
    base = _whole(events.head.get("baseTimeNanoseconds"), 0)
    numbers, times = np.array(calls, dtype=np.int64), np.array(asked, dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    numbers, times = numbers[order], times[order]
    found: list[dict[str, Any]] = []
    names = {number: name for name, number in kinds.numbers.items()}
    for device_name, device in sorted(devices.items()):
        done = device.activities(numbers, times)
        begin, end = int(done.start.min()), int(done.end.max())
        about = {**said, "device": device_name, "start_ns": base + begin, "span_ns": end - begin}
        for share in shares_of(done):
            kind, group = (_IDLE[share.kind], None) if share.kind < 0 else names[share.kind]
            found.append(
                {
                    **about,
                    "record": "share",
                    "component": share.work,
                    "kind": kind,
                    "group": group,
                    "busy_ns": share.busy_ns,
                    "exposed_ns": share.exposed_ns,
                    "calls": share.calls,
                    "bytes": share.bytes,
                }
            )
    start_ns = min((record["start_ns"] for record in found), default=None)
    return [{**said, "record": "trace", "start_ns": start_ns}, *found], events.broken


def trace_document(blocks: Iterable[bytes], height: Callable[[], int]) -> Document:
    """Return the records of a trace as a document; ``height`` tells in the end how many lines it has."""
    records, broken = read_trace(blocks)
    lines = height()
    # What is known of a trace comes from all of its lines. Where it was cut, the last one is torn.
    last = lines - 1 if broken else lines
    return Document([Record(record, 1, max(last, 1)) for record in records], lines if broken else 0)


def _classified(
    work: int, category: str, name: str, args: Mapping[str, Any], kinds: _Kinds
) -> tuple[int, int, int]:
    """Return work, number of the kind, and bytes of an activity of a device."""
    if work == COMPUTE:
        called = args.get("Collective name")
        if called is None and not _COLLECTIVE.search(name):
            return COMPUTE, kinds.number("kernel", None), -1
        group = args.get("Process Group Description") or args.get("Process Group Name")
        kind = _kind_of(str(called or name))
        return COMMUNICATION, kinds.number(kind, None if group is None else str(group)), _moved(args)
    kind = "set" if "memset" in category else name.partition("Memcpy ")[2].partition(" ")[0].lower() or "copy"
    return COPY, kinds.number(kind, None), _whole(args.get("bytes"))


def _kind_of(name: str) -> str:
    """Return the kind of collective that a name tells of."""
    bare = _MARKS.sub("", name.lower())
    return next((kind for text, kind in _KINDS if text in bare), "other")


def _moved(args: Mapping[str, Any]) -> int:
    """Return the bytes that a collective moved on this rank: the larger of what it read and wrote; or -1."""
    element = _ELEMENT_BYTES.get(str(args.get("dtype")), 0)
    counts = max(_whole(args.get("In msg nelems")), _whole(args.get("Out msg nelems")))
    return counts * element if element and counts >= 0 else -1


def _said(head: Mapping[str, Any], steps: list[int]) -> dict[str, Any]:
    """Return what a trace says of itself."""
    distributed = head.get("distributedInfo")
    distributed = distributed if isinstance(distributed, Mapping) else {}
    devices = head.get("deviceProperties")
    first = devices[0] if isinstance(devices, list) and devices and isinstance(devices[0], Mapping) else {}
    return {
        "rank": distributed.get("rank"),
        "world_size": distributed.get("world_size"),
        "nccl_version": distributed.get("nccl_version"),
        "gpu_model": first.get("name"),
        "first_step": min(steps, default=None),
        "last_step": max(steps, default=None),
    }


def _nanoseconds(micros: Any) -> int | None:
    """Return microseconds, whole or not, as whole nanoseconds."""
    # Beyond that is no time, and no number of 64 bits.
    if not isinstance(micros, int | float) or not abs(micros) < _LATEST:
        return None
    # Since the epoch there are too many nanoseconds for a number with a fraction.
    whole = int(micros)
    return whole * 1000 + round((micros - whole) * 1000)


def _whole(value: Any, otherwise: int = -1) -> int:
    """Return a value that is a whole number of 64 bits, else what stands for none."""
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else otherwise


def iter_text(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield lines of text as the bytes of a file."""
    return (f"{text}\n".encode() for text in texts)
