"""The log of modded-nanogpt: a table of GPUs with the only time, then steps by a clock of their own."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._plain import only_steps
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_RULE = "=" * 100


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    begin = attempt.process_us
    shown = style.local(begin)
    table = [
        _RULE,
        "Running Python 3.12.7 (main, Oct 22 2025, 02:20:45) [GCC 13.2.0]",
        "Running PyTorch 2.10.0.dev20251022+cu126 compiled for CUDA 12.6",
        "Running Triton version 3.5.0",
        f"{shown:%a %b} {shown.day:2} {shown:%H:%M:%S %Y}       ",
        "+-----------------------------------------------------------------------------------------+",
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |",
        *(_card(gpu) for gpu in range(run.gpus_per_host)),
        "+-----------------------------------------------------------------------------------------+",
        _RULE,
    ]
    for text in table:
        yield Printed(begin, 0, "out", text)
    if attempt.loop_us is None:
        return
    for step in attempt.steps:
        spent = (step.end_us - attempt.loop_us) / 1000
        yield Printed(
            step.end_us,
            0,
            "out",
            f"step:{step.number}/{run.target} train_time:{spent:.0f}ms step_avg:{spent / step.number:.2f}ms",
        )
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield Printed(end.stop_us, 0, "out", "peak memory allocated: 30724 MiB reserved: 46472 MiB")


def _card(gpu: int) -> str:
    """Return the row of a GPU in the table."""
    address = f"00000000:{0x1B + 0x20 * gpu % 0xE0:02X}:00.0"
    return f"|   {gpu}  NVIDIA H100 80GB HBM3          Off |   {address} Off |                    0 |"


TRAINER = Trainer(
    "nanogpt",
    render,
    frozenset(),
    suits=only_steps,
    resolution_us=SECOND,
    shows_world=False,
    dates_start=False,
    dates_steps=False,
)
