"""Tracebacks of Python and the dumps of its fault handler, wherever they stand.

They carry no time and no rank of their own: a prefix of the launcher may tell the rank. The echoed source
lines between the frames look like anything and stay unknown. What a traceback means is for the catalogue of
signals to say, from its last line.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Head, known_line

FORMAT = Format(
    name="python_traceback",
    title="Tracebacks of Python",
    link="https://docs.python.org/3/library/traceback.html",
    role="any",
    primary=False,
    versions="3.6 to 3.14",
    heads=(
        Head(r"Traceback \(most recent call last\)", "message"),
        Head(r"Fatal Python error: ", "words"),
    ),
    patterns=(
        known_line(
            "header",
            ("Traceback (most recent call last)",),
            # `+ Exception Group` where several exceptions travel together, each behind `|`.
            r"^[\s|]*(?:\+ (?:Exception Group )?)?Traceback \(most recent call last\):",
        ),
        # The fault handler prints no comma before `in`.
        known_line("frame", (' File "',), r'^[\s|]*File "[^"]+", line \d+(?:,? in .+)?\s*$'),
        known_line("underline", ("^^^", "~~~", "~^"), r"^[\s|]*[~^]{2,}\s*$"),
        known_line("raise", ("  raise ",), r"^[\s|]+raise [A-Za-z_]"),
        known_line(
            "repeated", ("[Previous line repeated",), r"^[\s|]*\[Previous line repeated \d+ more times?\]"
        ),
        known_line(
            "exception",
            ("Error", "Exception", "KeyboardInterrupt", "StopIteration", "SystemExit"),
            r"^[\s|]*(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception)|(?:Base)?ExceptionGroup|KeyboardInterrupt"
            r"|StopIteration|StopAsyncIteration|SystemExit)(?:: .*|:\s*)?$",
            note="A message of several lines goes on below; only its first line is known.",
        ),
        known_line(
            "chained",
            ("another exception occurred:", "the direct cause of the following exception:"),
            r"^[\s|]*(?:During handling of the above exception, another exception occurred"
            r"|The above exception was the direct cause of the following exception):",
        ),
        known_line("ignored", ("Exception ignored in",), r"^Exception ignored in:? "),
        known_line("warning", ("Warning: ",), r"^\S+:\d+: (?:[A-Za-z_]\w*\.)*\w*Warning: "),
        known_line(
            "arguments",
            ("error: unrecognized arguments: ", "error: the following arguments are required: "),
            r"^\S+: error: (?:unrecognized arguments|the following arguments are required): ",
        ),
        known_line("fatal", ("Fatal Python error: ",), r"^Fatal Python error: \S"),
        known_line(
            "fault_thread",
            ("(most recent call first):", "<no Python frame>", "Extension modules: "),
            r"^(?:(?:Current thread|Thread) 0x[0-9a-f]+ .*\(most recent call first\):"
            r"|Stack \(most recent call first\):|\s*<no Python frame>|Extension modules: \S)",
        ),
    ),
)
