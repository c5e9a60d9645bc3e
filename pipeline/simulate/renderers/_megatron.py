"""The console of Megatron-LM, by release: rank 0 tells of start-up and saves, the last rank of steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.lines import Printed, Style
from pipeline.simulate.renderers._megatron_parts import block
from pipeline.simulate.renderers._stalls import begin_of_wait
from pipeline.simulate.split import SEQUENCE, SHAPE, flops_of_a_step
from pipeline.simulate.story import SECOND, Attempt, Job, Run, Split, Step


@dataclass(frozen=True, slots=True)
class Release:
    """What releases print differently.

    Attributes:
        fraction: whether times carry microseconds, and saves and the start of the process a time at all.
        stamps: whether step lines carry a time.
        formats: whether lines of saves name their storage format, and saves can go on in the background.
        bridge: whether Megatron-Bridge prints it, which knows other lines of start and of a step.
        primus: whether Primus prints it: behind the header of its logger, with means in the step lines.
        nests_reduction: whether gradients are reduced before the timer of both passes stops.
    """

    fraction: bool = True
    stamps: bool = True
    formats: bool = True
    bridge: bool = False
    primus: bool = False
    nests_reduction: bool = True

    def render(self, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
        """Yield what one attempt prints."""
        lines = self._lines(run, job, attempt, style)
        yield from (_headed(line, job, style) for line in lines) if self.primus else lines

    def _lines(self, run: Run, job: Job, attempt: Attempt, style: Style) -> Iterator[Printed]:
        """Yield it without the headers that a wrapper adds."""
        console = _Console(self, run, job, attempt, style)
        yield from console.start()
        if attempt.loop_us is not None:
            yield from sorted(
                [*console.steps(), *console.saves(), *console.evaluations()], key=lambda line: line.time_us
            )
        end = attempt.end
        if end is not None and end.fault == "completed":
            yield console.datetime(end.stop_us, "after training is done")
        elif end is not None and end.told_us is not None:
            yield console.datetime(end.stop_us, BY_NAME[end.fault].farewell)


def _say(time_us: int, text: str, rank: int = 0) -> Printed:
    """Return a line on the standard output of a rank."""
    return Printed(time_us, rank, "out", text)


def _headed(line: Printed, job: Job, style: Style) -> Printed:
    """Return a line behind the header of Primus's logger, in which the clock of its host is."""
    clock = style if line.rank == 0 else style.at(job.hosts[-1])
    stamp = clock.local(line.time_us).strftime("%Y%m%d %H:%M:%S")
    head = f"[{stamp}][rank-{line.rank}/{job.gpus}][INFO]     [{'training.py:1510':->25}] : "
    return line._replace(text=head + line.text)


def _timer(time_us: int, name: str, length_us: int, rank: int) -> Iterator[Printed]:
    """Yield a block with one timer: the shortest and the longest time of any rank, in milliseconds."""
    spent = length_us / 1000
    yield _say(time_us, "(min, max) time across ranks (ms):", rank)
    yield _say(time_us, f"    {name} {'.' * (47 - len(name))}: ({0.999 * spent:.2f}, {spent:.2f})", rank)


