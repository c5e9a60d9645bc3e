"""The console of verl: Ray tells when it starts, the driver how long each step took."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._plain import only_steps
from pipeline.simulate.story import SECOND, Attempt, Job, Run, Step

_ANSWER = 4096


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    begin = attempt.process_us
    pid = 40_000 + 7 * attempt.number
    stamp = style.local(begin).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    yield _say(begin, f"{stamp}\tINFO worker.py:1841 -- Started a local Ray instance.")
    driver = f"(TaskRunner pid={pid}) "
    for text in (
        f"TaskRunner hostname: {job.hosts[0]}, PID: {pid}",
        "{'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,",
        f"           'train_batch_size': {run.batch},",
        f"              'experiment_name': '{run.name}',",
        f"              'n_gpus_per_node': {run.gpus_per_host},",
        f"              'nnodes': {job.gpus // run.gpus_per_host},",
        "              'save_freq': -1,",
        "[validate_config] All configuration checks passed successfully!",
        f"Total training steps: {run.target}",
        "Training from scratch",
    ):
        yield _say(begin, driver + text)
    if attempt.loop_us is None:
        return
    for step in attempt.steps:
        yield _say(step.end_us, driver + _metrics(run, job, step))
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield _say(end.stop_us, driver + "('Final validation metrics: None')")


def _say(time_us: int, text: str) -> Printed:
    """Return a line of the driver."""
    return Printed(time_us, 0, "out", text)


def _metrics(run: Run, job: Job, step: Step) -> str:
    """Return the line of a step."""
    spent = (step.end_us - step.start_us) / SECOND
    tokens = run.batch * _ANSWER
    return (
        f"step:{step.number} - actor/pg_loss:0.0132 - actor/grad_norm:0.2011 - training/epoch:0"
        f" - timing_s/gen:{0.55 * spent} - timing_s/update_actor:{0.3 * spent} - timing_s/step:{spent}"
        f" - perf/total_num_tokens:{tokens} - perf/time_per_step:{spent}"
        f" - perf/throughput:{tokens / spent / job.gpus}"
    )


TRAINER = Trainer(
    "verl",
    render,
    frozenset(),
    suits=only_steps,
    shows_world=False,
    dates_start=False,
    dates_steps=False,
)
