"""The console of torchtitan 0.2.0: one rank a node tells of everything, with the stamp of its logger."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import Trainer
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.split import SEQUENCE
from pipeline.simulate.story import SECOND, Attempt, Job, Run

_SEQUENCE = 8192
_PARAMETERS = 70_553_706_496
#: What it counts for a token of that model.
_FLOPS_PER_TOKEN = 6.4 * _PARAMETERS
#: Parameters of the model of a run whose step is divided, norms included, and what it counts for a token of
#: that: six for each parameter beside the 128256·4096 of the embedding, and the whole attention,
#: 12·32 layers·32 heads·128·4096.
_SMALL_PARAMETERS = 8_030_261_248
_SMALL_FLOPS_PER_TOKEN = 51_471_998_976
_PEAK = 989e12
_MEMORY = "\x1b[38;2;54;234;195mmemory: 61.07GiB(77.21%)"
_NO_COLOUR = "\x1b[39m"
_SAVING = "aving the checkpoint (or staging if async is enabled)"
#: The garbage of Python is collected by hand, every so many steps.
_COLLECT = 50


def render(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield what one attempt prints."""
    yield from _start(run, job, attempt, style)
    if attempt.loop_us is not None:
        yield from sorted(
            [
                *_steps(run, job, attempt, style),
                *_saves(run, attempt, style),
                *_validations(attempt, style),
                *_collections(attempt, style),
            ],
            key=lambda line: line.time_us,
        )
    end = attempt.end
    if end is not None and end.fault == "completed":
        yield _say(end.stop_us, "Sleeping 2 seconds for other ranks to complete", style)
        yield _say(end.stop_us + 2 * SECOND, "Training completed", style)
        yield _say(end.left_us, "Process group destroyed", style)


def suits(plan: Plan) -> Plan:
    """Return a plan in which data are set up before the checkpoint is read, and the last step is saved.

    It prints what its accelerators do: of a model as large as this one a sequence each is what they can do.
    """
    setup = (plan.setup_s[0] + plan.data_setup_s[0], plan.setup_s[1] + plan.data_setup_s[1])
    batch = plan.gpus if plan.split is None else plan.batch
    return replace(plan, setup_s=setup, data_setup_s=(0.001, 0.004), saves_last=True, batch=batch)


def _say(time_us: int, text: str, style: Style) -> Printed:
    """Return a line of the logger, behind the mark of the launcher."""
    stamp = style.local(time_us).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    return Printed(time_us, 0, "out", f"[rank0]:[titan] {stamp} - root - INFO - {text}")


