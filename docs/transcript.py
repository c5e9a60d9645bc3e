"""Runs the commands that the README shows, and writes what they print below them.

The commands run in a folder that looks like the checkout and keeps its own reports, so that they neither
read nor write what somebody made here.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"

_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


def main() -> None:
    """Write the true output below each command of the README."""
    with tempfile.TemporaryDirectory() as folder:
        text = refresh(README.read_text(encoding="utf-8"), in_lookalike(Path(folder)))
    README.write_text(text, encoding="utf-8")


def refresh(text: str, run: Callable[[str], str]) -> str:
    """Return the text, with what each ``$ command`` of its console blocks prints below it."""
    return _BLOCK.sub(lambda block: "".join(f"$ {c}\n{run(c)}" for c in commands(block[0])), text)


def commands(block: str) -> list[str]:
    """Return the commands of a console block."""
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def in_lookalike(folder: Path) -> Callable[[str], str]:
    """Return a function that runs a command in a folder that looks like the checkout, without reports."""
    for path in ROOT.iterdir():
        if path.name not in ("reports", ".git", ".venv"):
            (folder / path.name).symlink_to(path)
    # A .venv of its own that is always ready: setting up again from here would install this very folder.
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(ROOT / ".venv" / "bin")
    (folder / ".venv" / ".ready").touch()
    # Inside `make docs` or `make test` the outer make would have the inner one talk about folders, and a
    # page is as wide on a small screen as on a large one.
    outer = {
        key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "COLUMNS"))
    }

    def run(command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=outer, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"error: `{command}` ends with {done.returncode}\n{done.stderr}")
        return done.stdout

    return run


if __name__ == "__main__":
    main()
