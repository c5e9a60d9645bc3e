"""What several trainers tell of the stalls of a loop."""

from __future__ import annotations

from pipeline.simulate.story import Attempt, Save


def begin_of_wait(attempt: Attempt, save: Save) -> int:
    """Return when the loop stopped for a save, the wait for the save before included, in microseconds."""
    waits = [
        stall.start_us
        for stall in attempt.stalls
        if stall.category == "checkpoint_stall" and stall.after == save.step
    ]
    return min([save.start_us, *waits])
