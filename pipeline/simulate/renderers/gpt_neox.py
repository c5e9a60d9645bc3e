"""The console of GPT-NeoX: its step lines have no time, those of DeepSpeed beside them have."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers import Trainer, _deepspeed
from pipeline.simulate.renderers._deepspeed import say
from pipeline.simulate.story import Attempt, Job, Run


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _deepspeed.launch(run, job, attempt, style)
    yield from _arguments(run, job, attempt, style)
    built = _deepspeed.built_us(attempt)
    if built is not None:
        yield say(built, "DeepSpeed is enabled.")
        yield from _deepspeed.configuration(run, built, style)
        yield from _deepspeed.load(run, attempt, style)
        yield from _loaded(run, attempt)
        lines = [*_steps(run, attempt, style), *_deepspeed.saves(run, attempt, style)]
        yield from sorted(lines, key=lambda line: line.time_us)
    yield from _deepspeed.leave(run, attempt, style)


def _arguments(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the block of arguments, each with what set it."""
    begin = attempt.process_us
    yield say(begin, "-------------------- arguments --------------------")
    arguments = {
        "log_interval": style.log_interval,
        "seq_length": 2048,
        "train_batch_size": run.batch,
        "train_iters": run.target,
        "world_size": job.gpus,
    }
    for name, value in arguments.items():
        text = f"{value}"
        yield say(begin, f"  {name} {'.' * (32 - len(name))} {text}{'.' * (28 - len(text))}updated")
    yield say(begin, "---------------- end of arguments ----------------")


def _loaded(run: Run, attempt: Attempt) -> Iterator[Printed]:
    """Yield what it says itself of a load, and that the loop begins."""
    assert attempt.loop_us is not None
    read = attempt.restore
    if read is None:
        assert attempt.built_us is not None
        yield say(attempt.built_us, "Unable to load checkpoint.")
    else:
        path = f"{_deepspeed.folder(run)}/global_step{read.step}/mp_rank_00_model_states.pt"
        yield say(read.end_us, f"  successfully loaded {path}")
        yield say(read.end_us, f"Loading checkpoint and starting from iteration {read.step}")
    yield say(attempt.loop_us, "done with setups ...")
    yield say(attempt.loop_us, "training ...")


def _steps(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of each interval; the printed time is all since the line before, by the interval."""
    assert attempt.loop_us is not None
    since = attempt.loop_us
    for step in attempt.steps:
        if step.number % style.log_interval:
            continue
        # It divides by the interval even where fewer steps were made since a load.
        spent = (step.end_us - since) / style.log_interval / 1000
        loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
        yield from _deepspeed.step(step.number, step.end_us, style)
        yield say(
            step.end_us,
            f" samples/sec: {1000 * run.batch / spent:.3f} | iteration {step.number:8d}/{run.target:8d} |"
            f" elapsed time per iteration (ms): {spent:.1f} | learning rate: 1.000E-04 |"
            f" approx flops per GPU: 121.8TFLOPS | lm_loss: {loss:.6E} | loss scale: 65536.0 |"
            " number of skipped iterations:   0 | number of nan iterations:   0 |",
        )
        since = step.end_us


TRAINER = Trainer(
    "gpt_neox",
    render,
    frozenset({"checkpoint_stall"}),
    exact=frozenset({"checkpoint_stall"}),
    suits=_deepspeed.suits,
    shows_exit=True,
)
