"""The command line: a function per command in ``commands/``, and the edge where errors become text."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import click

from pipeline import __version__
from pipeline.errors import GoodputError, nearest

#: A module of `pipeline.commands` for each command, in the order in which `--help` lists them.
COMMANDS = (
    *("report", "ingest", "classify", "sql", "explain", "doctor"),
    *("formats", "signals", "categories", "simulate"),
)

#: What libraries read when they are loaded; what the user has set stays.
_TUNING = {
    # Nothing here multiplies matrices, and the threads for it would spin.
    "OPENBLAS_NUM_THREADS": "1",
    # Memory of one chunk of logs serves the next, whichever thread asks for it.
    "_RJEM_MALLOC_CONF": "narenas:1,oversize_threshold:0,dirty_decay_ms:10000,muzzy_decay_ms:10000",
}

#: The same for what the C library gives: one arena, and no block of up to 32 MB goes back to the system
#: before 96 MB are free. The numbers of the options are those of glibc.
_MALLOC = ((-8, 1), (-3, 32 << 20), (-1, 96 << 20))

DONE, CONTRADICTION, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


class _Commands(click.Group):
    """Commands that are loaded when they are asked for: one does not wait for the libraries of the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"pipeline.commands.{cmd_name}"), cmd_name)
        return command if isinstance(command, click.Command) else None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Account for every GPU-second of a training run, from the logs the cluster already wrote.

    Start with a folder of logs: consoles of the trainer, accounting of the scheduler, kernel logs of the
    nodes, in any mixture. Nothing has to be configured, and nothing leaves this machine.

    \b
      goodput doctor LOGS                  what each file is taken for
      goodput report LOGS --out DIR        the review: DIR/review.pdf and DIR/review.html
      goodput explain --store DIR ID       why an incident is counted as it is

    Exit codes: 0 done, 1 the data contradict themselves, 2 wrong usage or unreadable input.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    """Run the command line of this process."""
    for name, value in _TUNING.items():
        os.environ.setdefault(name, value)
    _keep_memory()
    # Nearly nothing that is made here holds itself.
    gc.set_threshold(100_000, 50, 50)
    code = run(sys.argv[1:])
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Nothing is left to be done, and to take all libraries apart takes a tenth of a second.
    os._exit(code)


def _keep_memory() -> None:
    """Let the memory of one chunk of logs serve the next, where the C library is one that can be told so."""
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option, value in _MALLOC:
            mallopt(option, value)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; mistakes of usage or input are printed, never raised."""
    try:
        code = cli.main(list(arguments), prog_name="goodput", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except GoodputError as error:
        click.echo(str(error), err=True)
    except click.ClickException as error:
        click.echo(str(_wrong_usage(error)), err=True)
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(arguments)
    except RuntimeError as error:
        # DuckDB turns Ctrl-C during a query into this.
        if str(error) != "Query interrupted":
            raise
        return _interrupted(arguments)
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        click.echo(str(_no_access(error)), err=True)
    return WRONG_USAGE


def _interrupted(arguments: Sequence[str]) -> int:
    """Say what an interruption leaves behind, and return its exit code."""
    left = "what was read so far is kept, and the same command goes on from there"
    if arguments[:1] == ["simulate"] and "--check" not in arguments:
        left = "the folder is as it was before"
    click.echo(f"interrupted: {left}", err=True)
    return INTERRUPTED


def _wrong_usage(error: click.ClickException) -> GoodputError:
    """Return a mistake that click found, in the grammar of our errors."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "goodput"
    now = f"see `{path} --help`"
    what = error.format_message()
    hint = ""
    if isinstance(error, click.NoSuchOption):
        hint = f"did you mean `{error.possibilities[0]}`?" if error.possibilities else ""
    elif isinstance(error, click.NoSuchCommand):
        hint = nearest(error.command_name, COMMANDS)
    if isinstance(error, click.NoSuchOption | click.NoSuchCommand):
        what = error.message.replace("'", "`")
    now = f"{hint} {now}".strip()
    return GoodputError(what[:1].lower() + what[1:].rstrip("."), now=now)


def _no_access(error: OSError) -> GoodputError:
    """Return a failure of the file system, in the grammar of our errors."""
    return GoodputError(
        (error.strerror or str(error)).lower(),
        where=str(error.filename or ""),
        now="check the path, its permissions and the free space",
    )
