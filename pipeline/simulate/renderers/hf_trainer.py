"""The console of the Hugging Face Trainer 4.57: bars with a clock of their own, and stamped lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_PARAMETERS = 7_241_732_096
_CELLS = " ▏▎▍▌▋▊▉█"


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is None:
        return
    yield from sorted(
        [*_steps(run, attempt, style), *_saves(run, attempt, style), *_evaluations(attempt, style)],
        key=lambda line: line.time_us,
    )
    end = attempt.end
    if end is not None and end.fault == "completed":
        spent = (end.stop_us - attempt.loop_us) / SECOND
        yield _say(end.stop_us, "trainer.py:2790", "", style)
        yield _bare(
            end.stop_us,
            "Training completed. Do not forget to share your model on huggingface.co/models =)",
        )
        yield _bare(
            end.stop_us,
            f"{{'train_runtime': {spent:.4f},"
            f" 'train_samples_per_second': {run.target * run.batch / spent:.3f},"
            f" 'train_steps_per_second': {run.target / spent:.3f}, 'train_loss': 2.1021, 'epoch': 1.0}}",
        )


def suits(plan: Plan) -> Plan:
    """Return a plan in which nothing parts the start, and saves end before the loop goes on."""
    starts = (plan.init_s, plan.setup_s, plan.data_setup_s)
    start = (sum(shortest for shortest, _ in starts), sum(longest for _, longest in starts))
    return replace(plan, init_s=start, setup_s=(0.0, 0.0), data_setup_s=(0.002, 0.004), save_async=False)


def _bare(time_us: int, text: str) -> Printed:
    """Return a line without any header."""
    return Printed(time_us, 0, "out", text)


def _say(time_us: int, place: str, text: str, style: Style) -> Printed:
    """Return a line of the logger."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    return Printed(time_us, 0, "out", f"[INFO|{place}] {stamp} >> {text}")


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    yield _say(attempt.process_us, "training_args.py:1902", "PyTorch: setting up devices", style)
    yield _say(
        attempt.process_us + 1000,
        "configuration_utils.py:733",
        "loading configuration file /lustre/models/heron-7b/config.json",
        style,
    )
    if attempt.init_us is None or attempt.built_us is None or attempt.loop_us is None:
        return
    read = attempt.restore
    if read is not None:
        yield _say(read.start_us, "trainer.py:2808", f"Loading model from {_folder(run, read.step)}.", style)
    at = attempt.loop_us
    yield _say(at, "trainer.py:2519", "***** Running training *****", style)
    head = (
        f"Num examples = {run.target * run.batch:,}",
        "Num Epochs = 1",
        f"Instantaneous batch size per device = {max(1, run.batch // job.gpus)}",
        f"Total train batch size (w. parallel, distributed & accumulation) = {run.batch:,}",
        "Gradient Accumulation steps = 1",
        f"Total optimization steps = {run.target:,}",
        f"Number of trainable parameters = {_PARAMETERS:,}",
    )
    for number, line in enumerate(head, 2520):
        yield _say(at, f"trainer.py:{number}", f"  {line}", style)
    if read is not None:
        yield _say(
            at,
            "trainer.py:2540",
            "  Continuing training from checkpoint, will skip to saved global_step",
            style,
        )
        yield _say(at, "trainer.py:2542", f"  Continuing training from global step {read.step}", style)


def _steps(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a bar and a dictionary for each interval."""
    assert attempt.loop_us is not None
    yield _bare(attempt.loop_us, f"\r  0%|          | 0/{run.target} [00:00<?, ?it/s]")
    for step in attempt.steps:
        if step.number % style.log_interval:
            continue
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        epoch = round(step.number / run.target, 2)
        yield _bare(
            step.end_us,
            f"{{'loss': {loss:.4f}, 'grad_norm': 0.4121, 'learning_rate': 2.9e-05, 'epoch': {epoch}}}",
        )
        yield _bare(
            step.end_us, _bar(run.target, step.number, step.end_us - attempt.loop_us, attempt.step_us)
        )


def _bar(total: int, done: int, elapsed_us: int, step_us: int) -> str:
    """Return a progress bar as it is drawn: its clock knows whole seconds, cut off."""
    eighths = 80 * done // total
    bar = ("█" * (eighths // 8) + _CELLS[eighths % 8].strip()).ljust(10)
    left = _clock((total - done) * step_us)
    return (
        f"\r{100 * done / total:3.0f}%|{bar}| {done}/{total}"
        f" [{_clock(elapsed_us)}<{left}, {step_us / SECOND:5.2f}s/it]"
    )


def _clock(time_us: int) -> str:
    """Return a length as a bar shows it."""
    minutes, seconds = divmod(time_us // SECOND, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"


def _saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves; none says when one was over."""
    for save in attempt.saves:
        folder = _folder(run, save.step)
        yield _say(save.start_us, "trainer.py:3984", f"Saving model checkpoint to {folder}", style)
        yield _say(
            save.start_us, "configuration_utils.py:414", f"Configuration saved in {folder}/config.json", style
        )


def _evaluations(attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of evaluations, with one of the bars that are drawn below that of the training."""
    for stall in attempt.stalls:
        if stall.category != "evaluation":
            continue
        spent = (stall.end_us - stall.start_us) / SECOND
        yield _say(stall.start_us, "trainer.py:4307", "***** Running Evaluation *****", style)
        yield _say(stall.start_us, "trainer.py:4309", "  Num examples = 64", style)
        yield _say(stall.start_us, "trainer.py:4312", "  Batch size = 8", style)
        half = _clock((stall.end_us - stall.start_us) // 2)
        yield _bare(stall.end_us, f"\r 50%|█████     | 4/8 [{half}<{half},  1.21s/it]\x1b[A")
        yield _bare(
            stall.end_us,
            f"{{'eval_loss': 2.3811, 'eval_runtime': {spent:.4f},"
            f" 'eval_samples_per_second': {64 / spent:.3f},"
            f" 'eval_steps_per_second': {8 / spent:.3f}, 'epoch': 0.5}}",
        )


def _folder(run: Run, step: int) -> str:
    """Return the folder of a checkpoint."""
    return f"/lustre/runs/{run.name}/checkpoint-{step}"


TRAINER = Trainer(
    "hf_trainer",
    render,
    frozenset({"checkpoint_stall", "evaluation"}),
    suits=suits,
    resolution_us=SECOND,
    dates_steps=False,
    shows_world=False,
)