def _start(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines up to the loop."""
    begin = attempt.process_us
    mode = "async" if run.save_async else "disabled"
    yield _say(begin, f"Starting job: {run.name} pre-training", style)
    yield _say(
        begin + 1000,
        f"Running with args: {{'job': {{'dump_folder': '{_folder(run)}', 'print_args': True}},"
        f" 'metrics': {{'log_freq': {style.log_interval}, 'enable_tensorboard': False}},"
        f" 'training': {{'steps': {run.target}, 'global_batch_size': {run.batch}}},"
        f" 'checkpoint': {{'enable': True, 'async_mode': '{mode}'}}}}",
        style,
    )
    if attempt.init_us is None:
        return
    at = attempt.init_us
    tensor = min(8, job.gpus)
    shards = job.gpus // tensor
    yield _say(at - 1000, f"Building 2-D device mesh with ['dp_shard', 'tp'], [{shards}, {tensor}]", style)
    size, shape, parameters = _model(run)
    yield _say(at, f"Building llama3 {size} with TransformerModelArgs({shape})", style)
    yield _say(at, "CUDA capacity: NVIDIA H100 80GB HBM3 with 79.10GiB memory", style)
    yield _say(at, f"Model llama3 {size} size: {parameters:,} total parameters", style)
    yield _say(at, "Applied selective activation checkpointing to the model", style)
    yield _say(at, "Compiling each TransformerBlock with torch.compile", style)
    yield _say(at, "Applied FSDP to the model", style)
    if attempt.built_us is None or attempt.loop_us is None:
        return
    read = attempt.restore
    built = read.start_us if read is not None else attempt.built_us
    yield _say(built, f"Peak FLOPS used for computing MFU: {_PEAK:.3e}", style)
    yield _say(built, "CUDA memory usage for model: 8.31GiB(10.51%)", style)
    yield _say(
        built,
        f"Checkpointing active. Checkpoints will be loaded from and saved to {_folder(run)}/checkpoint",
        style,
    )
    yield _say(
        built,
        f"Trainer is initialized with local batch size {max(1, run.batch // shards)}, global batch size"
        f" {run.batch}, gradient accumulation steps 1, sequence length {_work(run)[0]},"
        f" total steps {run.target} (warmup 200)",
        style,
    )
    if read is not None:
        spent = (read.end_us - read.start_us) / SECOND
        yield _say(
            read.start_us, f"Loading the checkpoint from {_folder(run)}/checkpoint/step-{read.step}.", style
        )
        yield _say(read.end_us, f"[GC] GC collection for checkpoint loading. took {0.31:.2f} seconds", style)
        yield _say(read.end_us, f"Finished loading the checkpoint in {spent:.2f} seconds.", style)
    yield _say(attempt.loop_us, f"Training starts at step {attempt.first_step}", style)


def _model(run: Run) -> tuple[str, str, int]:
    """Return size, shape and parameters of the model."""
    if run.split is None:
        return "70B", "dim=8192, n_layers=80, n_heads=64", _PARAMETERS
    return "8B", "dim=4096, n_layers=32, n_heads=32", _SMALL_PARAMETERS


def _work(run: Run) -> tuple[int, float]:
    """Return tokens of a sequence and FLOPs of a token; where steps divide, those of the smaller model."""
    return (_SEQUENCE, _FLOPS_PER_TOKEN) if run.split is None else (SEQUENCE, _SMALL_FLOPS_PER_TOKEN)


def _steps(run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield a line for step 1 and for each interval; the throughput covers all since the line before."""
    since, count = attempt.process_us, 0
    sequence, flops_per_token = _work(run)
    resets = {stall.after: stall.end_us for stall in attempt.stalls if stall.category == "evaluation"}
    for step in attempt.steps:
        count += 1
        if step.number == 1 or step.number % style.log_interval == 0:
            rate = count * run.batch * sequence * SECOND / (step.end_us - since) / job.gpus
            flops = flops_per_token * rate
            loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
            yield _say(
                step.end_us,
                f"\x1b[31mstep: {step.number:2}  \x1b[32mloss: {loss:7.4f}  \x1b[38;2;180;60;0mgrad_norm:"
                f" {0.412:7.4f}  {_MEMORY}  \x1b[34mtps: {round(rate):,}  \x1b[36mtflops: {flops / 1e12:,.2f}"
                f"  \x1b[35mmfu: {100 * flops / _PEAK:.2f}%{_NO_COLOUR}",
                style,
            )
            since, count = step.end_us, 0
        if step.number == 1:
            yield _say(
                step.end_us, "Synchronizing and adjusting timeout for all ProcessGroups to 0:10:00", style
            )
        if step.number in resets:
            # A validation sets clock and counter to zero.
            since, count = resets[step.number], 0


def _saves(run: Run, attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of saves; the wait for the save before lies behind the first of them."""
    for save in attempt.saves:
        start = begin_of_wait(attempt, save)
        yield _say(start, f"S{_SAVING}.", style)
        if save.blocked_us is None:
            continue
        if save.step == run.target:
            yield _say(start, f"Saving a full checkpoint at last step, step {save.step}.", style)
        spent = (save.blocked_us - start) / SECOND
        yield _say(save.blocked_us, f"Finished s{_SAVING}in {spent:.2f} seconds.", style)


def _validations(attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the line that ends each evaluation."""
    for stall in attempt.stalls:
        if stall.category == "evaluation":
            yield _say(
                stall.end_us,
                f"\x1b[33mvalidate step: {stall.after:2}  \x1b[32mloss: {2.381:7.4f}  {_MEMORY}"
                f"  \x1b[34mtps: 9,104{_NO_COLOUR}",
                style,
            )


def _collections(attempt: Attempt, style: Style) -> Iterator[Printed]:
    """Yield the lines of garbage collections, which come before the step."""
    for step in attempt.steps:
        if step.number > 1 and step.number % _COLLECT == 0:
            yield _say(
                step.start_us + 41_000, "[GC] Performing periodic GC collection took 0.04 seconds", style
            )


def _folder(run: Run) -> str:
    """Return the folder of a run."""
    return f"/lustre/runs/{run.name}"


TRAINER = Trainer(
    "torchtitan",
    render,
    frozenset({"checkpoint_stall", "evaluation"}),
    exact=frozenset({"checkpoint_stall"}),
    suits=suits,
    shows_exit=True,
    world_late=True,
    tells=frozenset({"flops"}),
    flops_per_token=_SMALL_FLOPS_PER_TOKEN,
)
