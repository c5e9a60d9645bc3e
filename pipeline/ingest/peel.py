"""What transports put around a line: carriage returns, colour codes, prefixes of launchers and collectors.

Prefixes stack (``3: [default5]:[rank29]:text``), so they are peeled in a loop, outermost first. A torn
prefix matches nothing and stays in the text, where it does no harm.
"""

from __future__ import annotations

import polars as pl

from pipeline.ingest.clock import CTIME

#: Prefixes deeper than this are not a stack of launchers but a text of that shape.
MAX_DEPTH = 8

_ESCAPES = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements, focus events that leaked into a file
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles of terminals
    r"|[ -/]*[0-~])"  # everything else
)

#: One prefix each. ``rank`` is the number of a rank or task, ``local`` a number that exists once per node,
#: ``host`` a host or pod, ``stamp`` the time at which the collector saw the line.
_PREFIXES = (
    r" {0,6}(?P<task>\d{1,6}):(?: |$)",  # srun --label
    r"\[rank(?P<rank>\d{1,6})(?:-[a-z_]+\d+)*\]: ?",  # torchrun and PyTorch
    r"\[[A-Za-z_]{1,20}(?P<local>\d{1,4})\]: ?",  # torchrun --tee with its default role or another one
    rf"(?:(?P<mpitime>{CTIME}))?\[\d+,(?P<mpi>\d+)\]<std(?:out|err|diag)>: ?",  # mpirun --tag-output
    r"\[(?P<tag>\d{1,5})\] ",  # PMI tags
    # Container runtimes.
    r"(?P<cri>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) std(?:out|err) [FP] ",
    r"(?P<kube>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7,9}Z) ",  # kubectl logs --timestamps
    r"\[pod/(?P<pod>[^\]/]+)/[^\]]*\] ?",  # kubectl logs --prefix
    r"\([A-Za-z_][\w.]* pid=\d+(?:, ip=(?P<ip>[\da-fA-F.:]+))?\) ?",  # Ray workers
    r"std(?:out|err): ",  # wrappers
    r"(?P<address>\d{1,3}(?:\.\d{1,3}){3}): ?",  # pdsh with addresses
    # A name and a colon open many ordinary lines: a host only before a text that no sentence begins with.
    r"(?P<name>[A-Za-z][\w.-]*\d[\w.-]*): ",
)
_AFTER_NAME = r"(?:\[| ?iteration |:::MLLOG|[IWEF]\d{4} |Traceback |saving checkpoint| +successfully |NCCL )"
_ANY = "|".join(_PREFIXES)
_PREFIX = rf"^(?P<prefix>{_ANY})(?P<payload>.*)"
_MAYBE = rf"^(?:{_ANY})"
_NAMES = {
    "rank": ("rank", "task", "mpi", "tag", "local"),
    "host": ("pod", "ip", "address", "name"),
    "stamp": ("cri", "kube", "mpitime"),
}


def split_segments(frame: pl.DataFrame) -> pl.DataFrame:
    """Return one row per text between carriage returns: columns ``line, segment, text``.

    A progress bar overwrites itself; what it wrote over is still in the file, and may be a whole other line.
    """
    text = frame["text"]
    returns = text.str.contains("\r", literal=True)
    if not returns.any():
        return frame.with_columns(segment=pl.lit(0, pl.Int32))
    if (text.filter(returns).str.strip_chars_end("\r").str.contains("\r", literal=True)).any():
        return (
            frame.with_columns(pl.col("text").str.split("\r"))
            .explode("text", empty_as_null=False, keep_nulls=False)
            .with_columns(segment=pl.int_range(pl.len(), dtype=pl.Int32).over("line"))
            .filter((pl.col("text") != "") | (pl.col("segment") == 0))
        )
    return frame.with_columns(pl.col("text").str.strip_chars_end("\r"), segment=pl.lit(0, pl.Int32))


def strip_escapes(text: pl.Series) -> pl.Series:
    """Return texts without colour codes and other terminal sequences."""
    marked = text.str.contains("\x1b", literal=True)
    if not marked.any():
        return text
    return text.zip_with(
        ~marked, text.str.replace_all(_ESCAPES, "").str.replace_all("\x1b", "", literal=True)
    )


def peel_prefixes(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with prefixes taken off ``text`` and told in ``rank``, ``host`` and ``stamp``.

    A later segment of a line inherits what its first segment told. The number of a rank is stronger than
    that of a task, and both are stronger than a number that exists once per node.
    """
    peeled = frame.with_columns(
        rank=pl.lit(None, pl.Int32), host=pl.lit(None, pl.String), stamp=pl.lit(None, pl.String)
    )
    todo = peeled["text"].str.contains(_MAYBE).arg_true()
    strength = pl.Series("strength", [0], dtype=pl.Int8).new_from_index(0, frame.height)
    columns = {name: peeled[name] for name in ("text", "rank", "host", "stamp")}
    for _ in range(MAX_DEPTH):
        if not len(todo):
            break
        parts = columns["text"].gather(todo).str.extract_groups(_PREFIX).struct.unnest()
        # The name of a host needs more than a colon behind it.
        real = parts["prefix"].is_not_null() & (
            parts["name"].is_null() | parts["payload"].str.contains("^" + _AFTER_NAME).fill_null(False)
        )
        parts, todo = parts.filter(real), todo.filter(real)
        if not len(todo):
            break
        columns["text"] = columns["text"].scatter(todo, parts["payload"])
        _tell_rank(columns, strength, todo, parts)
        for column in ("host", "stamp"):
            told = parts.select(told=pl.coalesce(_NAMES[column]))["told"]
            known = told.is_not_null()
            columns[column] = columns[column].scatter(todo.filter(known), told.filter(known))
        todo = todo.filter(parts["payload"].str.contains(_MAYBE))
    peeled = peeled.with_columns(**columns)
    if (peeled["segment"] > 0).any():
        inherited = [pl.col(name).forward_fill().over("line") for name in ("rank", "host", "stamp")]
        peeled = peeled.with_columns(inherited)
    return peeled


def _tell_rank(
    columns: dict[str, pl.Series], strength: pl.Series, rows: pl.Series, parts: pl.DataFrame
) -> None:
    """Put the ranks of one round of prefixes into the column, where they are stronger than what is there."""
    for weight, name in enumerate(reversed(_NAMES["rank"]), start=1):
        told = parts[name].cast(pl.Int32, strict=False)
        stronger = told.is_not_null() & (strength.gather(rows) < weight)
        if stronger.any():
            chosen = rows.filter(stronger)
            columns["rank"] = columns["rank"].scatter(chosen, told.filter(stronger))
            strength.scatter(chosen, weight)
