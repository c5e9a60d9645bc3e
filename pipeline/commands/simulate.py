"""``goodput simulate``: invented logs with their true ledger, and a ledger against the truth."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from pipeline.commands.layout import counted
from pipeline.commands.stages import classify_store, hold_folders, ingest_logs
from pipeline.config import load_config
from pipeline.errors import GoodputError, nearest
from pipeline.windows import WindowOptions

#: Differences that are shown one by one.
_SHOWN = 5


#: GPUs of a host.
_HOST = 8

#: Beyond it a story takes minutes, and its lines gigabytes.
_MOST_DAYS, _MOST_GPUS = 100.0, 131_072


class _WithTrainers(click.Command):
    """A command whose help ends with the trainers that there are."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the trainers."""
        from pipeline.simulate.renderers import trainers

        with formatter.section("Trainers"):
            formatter.write_text(", ".join(trainers()))


@click.command(cls=_WithTrainers)
@click.option("--out", metavar="DIR", help="Folder to write into.")
@click.option("--check", metavar="DIR", help="Compare the ledger of a written folder with its truth.")
@click.option("--preset", metavar="NAME", help="A story by name; see below.")
@click.option("--trainer", default="megatron", metavar="NAME", help="Whose console; see below.  [megatron]")
@click.option("--gpus", type=int, default=64, metavar="N", help="GPUs, eight to a host.  [default: 64]")
@click.option("--days", type=float, default=0.25, metavar="D", help="About how long.  [default: 0.25]")
@click.option("--seed", type=int, default=0, metavar="S", help="Same seed, same bytes.  [default: 0]")
@click.option(
    "--log-interval",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Steps for a step line.  [default: 1]",
)
@click.option("--blemish", "blemishes", multiple=True, metavar="NAME[=VALUE]", help="May be repeated.")
@click.pass_context
def simulate(
    context: click.Context,
    out: str | None,
    check: str | None,
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
    Presets with a known split of the step: network_bound, memory_bound, input_bound, bubble_bound,
    compute_bound, straggler_host, throttled_gpu, scaling, no_timers.
    Blemishes make logs as real ones are; docs/simulator.md lists them with their values.

    \b
    Example:
      goodput simulate --out /tmp/story --preset quickstart
      goodput simulate --check /tmp/story
      goodput simulate --out /tmp/week --gpus 512 --days 7 --blemish prefix=stacked --blemish torn
    """
    given = [name for name in context.params if _is_given(context, name)]
    if ("out" in given) == ("check" in given):
        said = "`--out` and `--check` were both given" if out else "neither `--out` nor `--check` was given"
        raise GoodputError(said, now="give one of them")
    if not (out or check):
        raise GoodputError("the name of the folder is empty", where="`--out` or `--check`", now="give one")
    if check is not None:
        if others := [name for name in given if name != "check"]:
            raise GoodputError(
                f"`--{others[0].replace('_', '-')}` says nothing to `--check`",
                why="a comparison takes what it needs from the truth",
                now="leave it out",
            )
        return _check(Path(check))
    assert out is not None
    if preset and (others := [name for name in given if name in ("gpus", "days")]):
        raise GoodputError(f"the preset `{preset}` says itself how many {others[0]}", now="leave one out")
    if not 0.01 <= days <= _MOST_DAYS:
        raise GoodputError(f"{days:g} is not between 0.01 and {_MOST_DAYS:g}", where="`--days`")
    if gpus % _HOST or not _HOST <= gpus <= _MOST_GPUS:
        raise GoodputError(
            f"{gpus:,} GPUs are no whole number of hosts",
            where="`--gpus`",
            why=f"a host has {_HOST}",
            now=f"a multiple of {_HOST} up to {_MOST_GPUS:,}",
        )
    from pipeline.simulate.choose import blemishes_of, decoys_of, plans_of, style_of
    from pipeline.simulate.decoys import add_decoys
    from pipeline.simulate.folder import put_in_place
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
    if "trainer" in given:
        plans = tuple(replace(plan, trainer=trainer) for plan in plans)
    story = invent(seed, plans, maintenance)
    # Whatever cannot be done is said before anything is written.
    decoys, style = decoys_of(blemishes), style_of(log_interval, blemishes, story)
    worn = blemishes_of(blemishes, story)
    if decoys:
        add_decoys(story, decoys)
    asked = {name: context.params[name] for name in context.params if name not in ("out", "check")}
    with hold_folders(Path(out)), put_in_place(Path(out)) as part:
        write_story(story, part, style, worn, asked)
    attempts = sum(len(run.attempts) for run in story.runs)
    click.echo(f"{counted(len(story.runs), 'run')}, {counted(attempts, 'attempt')} in {Path(out) / 'logs'}")
    logs, review = (shlex.quote(str(Path(out) / name)) for name in ("logs", "review"))
    click.echo(f"now: goodput report {logs} --out {review}")
    return 0


def _is_given(context: click.Context, name: str) -> bool:
    """Return whether an option stands on the command line."""
    return context.get_parameter_source(name) == ParameterSource.COMMANDLINE


def _check(folder: Path) -> int:
    """Read the logs of a simulated folder and compare the ledger with the truth; return the exit code."""
    from pipeline.ledger.query import open_store
    from pipeline.simulate.judge import judge
    from pipeline.simulate.verdict import sentences
    from pipeline.simulate.written import read_truth

    truth = read_truth(folder)
    store, logs = folder / "store", [str(folder / "logs")]
    config = load_config(logs, None)
    with hold_folders(store):
        ingest_logs(logs, store, config, 0)
        _, code = classify_store(store, config, WindowOptions())
    with open_store(store) as con:
        found = judge(con, truth)
    for line in sentences(found, _SHOWN):
        click.echo(line)
    if truth.missing and not found.agrees:
        click.echo(
            f"this story was written with {', '.join(truth.missing)}: equality is not to be expected,"
            " because what nobody wrote down cannot be read"
        )
    return code or (0 if found.agrees else 1)
