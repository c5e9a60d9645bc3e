"""A progress bar on a terminal, and nothing in a pipe."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

import click


class Progress:
    """Shows how far a stage is; call it with the stage, the bytes done and the bytes in all.

    Bars go to stderr, so that what a command prints can be piped.
    """

    def __init__(self) -> None:
        self.visible = sys.stderr.isatty()
        self.stage = ""
        self.bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Move the bar of the stage; a new stage or a new total begins a new bar."""
        if not self.visible:
            return
        if self.bar is None or stage != self.stage or self.bar.length != total:
            self.close()
            self.stage = stage
            self.bar = click.progressbar(length=max(total, 1), label=stage, file=sys.stderr).__enter__()
        self.bar.update(done - self.bar.pos)

    def close(self) -> None:
        """End the bar that is shown, if there is one."""
        if self.bar is not None:
            self.bar.__exit__(None, None, None)
            self.bar = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
