"""A story → a folder: the logs that a cluster would have left, and beside them the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.faults import BY_NAME
from pipeline.simulate.files import LogFile
from pipeline.simulate.kernel import NAMES, kernel_log
from pipeline.simulate.layout import console_name, settings
from pipeline.simulate.lines import Printed, Style, in_order, last_words
from pipeline.simulate.noise import Noise
from pipeline.simulate.renderers import trainers
from pipeline.simulate.renderers.slurm import accounting
from pipeline.simulate.renderers.slurm_daemons import host_log
from pipeline.simulate.renderers.slurm_json import accounting_json
from pipeline.simulate.renderers.slurmctld import controller_log
from pipeline.simulate.samples import device_samples
from pipeline.simulate.story import Attempt, Job, Run, Story
from pipeline.simulate.transports import CUT_MARK, TIME_MARK, as_printed, collector_time, prefix_of, torn
from pipeline.simulate.truth import Truth, true_ledger
from pipeline.simulate.truth_files import write_truth


def write_story(
    story: Story,
    out: Path,
    style: Style,
    blemishes: Blemishes = CLEAN,
    asked: Mapping[str, Any] = MappingProxyType({}),
) -> Truth:
    """Write ``logs/``, ``truth/`` and ``truth.json`` of a story, and return its true ledger.

    Args:
        story: what happened.
        out: folder that holds no story yet.
        style: how programs print.
        blemishes: what happens to lines on their way into files.
        asked: what a user asked for; written down with the truth.
    """
    logs = out / "logs"
    ends = [(attempt.process_us, attempt.end) for run in story.runs for attempt in run.attempts]
    noise = blemishes.noise_mb * 1e6 / sum(end.stop_us - begin for begin, end in ends if end is not None)
    for run in story.runs:
        _Console(story.seed, run, style, blemishes, noise).write(logs)
    kernel = _beside(story, style, "kernel")
    for decoy in story.decoys:
        kernel.setdefault(decoy.host, []).append((decoy.time_us, decoy.text))
    if not blemishes.no_accounting and blemishes.accounting == "json":
        _write(logs / "sacct.json", accounting_json(story.runs))
    elif not blemishes.no_accounting:
        _write(logs / "sacct.txt", accounting(story.runs, style))
    if not blemishes.no_controller:
        _write(logs / "slurmctld.log", controller_log(story, style))
    for host, spoken in sorted(kernel.items()):
        if Random(f"{story.seed}/kernel/{host}").random() >= blemishes.kernel_lost:
            told = kernel_log(host, spoken, blemishes.kernel, style, story.seed)
            _write(logs / "nodes" / f"{host}.{NAMES[blemishes.kernel]}", told)
    for host, spoken in sorted(_beside(story, style, "daemon").items()):
        _write(logs / "nodes" / f"{host}.slurmd.log", host_log(host, spoken, style))
    if blemishes.samples:
        for host, rows in device_samples(story, style, blemishes.samples):
            _write(logs / "nodes" / f"{host}.dcgm.csv", rows)
    (logs / "goodput.toml").write_text("\n".join(settings(story, style)), encoding="utf-8")
    truth = true_ledger(story)
    write_truth(story, truth, style, blemishes, out, asked)
    return truth


def _beside(story: Story, style: Style, place: str) -> dict[str, list[tuple[int, str]]]:
    """Return what the ends of attempts leave in a kind of log that each host keeps: when, and what."""
    found: dict[str, list[tuple[int, str]]] = {}
    for run in story.runs:
        for attempt in run.attempts:
            for line in last_words(run, attempt.world(run), attempt, style, place):
                found.setdefault(line.host, []).append((line.time_us, line.text))
    return found


class _Console:
    """The consoles of one run while they are written."""

    def __init__(self, seed: int, run: Run, style: Style, blemishes: Blemishes, noise: float) -> None:
        self.seed, self.run, self.style, self.blemishes = seed, run, style, blemishes
        #: Bytes of noise for each microsecond of an attempt.
        self.noise = noise
        self.trainer = trainers()[run.trainer]
        self.files: dict[str, LogFile] = {}
        self.streams: set[str] = set()

    def write(self, logs: Path) -> None:
        """Write all attempts."""
        for attempt in self.run.attempts:
            if attempt.number != self.blemishes.lost_console:
                self._attempt(logs, attempt, attempt.world(self.run))
        self._keep({})

    def _attempt(self, logs: Path, attempt: Attempt, job: Job) -> None:
        """Write what one attempt prints, and the noise between."""
        run, blemishes = self.run, self.blemishes
        spoken = self._spoken(attempt, job)
        # A file goes on, though an attempt may have nothing to say in it.
        self.streams |= {line.stream for line in spoken}
        names = {
            stream: console_name(run, job, attempt, stream, blemishes) for stream in sorted(self.streams)
        }
        self._keep(names)
        noise = self._noise(attempt, job)
        prefixes: dict[tuple[int, str], str] = {}
        said = attempt.process_us
        assert attempt.end is not None
        own = self._own_clocks(attempt, job)
        for line in as_printed(
            spoken, job, blemishes, Random(f"{self.seed}/{run.name}/{attempt.number}"), own
        ):
            file = self._file(logs, names[line.stream])
            # What ranks print beside goes on after the last line of the trainer, until they stop.
            until = min(line.time_us, attempt.end.stop_us)
            if noise is not None and "out" in names and until > said:
                beside = self._file(logs, names["out"])
                for piece in noise.pieces((until - said) * self.noise, said):
                    beside.write(piece)
                said = until
            key = (line.rank, line.stream)
            if key not in prefixes:
                prefixes[key] = prefix_of(run, job, blemishes.prefix, *key)
            before = prefixes[key].replace(TIME_MARK, collector_time(line.time_us))
            if not line.text.endswith(CUT_MARK):
                text = line.text.replace("\n", f"\n{before}")
                file.write(f"{before}{text}\n".encode())
                continue
            # The next to write goes on in the same line, unless somebody takes lines apart to label them.
            file.write((before + line.text.removesuffix(CUT_MARK)).encode())
            # Who lost the buffer of that line lost what else was in it.
            noise = None
            if blemishes.prefix != "none":
                file.write(b"\n")

    def _spoken(self, attempt: Attempt, job: Job) -> list[Printed]:
        """Return the lines of an attempt, in order."""
        style = self.style.at(job.hosts[0])
        spoken = in_order(
            self._rendered(attempt, job, job.hosts[0]),
            last_words(self.run, job, attempt, style, "rank"),
            last_words(self.run, job, attempt, style, "scheduler"),
        )
        if self.blemishes.no_errors:
            spoken = [line for line in spoken if line.stream != "err"]
        assert attempt.end is not None
        # What leaves by itself has printed its last line before.
        leaves = attempt.end.told_us is not None
        killed = BY_NAME[attempt.end.fault].kind not in ("completed", "ongoing") and not leaves
        return torn(spoken) if self.blemishes.torn and killed else spoken

    def _own_clocks(self, attempt: Attempt, job: Job) -> Mapping[str, Mapping[str, str]]:
        """Return by host what its ranks print in place of a line, where clocks differ and all print."""
        if not (self.blemishes.every_rank and self.style.skew_us):
            return {}
        first, *others = job.hosts
        said = [line.text for line in self._rendered(attempt, job, first)]
        texts = {host: [line.text for line in self._rendered(attempt, job, host)] for host in others}
        return {host: dict(zip(said, own, strict=True)) for host, own in texts.items()}

    def _rendered(self, attempt: Attempt, job: Job, host: str) -> Iterator[Printed]:
        """Yield the lines of an attempt by the clock of a host."""
        return self.trainer.render(self.run, job, attempt, self.style.at(host))

    def _noise(self, attempt: Attempt, job: Job) -> Noise | None:
        """Return the noise of an attempt."""
        assert attempt.end is not None
        size = round(self.noise * (attempt.end.stop_us - attempt.process_us))
        if not size:
            return None
        seed = f"{self.seed}/{self.run.name}/{attempt.number}/noise"
        return Noise(self.run, job, self.blemishes.prefix, self.style, seed, size)

    def _file(self, logs: Path, name: str) -> LogFile:
        """Return the open file of a name."""
        if name not in self.files:
            self.files[name] = LogFile(logs / name, self.blemishes)
        return self.files[name]

    def _keep(self, names: dict[str, str]) -> None:
        """Close the files into which nothing will be written any more."""
        for name in [name for name in self.files if name not in names.values()]:
            self.files.pop(name).close()


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write lines into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_ended(lines))


def _ended(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with their ends."""
    for line in lines:
        yield f"{line}\n"
