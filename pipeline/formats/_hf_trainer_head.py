"""Hugging Face libraries: what stands before the text of a line of their loggers, and its stamp."""

from __future__ import annotations

from pipeline.formats.format import Value

_ISO = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?"

#: Nothing where nobody set the logger up; ``[INFO|trainer.py:2519] 2026-03-03 04:12:10,077 >> `` with the
#: explicit format of the examples; the stamp within the brackets in LLaMA-Factory; brackets for each part in
#: axolotl; the logging of Python as scripts set it up; ``[transformers] `` since 5.0. What has a mark of its
#: own may follow a line that was cut off.
HEAD = (
    r"(?:"
    rf"\[[A-Z]+\|[\w.]+:\d+\] (?P<ts>{_ISO}) >> "
    rf"|\[[A-Z]+\|(?P<ts_inside>{_ISO})\] [\w.]+:\d+ >> "
    rf"|\[(?P<ts_first>{_ISO})\] \[[A-Z]+\] \[[\w.]+:\d+\] \[PID:\d+\] (?:\[RANK:\d+\] )?"
    rf"|(?P<ts_dash>{_ISO}) - [\w.]+ - [\w.]+ - "
    r"|^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d - [A-Z]+ - [\w.]+ - "
    r"|^[A-Z]+:[\w.]+:"
    r"|\[transformers\] "
    r"|^"
    r") *"
)

#: Local time of the host; most headers carry none.
STAMP = Value(group=("ts", "ts_inside", "ts_first", "ts_dash"), kind="stamp", stamp="iso")

#: A folder of a checkpoint, with its step where its name tells one.
FOLDER = r"(?P<path>\S*?(?:(?:checkpoint|step)[-_](?P<step>\d+)\S*?)?)"
