"""A program of one's own under torchft: each step that a replica group commits, with a stamp."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._plain import only_steps
from pipeline.simulate.story import Attempt, Job, Run


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    group = f"rep_0:{run.name}-{attempt.number:04x}/0"
    begin = attempt.process_us
    address = f"http://{job.hosts[0]}:41877/checkpoint/..."
    yield _say(begin, "checkpointing.http_transport", f"Started CheckpointServer on {address}", style)
    store = f"{job.hosts[0]}:29512/torchft/{attempt.number}/0"
    quorum = f"reconfiguring for quorum_id={attempt.number} store_prefixed_addr='{store}'"
    yield _say(begin, "manager", f"[{group} - step 0] {quorum}", style)
    for step in attempt.steps:
        commit = "should_commit=True enough_replicas=True, errored=None"
        # The steps that were committed before this one.
        yield _say(step.end_us, "manager", f"[{group} - step {step.number - 1}] {commit}", style)


def _say(time_us: int, module: str, text: str, style: Style) -> Printed:
    """Return a line of a module's logger."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    return Printed(time_us, 0, "out", f"{stamp} - torchft.{module} - INFO - {text}")


TRAINER = Trainer(
    "torchft",
    render,
    frozenset(),
    suits=only_steps,
    shows_world=False,
)
