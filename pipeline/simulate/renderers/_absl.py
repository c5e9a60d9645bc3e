"""Lines of absl's logger, and what Orbax says through it: common to programs on JAX."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.story import SECOND, Restore, Save

_THREAD = 139871


def say(time_us: int, place: str, text: str, style: Style, level: str = "I") -> Printed:
    """Return a line of process 0: severity, day and time without a year, thread, and who called."""
    stamp = style.local(time_us).strftime("%m%d %H:%M:%S.%f")
    return Printed(time_us, 0, "err", f"{level}{stamp} {_THREAD} {place}] {text}")


def orbax_save(
    save: Save, start: int, label: str, folder: str, asynchronous: bool, style: Style
) -> Iterator[Printed]:
    """Yield what Orbax 0.12 prints of a save that stopped the loop at ``start``; ``label`` is its folder."""
    way = "async" if asynchronous else "sync"
    path, step = f"{folder}/{label}", int(label.removeprefix("step_"))
    waited = (save.start_us - start) / SECOND
    if waited > 0:
        text = (
            f"Waiting for previous save to complete took {waited:f} seconds. If this number is high, consider"
            " checkpointing less frequently."
        )
        yield say(save.start_us, "checkpoint_manager.py:1466", text, style, "W")
    yield say(
        save.start_us, "checkpoint_manager.py:1526", f"[process=0] Saving checkpoint at step {step}", style
    )
    yield say(
        save.start_us,
        "event_tracking.py:101",
        f"[process=0] [{way}] Started save checkpoint @ {path}.",
        style,
    )
    if asynchronous and save.blocked_us is not None:
        spent = (save.blocked_us - save.start_us) / SECOND
        text = f"[process=0] [async] Finished blocking save in {spent:.2f} seconds. Continuing save @ {path}."
        yield say(save.blocked_us, "event_tracking.py:172", text, style)
    if save.durable_us is not None:
        spent = (save.durable_us - save.start_us) / SECOND
        both = " (blocking + background)" if asynchronous else ""
        text = f"[process=0] [{way}] Finished save{both} in {spent:.2f} seconds @ {path}"
        yield say(save.durable_us, "event_tracking.py:185", text, style)


def orbax_load(read: Restore, label: str, folder: str, style: Style) -> Iterator[Printed]:
    """Yield what Orbax 0.12 prints of a load."""
    path = f"{folder}/{label}"
    yield say(
        read.start_us, "event_tracking.py:101", f"[process=0] [sync] Started load checkpoint @ {path}.", style
    )
    yield say(read.start_us, "checkpointer.py:323", f"Restoring checkpoint from {path}.", style)
    spent = (read.end_us - read.start_us) / SECOND
    yield say(
        read.end_us,
        "event_tracking.py:185",
        f"[process=0] [sync] Finished load in {spent:.2f} seconds @ {path}",
        style,
    )