@dataclass(frozen=True, slots=True)
class _Console:
    """The console of one attempt."""

    release: Release
    run: Run
    job: Job
    attempt: Attempt
    style: Style

    @property
    def last(self) -> int:
        """The last rank."""
        return self.job.gpus - 1

    @property
    def split(self) -> Split | None:
        """How steps divide, where that is printed; wrappers keep such timers off."""
        return None if self.release.bridge or self.release.primus else self.run.split

    @property
    def folder(self) -> str:
        """The folder of the checkpoints."""
        return f"/lustre/ckpt/{self.run.name}"

    def stamp(self, time_us: int, style: Style | None = None) -> str:
        """Return a time as the trainer prints it, on the first host where nothing else is said."""
        return (
            (style or self.style).local(time_us).strftime(f"%Y-%m-%d %H:%M:%S{'.%f' * self.release.fraction}")
        )

    def mark(self, time_us: int) -> str:
        """Return what stands before the text of a line about a save."""
        return f"[{self.stamp(time_us)}] " if self.release.fraction else ""

    def datetime(self, time_us: int, what: str) -> Printed:
        """Return a line that says what time it is."""
        return _say(time_us, f"[{what}] datetime: {self.stamp(time_us)} ")

    def start(self) -> Iterator[Printed]:
        """Yield the lines up to the loop."""
        if self.release.bridge:
            yield from self._summary()
        else:
            yield from self._sizes()
        attempt, begin = self.attempt, self.attempt.process_us
        if self.release.fraction:
            yield self.datetime(begin, "before library-setup")
        yield _say(begin, "> initializing torch distributed ...")
        if attempt.init_us is None:
            return
        yield _say(
            attempt.init_us,
            f"time to initialize megatron (seconds): {(attempt.init_us - begin) / SECOND:.3f}",
        )
        yield self.datetime(attempt.init_us, "after megatron is initialized")
        if self.release.bridge:
            yield self.datetime(attempt.init_us, "after tokenizer is built")
        yield _say(attempt.init_us, "building GPT model ...")
        if attempt.built_us is None or attempt.loop_us is None:
            return
        yield from self._load()
        yield self.datetime(attempt.built_us, "after model, optimizer, and learning rate scheduler are built")
        yield _say(attempt.built_us, "> building train, validation, and test datasets ...")
        yield self.datetime(attempt.loop_us, "after dataloaders are built")
        yield _say(attempt.loop_us, "done with setup ...")
        if self.release.bridge:
            yield _say(attempt.loop_us, f"Starting training loop at iteration {attempt.first_step - 1}")
            return
        yield _say(attempt.loop_us, "training ...")
        yield self.datetime(attempt.loop_us, "before the start of training step")

    def _summary(self) -> Iterator[Printed]:
        """Yield the summary of Bridge, which does not tell how many processes there are."""
        begin = self.attempt.process_us
        yield _say(begin, "Configuration Summary (Non-Default Values vs Megatron Core)")
        yield _say(begin, "[model] Non-default values (vs Mcore TransformerConfig):")
        yield _say(begin, "  num_layers: 80  (Mcore default: 0)")
        yield _say(begin, "Other Configuration Values:")
        yield _say(begin, f"  async_save: {self.run.save_async}")
        yield _say(begin, f"  global_batch_size: {self.run.batch}")
        yield _say(begin, f"  train_iters: {self.run.target}")

    def _sizes(self) -> Iterator[Printed]:
        """Yield how many processes there are, and the block of arguments."""
        begin, tensor = self.attempt.process_us, min(8, self.job.gpus)
        stages = self.split.pipeline if self.split is not None else 1
        yield _say(
            begin,
            f"using world size: {self.job.gpus}, data-parallel size: {self.job.gpus // tensor // stages},"
            " context-parallel size: 1, hierarchical context-parallel sizes: None,"
            f" tensor-model-parallel size: {tensor}, pipeline-model-parallel size: {stages}",
        )
        yield from self._arguments()

    def _arguments(self) -> Iterator[Printed]:
        """Yield the block of arguments."""
        begin = self.attempt.process_us
        yield _say(begin, "------------------------ arguments ------------------------")
        arguments = {
            "async_save": self.run.save_async,
            "global_batch_size": self.run.batch,
            "log_interval": self.style.log_interval,
            "seq_length": 4096,
            "train_iters": self.run.target,
            "world_size": self.job.gpus,
        }
        if self.split is not None:
            shape = {**SHAPE, "seq_length": SEQUENCE, "timing_log_level": 2}
            shape["pipeline_model_parallel_size"] = self.split.pipeline
            arguments = dict(sorted((arguments | shape).items()))
        for name, value in arguments.items():
            yield _say(begin, f"  {name} {'.' * (48 - len(name))} {value}")
        yield _say(begin, "-------------------- end of arguments ---------------------")

    def _load(self) -> Iterator[Printed]:
        """Yield the lines of a load, or of its absence; none of them carries a time."""
        read = self.attempt.restore
        if read is None:
            assert self.attempt.built_us is not None
            text = "    will not load any checkpoints and will start from random"
            yield _say(self.attempt.built_us, text)
            return
        kind = "distributed checkpoint" if self.release.formats else "checkpoint"
        yield _say(read.start_us, f" loading {kind} from {self.folder} at iteration {read.step}")
        shards = " [ t 1/8, p 1/1 ]" if self.release.formats else ""
        yield _say(
            read.end_us,
            f"  successfully loaded checkpoint from {self.folder}{shards} at iteration {read.step}",
        )
        yield from _timer(read.end_us, "load-checkpoint", read.end_us - read.start_us, self.last)

    def steps(self) -> Iterator[Printed]:
        """Yield a line for each interval; releases with fractions print the first step of a process as well.

        That line sets nothing to zero: the one after it is the mean of its interval and the first step.
        """
        style = self.style.at(self.job.hosts[-1])
        spent = count = 0
        since: list[Step] = []
        for step in self.attempt.steps:
            spent += step.end_us - step.start_us
            count += 1
            since.append(step)
            first = self.release.fraction and step is self.attempt.steps[0]
            if not first and step.number % self.style.log_interval:
                continue
            loss = 2.0 + 9.0 / (1.0 + step.number / 40.0)
            stamp = f"[{self.stamp(step.end_us, style)}] " if self.release.stamps else ""
            mean = f"/{spent / count / 1000:.1f}" if self.release.primus else ""
            if self.release.bridge:
                text = f"Step Time : {spent / count / SECOND:.2f}s GPU utilization: 401.7MODEL_TFLOP/s/GPU"
                yield _say(step.end_us, text)
            yield _say(
                step.end_us,
                f" {stamp}iteration {step.number:8d}/{self.run.target:8d} |"
                f" consumed samples: {step.number * self.run.batch:12d} |"
                f" elapsed time per iteration (ms): {spent / count / 1000:.1f}{mean} |"
                f"{self.rate(spent / count)}"
                f" learning rate: 1.000000E-04 | global batch size: {self.run.batch:5d} |"
                f" lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: 0.412 |"
                " number of skipped iterations:   0 | number of nan iterations:   0 |",
                self.last,
            )
            if self.split is not None:
                yield from self.parts(step.end_us, since, self.split)
                since = []
            if not first:
                spent = count = 0

    def rate(self, step_us: float) -> str:
        """Return the field of model FLOPs of a GPU, which a run prints whose steps divide."""
        if self.split is None:
            return ""
        tflops = flops_of_a_step(self.run) / self.job.gpus / step_us / 1e6
        return f" throughput per GPU (TFLOP/s/GPU): {tflops:.1f} |"

    def parts(self, time_us: int, steps: list[Step], split: Split) -> Iterator[Printed]:
        """Yield the block of component times of some steps."""
        interval, nests = self.style.log_interval, self.release.nests_reduction
        for text in block(self.run, self.attempt, split, steps, interval, nests):
            yield _say(time_us, text, self.last)

    def saves(self) -> Iterator[Printed]:
        """Yield the lines of saves; the timer behind them covers the wait for the save before as well."""
        for save in self.attempt.saves:
            where = f"at iteration {save.step:7d} to {self.folder}"
            kind = " in torch_dist format" if self.release.formats else ""
            yield _say(save.start_us, f"{self.mark(save.start_us)}saving checkpoint {where}{kind}")
            if save.blocked_us is None:
                continue
            if self.run.save_async:
                yield _say(
                    save.blocked_us,
                    f"  {self.mark(save.blocked_us)}scheduled an async checkpoint save {where}",
                )
            done = "from" if self.release.formats else "at"
            if save.durable_us is not None:
                yield _say(
                    save.durable_us,
                    f"  {self.mark(save.durable_us)}successfully saved checkpoint"
                    f" {done} iteration {save.step:7d} to {self.folder}"
                    f"{' [ t 1/8, p 1/1 ]' if self.release.formats else ''}",
                )
            length = save.blocked_us - begin_of_wait(self.attempt, save)
            yield from _timer(save.blocked_us, "save-checkpoint", length, self.last)

    def evaluations(self) -> Iterator[Printed]:
        """Yield the lines of evaluations, which carry no time."""
        for stall in self.attempt.stalls:
            if stall.category != "evaluation":
                continue
            text = (
                f" validation loss at iteration {stall.after} | lm loss value: 2.113377E+00 |"
                " lm loss PPL: 8.276128E+00 | "
            )
            for line in ("-" * (len(text) + 1), text, "-" * (len(text) + 1)):
                yield _say(stall.end_us, line, self.last)
            yield from _timer(stall.end_us, "evaluate", stall.end_us - stall.start_us, self.last)
