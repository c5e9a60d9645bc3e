"""A story → a folder: the logs that a cluster would have left, and beside them the truth."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pipeline.simulate.lines import Style, in_order, last_words
from pipeline.simulate.renderers import trainers
from pipeline.simulate.renderers.slurm import accounting
from pipeline.simulate.story import Story
from pipeline.simulate.truth import Truth, true_ledger
from pipeline.simulate.windows import totals


def write_story(story: Story, out: Path, style: Style) -> Truth:
    """Write ``logs/``, ``truth.json`` and ``truth/`` of a story, and return its true ledger."""
    logs = out / "logs"
    kernel: dict[str, list[tuple[int, str]]] = {}
    for run in story.runs:
        trainer = trainers()[run.trainer]
        files: dict[str, list[str]] = {}
        for attempt in run.attempts:
            job = run.jobs[attempt.job]
            spoken = in_order(
                trainer.render(run, job, attempt, style),
                last_words(run, job, attempt, style, "rank"),
                last_words(run, job, attempt, style, "scheduler"),
            )
            width = len(str(job.gpus - 1))
            # What is put back under the same id goes on in the same file.
            name = f"{run.name}/job-{job.job_id}"
            for line in spoken:
                prefix = f"{line.rank:>{width}}: " if line.rank >= 0 else ""
                files.setdefault(f"{name}.{line.stream}", []).append(prefix + line.text)
            for line in last_words(run, job, attempt, style, "kernel"):
                assert attempt.end is not None
                kernel.setdefault(attempt.end.host, []).append((line.time_us, line.text))
        for file, lines in files.items():
            _write(logs / file, lines)
    _write(logs / "sacct.txt", accounting(story.runs, style))
    for host, spoken_there in sorted(kernel.items()):
        _write(
            logs / "nodes" / f"{host}.dmesg.txt",
            (_kernel(time, text, style, host) for time, text in sorted(spoken_there)),
        )
    settings = [f"[runs.{run.name}]\ngpus = {run.gpus}\n" for run in story.runs]
    for entry in story.maintenance:
        times = {"start": entry.start_us, "end": entry.end_us, "declared": entry.declared_us}
        told = (f"{name} = {Style().local(time):%Y-%m-%dT%H:%M:%SZ}" for name, time in times.items())
        settings.append("\n".join(("[[maintenance]]", *told, "")))
    (logs / "goodput.toml").write_text("\n".join(settings), encoding="utf-8")
    truth = true_ledger(story)
    (out / "truth.json").write_text(json.dumps(totals(truth), indent=1) + "\n", encoding="utf-8")
    return truth


def _kernel(time_us: int, text: str, style: Style, host: str) -> str:
    """Return a line of the kernel log as ``dmesg --time-format iso`` prints it."""
    local = style.local(time_us, host)
    zone = f"{local:%z}"
    return f"kern  :err   : {local:%Y-%m-%dT%H:%M:%S},{local:%f}{zone[:3]}:{zone[3:]} {text}"


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write lines into a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
