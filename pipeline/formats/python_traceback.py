"""Tracebacks of Python and the dumps of its fault handler, wherever they stand.

They carry no time and no rank of their own: a prefix of the launcher may tell the rank. The echoed source
lines between the frames look like anything and stay unknown. What a traceback means is for the catalogue of
signals to say, from its last line.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern


def _known(name: str, literals: tuple[str, ...], regex: str, note: str = "") -> Pattern:
    """Return the pattern of a line that is known and carries nothing."""
    return Pattern(name=name, table="", literals=literals, regex=regex, note=note)


FORMAT = Format(
    name="python_traceback",
    title="Tracebacks of Python",
    link="https://docs.python.org/3/library/traceback.html",
    role="any",
    primary=False,
    versions="3.6 to 3.14",
    patterns=(
        _known(
            "header",
            ("Traceback (most recent call last)",),
            # `+ Exception Group` where several exceptions travel together, each behind `|`.
            r"^[\s|]*(?:\+ (?:Exception Group )?)?Traceback \(most recent call last\):",
        ),
        # The fault handler prints no comma before `in`.
        _known("frame", (' File "',), r'^[\s|]*File "[^"]+", line \d+(?:,? in .+)?\s*$'),
        _known("underline", ("^^^", "~~~", "~^"), r"^[\s|]*[~^]{2,}\s*$"),
        _known("raise", ("  raise ",), r"^[\s|]+raise [A-Za-z_]"),
        _known(
            "repeated", ("[Previous line repeated",), r"^[\s|]*\[Previous line repeated \d+ more times?\]"
        ),
        _known(
            "exception",
            ("Error", "Exception", "KeyboardInterrupt", "StopIteration", "SystemExit"),
            r"^[\s|]*(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception)|(?:Base)?ExceptionGroup|KeyboardInterrupt"
            r"|StopIteration|StopAsyncIteration|SystemExit)(?:: .*|:\s*)?$",
            note="A message of several lines goes on below; only its first line is known.",
        ),
        _known(
            "chained",
            ("another exception occurred:", "the direct cause of the following exception:"),
            r"^[\s|]*(?:During handling of the above exception, another exception occurred"
            r"|The above exception was the direct cause of the following exception):",
        ),
        _known("ignored", ("Exception ignored in",), r"^Exception ignored in:? "),
        _known("warning", ("Warning: ",), r"^\S+:\d+: (?:[A-Za-z_]\w*\.)*\w*Warning: "),
        _known("fatal", ("Fatal Python error: ",), r"^Fatal Python error: \S"),
        _known(
            "fault_thread",
            ("(most recent call first):", "<no Python frame>", "Extension modules: "),
            r"^(?:(?:Current thread|Thread) 0x[0-9a-f]+ .*\(most recent call first\):"
            r"|Stack \(most recent call first\):|\s*<no Python frame>|Extension modules: \S)",
        ),
    ),
)
