"""Which steps of a run are in its final state, and whose end undid the others."""

from __future__ import annotations

from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.story import Attempt, Run


def survival(run: Run) -> dict[int, int]:
    """Return for each attempt the last of its steps that survived; one before its first for none."""
    survives = {attempt.number: attempt.first_step - 1 for attempt in run.attempts}
    trained = [attempt for attempt in run.attempts if attempt.steps]
    if not trained:
        return survives
    last = trained[-1]
    to = last.steps[-1].number
    end = last.end
    if end is not None and BY_NAME[end.fault].kind not in ("completed", "ongoing"):
        # Nothing followed: what was saved is what is left.
        durable = [save.step for save in last.saves if save.durable_us is not None]
        if any(attempt.saves for attempt in run.attempts):
            to = max(durable, default=last.first_step - 1)
    by_number = {attempt.number: attempt for attempt in run.attempts}
    at: Attempt | None = last
    while at is not None:
        survives[at.number] = to
        if at.restore is None:
            break
        to, at = at.restore.step, by_number[at.restore.saved_by]
    return survives


def overwritten_by(run: Run, it: Attempt, step: int) -> int:
    """Return the attempt whose end stands before the restore that made a step undone.

    A start that failed in between undid nothing.
    """
    trained = it.number
    for later in run.attempts[it.number :]:
        if later.steps:
            if later.first_step <= step:
                break
            trained = later.number
    return trained
