"""Options that several commands share, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from pipeline.config import Config, load_config, without_effect
from pipeline.errors import GoodputError
from pipeline.windows import WindowOptions, parse_duration, parse_time

Command = TypeVar("Command", bound=Callable[..., Any])


class _Parsed(click.ParamType[Any]):
    """A value that a function of ours reads; its error is told with the name of the option."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self.parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except GoodputError as error:
            option = param.opts[0] if param is not None else self.name
            raise GoodputError(error.what, where=f"`{option}`", why=error.why, now=error.now) from None


TIME = _Parsed("time", parse_time)
DURATION = _Parsed("length", parse_duration)

logs_argument = click.argument("logs", nargs=-1, metavar="LOGS...")


def store_option(text: str, *, required: bool = True) -> Callable[[Command], Command]:
    """Return the option for the folder of a store."""
    return click.option(
        "--store", type=click.Path(path_type=Path), metavar="DIR", required=required, help=text
    )


config_option = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What logs cannot tell.  [default: goodput.toml beside the logs, if there is one]",
)

workers_option = click.option(
    "--workers",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Files, or parts of large ones, read at the same time.  [default: as many as there are processors]",
)


def window_options(command: Command) -> Command:
    """Add the four options that choose windows and period."""
    options = (
        click.option(
            "--window",
            type=DURATION,
            metavar="LENGTH",
            help="Length of a window, from midnight UTC: 24h, 1h, 7d.  [default: 24h]",
        ),
        click.option(
            "--from", "start", type=TIME, metavar="TIME", help="Start of the period; UTC if not said."
        ),
        click.option(
            "--to", "end", type=TIME, metavar="TIME", help="End of the period, itself not included."
        ),
        click.option("--week", metavar="WEEK", help="One ISO week as the period: 2026-W47."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_config(logs: Sequence[str], config_file: Path | None) -> Config:
    """Return the configuration; keys that have no effect are named on stderr."""
    config = load_config(logs, config_file)
    for key in without_effect(config):
        click.echo(f"warning: {key} has no effect in this version", err=True)
    return config


def window_of(
    config: Config, window: timedelta | None, start: datetime | None, end: datetime | None, week: str | None
) -> WindowOptions:
    """Return the windows asked for; what no option says, the configuration does."""
    return WindowOptions(window or parse_duration(config.report.window), start, end, week)
