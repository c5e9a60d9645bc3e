"""Kinds of ends of an attempt, as data: one module for each domain."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from pipeline.simulate.faults.kinds import Fault, Line


def _found() -> tuple[Fault, ...]:
    """Return the kinds of ends of every module here."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return tuple(fault for module in modules for fault in getattr(module, "FAULTS", ()))


FAULTS = _found()
BY_NAME = {fault.name: fault for fault in FAULTS}

NO_LINE = "no line of any log names it: a person's verdict does"

#: Causes that no kind of end here has, and why.
WITHOUT: Mapping[str, str] = {
    "data_exhausted": "an invented run has the data for its last step",
    "gpu_occupied": "an invented host is empty when a job begins",
    "host_overload": NO_LINE,
    "maintenance": "a person's stop in the time of declared maintenance is one",
    "ran_out_of_data": "an invented run has the data for its last step",
    "slowdown": NO_LINE,
    "unknown": "what really happened has a cause",
}

__all__ = ["BY_NAME", "FAULTS", "NO_LINE", "WITHOUT", "Fault", "Line"]
