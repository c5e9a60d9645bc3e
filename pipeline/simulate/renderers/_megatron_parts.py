"""Blocks of component times of Megatron-LM, levels 1 and 2: the shortest and the longest of any rank.

What lies in what is as upstream has it: a batch is fetched inside ``forward-compute``, stages of a pipeline
wait inside ``forward-backward``, and parameters are gathered and copied inside ``optimizer``. Gradients are
reduced inside ``forward-backward`` since core 0.6, and after it before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.simulate.split import Parts, parts_of
from pipeline.simulate.story import Attempt, Run, Split, Step

#: Shares of what is computed: forward, backward, and the update of the optimizer.
_FORWARD, _BACKWARD = 0.32, 0.64
#: Of the communication that nothing hides: reduction of gradients; the rest gathers parameters.
_REDUCED = 0.7
#: Of the copies: gradients to the main copy; the rest back to the parameters of the model.
_IN = 0.6

#: The shortest and the longest time of any rank, in microseconds.
Range = tuple[float, float]


def ranges(parts: Parts, nests_reduction: bool) -> dict[str, Range]:
    """Return the timers of a step in the order in which they are printed; those that never ran are absent."""

    def computed(share: float) -> Range:
        return share * parts.compute_least, share * parts.compute

    def both(time: float) -> Range:
        return time, time

    forward, backward = computed(_FORWARD), computed(_BACKWARD)
    inner = computed(1 - _FORWARD - _BACKWARD)
    gathered = (1 - _REDUCED) * parts.comm
    # Who computes longest waits for nobody; all others wait for it where gradients are reduced.
    reduced = (parts.comm - gathered, parts.comm_most - gathered)
    slowest = forward[1] + backward[1] + parts.data_wait + parts.bubble
    whole = both(slowest + reduced[0] * nests_reduction)
    optimizer = both(inner[1] + gathered + parts.memory_copy)
    timers = {
        "forward-backward": whole,
        "all-grads-sync": reduced,
        "params-all-gather": both(gathered),
        "optimizer-copy-to-main-grad": both(_IN * parts.memory_copy),
        "optimizer-inner-step": inner,
        "optimizer-copy-main-to-model-params": both((1 - _IN) * parts.memory_copy),
        "optimizer": optimizer,
        "batch-generator": both(parts.data_wait),
        "forward-compute": (forward[0] + parts.data_wait, forward[1] + parts.data_wait),
        "backward-compute": backward,
        "forward-recv": both(parts.bubble / 2),
        "backward-recv": both(parts.bubble / 2),
    }
    return {name: told for name, told in timers.items() if told[1] > 0}


def block(
    run: Run, attempt: Attempt, split: Split, steps: Sequence[Step], interval: int, nests_reduction: bool
) -> Iterator[str]:
    """Yield the lines of a block, which divides the sum of its steps by the log interval, however few.

    What the first step of an attempt takes longer is spent in its first forward pass.
    """
    sums: dict[str, list[float]] = {}
    for step in steps:
        warm = attempt.warmup_us if step is attempt.steps[0] else 0
        for name, told in ranges(parts_of(run, attempt, step, split), nests_reduction).items():
            added = warm if name in ("forward-backward", "forward-compute") else 0
            entry = sums.setdefault(name, [0.0, 0.0])
            entry[0] += told[0] + added
            entry[1] += told[1] + added
    yield "(min, max) time across ranks (ms):"
    for name, (least, most) in sums.items():
        each = 1000 * interval
        yield f"    {name} {'.' * (47 - len(name))}: ({least / each:.2f}, {most / each:.2f})"
