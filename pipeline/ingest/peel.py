"""What transports put around a line: carriage returns, colour codes, prefixes of launchers and collectors.

Prefixes stack (``3: [default5]:[rank29]:text``), so they are taken off as a stack. A torn prefix matches
nothing and stays in the text, where it does no harm.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

import polars as pl

from pipeline.ingest.clock import CTIME

#: Prefixes deeper than this are not a stack of launchers but a text of that shape.
MAX_DEPTH = 8

_ESCAPES = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements, focus events that leaked into a file
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles of terminals
    r"|[ -/]*[0-~])"  # everything else
)

#: Different prefixes of a part of a file that are looked up before they are read.
_FEW = 256

#: An inner progress bar, which is drawn below another one, ends with this.
CURSOR_UP = "]\x1b[A"

#: What is in a line that holds a progress bar.
_BAR_END = "it/s|s/it"

#: What stands behind the end of a progress bar without a line break is a line of its own.
_BEHIND_BAR = r"((?:it/s|s/it)(?:, [^\]\r]*)?\])([^\s\r\[]|\[[^A]|\[A[^\s\r])"

_RFC3339 = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"

_LOGURU_TIME = "[0-9]{8} [0-9]{2}:[0-9]{2}:[0-9]{2}"
_LOGURU = rf"\[{_LOGURU_TIME}\]\["

#: One prefix each. ``rank`` is the number of a rank, ``task`` and its like the number of a task, ``local`` a
#: number that exists once per node, the others name a host, or a time at which a collector saw the line.
_PREFIXES = (
    r" {0,6}(?P<task>[0-9]{1,6}):(?: |$)",  # srun --label
    r"\[rank(?P<rank>[0-9]{1,6})(?:-[a-z_]+[0-9]+)*\]: ?",  # torchrun and PyTorch
    r"\[[A-Za-z_]{1,20}(?P<local>[0-9]{1,4})\]: ?",  # torchrun --tee with its default role or another one
    rf"(?:(?P<mpitime>{CTIME}))?\[[0-9]+,(?P<mpi>[0-9]+)\]<std(?:out|err|diag)>: ?",  # mpirun --tag-output
    r"\[(?P<tag>[0-9]{1,5})\] ",  # PMI tags
    rf"(?P<cri>{_RFC3339}(?:\.[0-9]+)?(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})) std(?:out|err) [FP] ",  # containers
    rf"(?P<kube>{_RFC3339}\.[0-9]{{7,9}}Z) ",  # kubectl logs --timestamps
    r"\[pod/(?P<pod>[!-.0-9:-\\^-~]+)/[!-\\^-~]*\] ?",  # kubectl logs --prefix
    r"\((?:[A-Za-z_][A-Za-z_0-9.]* )?pid=[0-9]+(?:, ip=(?P<ip>[0-9a-fA-F.:]+))?\) ?",  # Ray workers
    r"std(?:out|err): ",  # wrappers
    # Primus: the logger of which every line of the trainer goes through, and the place that called it
    rf"\[(?P<loguru>{_LOGURU_TIME})\](?:\[[^\[\]]{{1,60}}\]){{0,3}}?"
    r"\[(?:rank|node)-(?P<worker>[0-9]{1,6})/[0-9]{1,6}\]\[[A-Z]{4,8} *\] *"
    r"(?:\[[!-Z^-~]{1,60}:[0-9]+\] : ?)?",
    r"localhost: ",  # pdsh, of the machine that it was started on
    r"(?P<address>[0-9]{1,3}(?:\.[0-9]{1,3}){3}): ?",  # pdsh with addresses
)
#: A bare name before a line: of a host, or the end of the name of NeMo-Run's task with the number of its
#: replica. Both open many ordinary lines as well, so which of them are labels is told by a file's sample
#: (`labels.py`); only these are taken off.
LABEL = r"(?:(?P<name>[A-Za-z][A-Za-z_0-9.-]*[0-9][A-Za-z_0-9.-]*): |[A-Za-z0-9_.-]{1,10}/[0-9]{1,5} )"
_ONE = "|".join(_PREFIXES)
_UNNAMED = re.sub(r"\?P<\w+>", "?:", _ONE)
#: Prefixes that need no sample to be known, one behind the other.
STACK = rf"^(?:{_UNNAMED})+"
#: A bare name behind them.
NAMED = rf"^(?:{_UNNAMED})*{LABEL}"
_PARTS = rf"^(?P<prefix>{_ONE}|{LABEL})(?P<rest>.*)"

#: All expressions that prefixes are found by, but for those of labels.
PREFIXES = (STACK, _PARTS)

#: What PyTorch puts before each line of an exception that nothing caught (`sys.excepthook`, which
#: `torch.distributed.init_process_group` replaces): with a blank, where a launcher that labels has none.
_UNCAUGHT = r"\[rank[0-9]{1,6}\]: $"

#: Groups that tell a rank, weakest first, and those that tell the other columns.
_RANKS = ("local", "tag", "mpi", "task", "rank", "worker")
#: Of these the numbers of tasks, which launchers of processes may hold several ranks of.
_TASKS = ("tag", "mpi", "task")
_PEELED = ("rank", "task", "host", "stamp", "uncaught")
_TOLD = {"host": ("pod", "ip", "address", "name"), "stamp": ("cri", "kube", "mpitime", "loguru")}


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


def has_behind_bar(text: pl.Series) -> pl.Series:
    """Return which texts hold something behind a progress bar."""
    # A cheap question first: hardly any log holds a bar.
    held = text.str.contains(_BAR_END)
    return text.str.contains(_BEHIND_BAR) if held.any() else held


def split_behind_bars(text: pl.Series) -> pl.Series:
    """Return texts with a carriage return between a progress bar and what was printed behind it."""
    glued = has_behind_bar(text)
    if not glued.any():
        return text
    return text.zip_with(~glued, text.str.replace_all(_BEHIND_BAR, "$1\r$2"))


def strip_escapes(text: pl.Series) -> pl.Series:
    """Return texts without colour codes and other terminal sequences."""
    marked = text.str.contains("\x1b", literal=True)
    if not marked.any():
        return text
    # A sequence that was cut off, with the prefix of another line behind it.
    text = text.str.replace_all("\x1b[rank", "[rank", literal=True)
    # What sends the cursor up behind a progress bar is all that tells an inner bar from the outer one.
    text = text.str.replace_all(CURSOR_UP, "][A", literal=True)
    return text.zip_with(
        ~marked, text.str.replace_all(_ESCAPES, "").str.replace_all("\x1b", "", literal=True)
    )


def strip_prefixes(text: pl.Series, label: str) -> pl.Series:
    """Return texts without the prefixes at their heads.

    ``label`` matches the bare names that are prefixes in the file of the texts; empty where none is.
    """
    return text.str.replace(_stack(label), "")


@cache
def _stack(label: str) -> str:
    """Return an expression of all prefixes at the head of a line. A label stands there at most once."""
    return rf"^(?:{_UNNAMED})*(?:{label})(?:{_UNNAMED})*|{STACK}" if label else STACK


@cache
def behind_prefixes(regex: str, label: str) -> str | None:
    """Return an expression for raw lines that matches where ``regex`` would without their prefixes, or None.

    It may match behind a part of the prefixes only, so what it does not match has to be asked again.
    """
    if "^" not in regex.replace("[^", ""):
        return regex
    if not regex.startswith("^") or "|^" in regex:
        return None
    named = rf"(?:(?:{label})(?:{_UNNAMED})*)?" if label else ""
    return rf"^(?:{_UNNAMED})*{named}{regex[1:]}"


def peel_prefixes(frame: pl.DataFrame, label: str) -> pl.DataFrame:
    """Return the frame with prefixes taken off ``text``, and ``rank, task, host, stamp`` and ``uncaught``.

    ``label`` matches the bare names that are prefixes as well.

    ``task`` is the number of the task that ``rank`` is taken from, and null where something better tells it:
    a task of a launcher of processes is none of the ranks that it holds.

    ``uncaught`` is true where the last prefix is that of PyTorch's hook of exceptions that nothing caught,
    and null elsewhere: other programs print such exceptions without it.
    A later segment of a line inherits what its first segment told, but for what a logger put there: it knows
    nothing of what was glued behind it. The number of a rank is stronger than that of a task, and both are
    stronger than a number that exists once per node.
    """
    text = frame["text"]
    payload = strip_prefixes(text, label)
    peeled = frame.with_columns(
        payload=payload,
        # Prefixes are ASCII, so bytes of them are characters.
        prefix=pl.col("text").str.head(pl.col("text").str.len_bytes() - payload.str.len_bytes()),
    )
    peeled = peeled.hstack(read_prefixes(peeled["prefix"]))
    if (peeled["segment"] > 0).any():
        logged = pl.col("prefix").str.contains(_LOGURU).first().over("line")
        inherited = [
            pl.when(logged).then(name).otherwise(pl.col(name).forward_fill().over("line")).alias(name)
            for name in _PEELED
        ]
        peeled = peeled.with_columns(inherited)
    return peeled.select("line", "segment", pl.col("payload").alias("text"), *_PEELED)


def read_prefixes(prefixes: pl.Series) -> pl.DataFrame:
    """Return ``rank, task, host, stamp, uncaught`` of stacks of prefixes, row by row."""
    # A file has few prefixes and many lines, so each prefix is read once.
    distinct = prefixes.unique()
    told = _read_few(tuple(distinct.sort())) if len(distinct) <= _FEW else _read_prefixes(distinct)
    if told.height == 1:
        return pl.DataFrame([told[name].new_from_index(0, len(prefixes)) for name in _PEELED])
    read = pl.DataFrame({"prefix": prefixes}).join(told, on="prefix", how="left", maintain_order="left")
    return read.select(_PEELED)


@lru_cache
def _read_few(prefixes: tuple[str | None, ...]) -> pl.DataFrame:
    """Return the same as `_read_prefixes`, of prefixes that come again in the next part of a file."""
    return _read_prefixes(pl.Series(prefixes, dtype=pl.String))


def _read_prefixes(prefixes: pl.Series) -> pl.DataFrame:
    """Return ``prefix, rank, task, host, stamp, uncaught`` of stacks of prefixes."""
    told = pl.DataFrame({"prefix": prefixes, "rest": prefixes}).with_columns(
        host=pl.lit(None, pl.String),
        stamp=pl.lit(None, pl.String),
        uncaught=pl.when(pl.col("prefix").str.contains(_UNCAUGHT)).then(True),
        **dict.fromkeys(_RANKS, pl.lit(None, pl.Int32)),
    )
    for _ in range(2 * MAX_DEPTH):
        if (told["rest"] == "").all():
            break
        parts = told["rest"].str.extract_groups(_PARTS).struct.unnest()
        names = {name: pl.coalesce(*(parts[group] for group in groups)) for name, groups in _TOLD.items()}
        ranks = {name: parts[name].cast(pl.Int32, strict=False) for name in _RANKS}
        told = told.with_columns(
            parts["rest"].fill_null(""),
            **{name: pl.coalesce(new, pl.col(name)) for name, new in (names | ranks).items()},
        )
    return told.select(
        *("prefix", "host", "stamp", "uncaught"),
        rank=pl.coalesce(*reversed(_RANKS)),
        task=pl.when(pl.coalesce("worker", "rank").is_null()).then(pl.coalesce(*reversed(_TASKS))),
    )
