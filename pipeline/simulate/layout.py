"""Which file a line of a console goes into, and the settings that say what the logs of a folder cannot."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.errors import GoodputError
from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.lines import Style
from pipeline.simulate.split import GPU_MODEL
from pipeline.simulate.story import HOUR, SECOND, Attempt, Job, Run, Story

#: Zones whose offset is no whole number of hours and the same all year.
_ODD_ZONES = {19_800: "Asia/Kolkata", 20_700: "Asia/Kathmandu", 34_200: "Australia/Darwin"}


def console_name(run: Run, job: Job, attempt: Attempt, stream: str, blemishes: Blemishes) -> str:
    """Return the name of the file below the logs."""
    # A library that writes records keeps its file to itself.
    ending = "out" if stream == "err" and blemishes.together else stream
    # What is put back under the same id goes on in the same file.
    if blemishes.files == "attempt":
        return f"{run.name}/attempt-{attempt.number:02d}/job-{job.job_id}.{ending}"
    if blemishes.files == "job":
        return f"{run.name}/job-{job.job_id}.{ending}"
    return f"{run.name}/train.{ending}"


def settings(story: Story, style: Style) -> Iterator[str]:
    """Yield the parts of ``goodput.toml``."""
    if style.offset_s:
        yield f'[zones]\ndefault = "{zone_name(style.offset_s)}"\n'
    for run in story.runs:
        model = f'gpu_model = "{GPU_MODEL}"\n' if run.split is not None else ""
        yield f"[runs.{run.name}]\ngpus = {run.gpus}\n{model}"
    for entry in story.maintenance:
        times = {"start": entry.start_us, "end": entry.end_us, "declared": entry.declared_us}
        told = (f"{name} = {Style().local(time):%Y-%m-%dT%H:%M:%SZ}" for name, time in times.items())
        yield "\n".join(("[[maintenance]]", *told, ""))


def zone_name(offset_s: int) -> str:
    """Return the name of a zone that is always so many seconds ahead of UTC.

    Raises:
        GoodputError: there is none.
    """
    hours, rest = divmod(offset_s, HOUR // SECOND)
    if rest == 0 and -12 <= hours <= 14:
        # The signs of these names are the other way round.
        return f"Etc/GMT{-hours:+d}" if hours else "UTC"
    if offset_s in _ODD_ZONES:
        return _ODD_ZONES[offset_s]
    raise GoodputError(
        f"no time zone is always {offset_s} s ahead of UTC", now="use whole hours from -12 to 14"
    )
