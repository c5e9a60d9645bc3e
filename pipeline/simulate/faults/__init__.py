"""Kinds of ends of an attempt, as data: one module for each domain."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from pipeline.simulate.faults.kinds import Fault, Line


def _found() -> tuple[Fault, ...]:
    """Return the kinds of ends of every module here."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return tuple(fault for module in modules for fault in getattr(module, "FAULTS", ()))


FAULTS = _found()
BY_NAME = {fault.name: fault for fault in FAULTS}

__all__ = ["BY_NAME", "FAULTS", "Fault", "Line"]
