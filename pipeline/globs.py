"""Globs as regular expressions that Python, RE2 and Rust read alike."""

from __future__ import annotations

import re
from functools import cache


@cache
def glob_pattern(glob: str) -> str:
    """Return an expression for the whole of a path: ``*`` and ``?`` stop at ``/``, ``**`` does not.

    ``**/x`` also matches ``x``, and ``x/**`` everything below ``x``.
    """
    out, at = [], 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif glob.startswith("**", at):
            out.append(".*")
            at += 2
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(glob[at], re.escape(glob[at])))
            at += 1
    return "".join(out)


@cache
def name_pattern(glob: str) -> str:
    """Return an expression for the whole of a name that is no path: ``*`` matches anything."""
    return "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in glob)


def glob_matches(glob: str, path: str) -> bool:
    """Return whether the glob matches the whole posix path."""
    return re.fullmatch(glob_pattern(glob), path, re.DOTALL) is not None
