"""``goodput simulate``: invented logs with their true ledger, and a ledger against the truth."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from pipeline.commands.layout import counted
from pipeline.commands.stages import classify_store, hold_folders, ingest_logs
from pipeline.config import load_config
from pipeline.errors import GoodputError, nearest
from pipeline.windows import WindowOptions

#: Differences that are shown one by one.
_SHOWN = 5


@click.command()
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder to write into.")
@click.option("--check", type=click.Path(path_type=Path), metavar="DIR", help="Compare a written folder.")
@click.option("--preset", metavar="NAME", help="A story by name; see below.")
@click.option("--trainer", default="megatron", metavar="FORMAT", help="Whose console.  [default: megatron]")
@click.option("--gpus", type=click.IntRange(min=8), default=64, metavar="N", help="GPUs.  [default: 64]")
@click.option("--days", type=click.FloatRange(min=0.01), default=0.25, metavar="D", help="[default: 0.25]")
@click.option("--seed", type=int, default=0, metavar="S", help="The same seed gives the same bytes.")
@click.option("--log-interval", type=click.IntRange(min=1), default=1, metavar="N", help="Steps for a line.")
@click.option("--blemish", "blemishes", multiple=True, metavar="NAME[=VALUE]", help="May be repeated.")
def simulate(
    out: Path | None,
    check: Path | None,
    preset: str | None,
    trainer: str,
    gpus: int,
    days: float,
    seed: int,
    log_interval: int,
    blemishes: tuple[str, ...],
) -> int:
    """Invent a run, the logs it would have left, and its true ledger; or check a ledger against the truth.

    Writes DIR/logs/ (with goodput.toml), DIR/truth.json and DIR/truth/ (true intervals and incidents).
    `--check DIR` reads DIR/logs, and names the first interval in which the ledger differs from the truth by
    more than the logs can tell; exit code 1 then.

    \b
    Presets: quickstart, llama3_54_days, rsc1_week, bad_week.

    \b
    Example:
      goodput simulate --out /tmp/story --preset quickstart
      goodput simulate --check /tmp/story
      goodput simulate --out /tmp/week --gpus 512 --days 7 --blemish prefix=stacked --blemish torn
    """
    if (out is None) == (check is None):
        raise GoodputError("neither or both of `--out` and `--check` were given", now="give one of them")
    if check is not None:
        return _check(check)
    assert out is not None
    from pipeline.simulate.choose import blemishes_of, decoys_of, plans_of, style_of
    from pipeline.simulate.decoys import add_decoys
    from pipeline.simulate.invent import invent
    from pipeline.simulate.presets import PRESETS
    from pipeline.simulate.renderers import trainers
    from pipeline.simulate.write import write_story

    if trainer not in trainers():
        hint = nearest(trainer, trainers()) or f"one of {', '.join(trainers())}"
        raise GoodputError(f"no console of `{trainer}` can be invented", where="`--trainer`", now=hint)
    if preset is not None and preset not in PRESETS:
        hint = nearest(preset, PRESETS) or f"one of {', '.join(PRESETS)}"
        raise GoodputError(f"no preset is called `{preset}`", where="`--preset`", now=hint)
    plans, maintenance = PRESETS[preset](seed) if preset else (plans_of(trainer, gpus, days), ())
    story = invent(seed, plans, maintenance)
    if decoys := decoys_of(blemishes):
        add_decoys(story, decoys)
    with hold_folders(out):
        _make_room(out)
        write_story(story, out, style_of(log_interval, blemishes, story), blemishes_of(blemishes))
    attempts = sum(len(run.attempts) for run in story.runs)
    click.echo(f"{counted(len(story.runs), 'run')}, {counted(attempts, 'attempt')} in {out / 'logs'}")
    click.echo(f"now: goodput report {out / 'logs'} --out {out / 'review'}")
    return 0


def _make_room(out: Path) -> None:
    """Remove the story that was simulated here before; refuse logs of somebody else."""
    if (out / "logs").exists() and not (out / "truth.json").exists():
        raise GoodputError(
            "the folder holds logs that no simulation wrote", where=str(out), now="name another folder"
        )
    for name in ("logs", "truth"):
        shutil.rmtree(out / name, ignore_errors=True)


def _check(folder: Path) -> int:
    """Read the logs of a simulated folder and compare the ledger with the truth; return the exit code."""
    from pipeline.ledger.query import open_store
    from pipeline.simulate.judge import judge
    from pipeline.simulate.verdict import sentences

    if not (folder / "truth.json").is_file():
        raise GoodputError(
            "this folder holds no truth",
            where=str(folder),
            why="`truth.json` is missing, which `goodput simulate --out` writes",
            now=f"first run `goodput simulate --out {folder}`",
        )
    store, logs = folder / "store", [str(folder / "logs")]
    config = load_config(logs, None)
    with hold_folders(store):
        ingest_logs(logs, store, config, 0)
        _, code = classify_store(store, config, WindowOptions())
    with open_store(store) as con:
        found = judge(con, folder)
    for line in sentences(found, _SHOWN):
        click.echo(line)
    return code or (0 if found.agrees else 1)
