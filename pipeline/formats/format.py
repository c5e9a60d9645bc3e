"""What a log format is: data only. Text goes in, columns or nothing come out.

A format names its patterns; a pattern names the columns that it fills. The same ``Value`` says how a column
is filled from named fields: groups of an expression (lines), keys of an object, or the header of a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pipeline.formats.prose import Prose

Kind = Literal[
    "text",
    "int",
    "float",
    "human",
    "bool",
    "seconds",
    "per_second",
    "stamp",
    "hostlist",
    "slots",
    "tres_gpus",
    "spec_gpus",
    "pci",
    "lower",
]
Role = Literal["trainer", "scheduler", "checkpoint", "node", "any"]
Behind = Literal["any", "message", "words", "cut", "step", "twin"]
Shape = Literal["lines", "records", "table", "csv", "columns", "document", "blocks", "prose", "trace"]

#: Shapes of files that begin with a header, which their later parts need.
TABULAR = ("table", "csv", "columns")

Stamp = Literal[
    "iso",  # 2026-03-01[T ]10:11:12[.,frac][ offset]; also 2026-03-01_10:11:12
    "glog",  # [IWEFC]MMDD or MDD (month not padded) or MM-DD HH:MM:SS[.frac]; no year, no zone
    "syslog",  # Mar  1 10:11:12; no year, no zone
    "ctime",  # [Thu] Apr 09 05:42:17 [ZONE] 2026
    "day",  # [Thu] Apr  9 05:42:17[ 2026]; the year or none, no zone
    "us",  # MM/DD/YYYY HH:MM:SS[.frac], or without the year; no zone
    "epoch_s",
    "epoch_ms",
    "epoch_us",
    "epoch_ns",
    "uptime_s",  # seconds since boot: no wall time
    "uptime_us",
]


@dataclass(frozen=True, slots=True)
class Value:
    """How one column is filled.

    Attributes:
        group: named group or field that holds the text; several names are tried in order, the first
            that is not empty wins. Empty for a constant.
        kind: how the text is read. ``int`` and ``float`` accept thousands separators, ``nan`` and
            ``inf``; ``human`` reads a number with a unit of a thousand behind it, such as ``3.41K``, where
            ``G`` and ``B`` are the same; ``seconds`` reads ``[D-]HH:MM:SS``, ``D days, H:MM:SS``, ``MM:SS``
            or a plain number; ``per_second`` makes the seconds of one out of how many a second has;
            ``bool`` reads true/false/1/0/yes/no; ``hostlist`` expands ``gpu[001-003,007]``; ``slots`` takes
            each host of ``gpu001/0*8+gpu002/0*8`` once; ``tres_gpus`` takes the number of GPUs out of a
            trackable-resources text, ``spec_gpus`` adds them up in ``2:ncpus=8:ngpus=4+1:gpus=2``;
            ``pci`` normalises a PCI address. What cannot be read becomes null.
        scale: factor applied after reading a number (1e-3 turns milliseconds into seconds).
        less: for kind ``stamp``: field of an earlier time; the column is the seconds from that one to this.
            For numbers: fields that are taken off, where they are there.
        offset: number added after that (1 makes a count out of a number that begins with 0).
        stamp: shape of the time, for kind ``stamp``.
        const: the value itself, for a constant.
        times: field that holds a number by which the value is multiplied; null where the field is empty.
        every: regular expression whose matches are joined with commas, and counted where the kind is a
            number; of one with a group ``v`` the group counts.
        mapping: replaces the text before it is read; text not listed becomes ``mapping.get("*")``
            or stays as it is when there is no ``"*"``.
        index: for texts: field of the place in an array, or several; ``[n]`` stands behind it if not 0.
        plus: two fields of whole numbers whose product is added to a number: steps of earlier epochs.
    """

    group: str | tuple[str, ...] = ""
    kind: Kind = "text"
    scale: float = 1.0
    times: str = ""
    every: str = ""
    offset: int = 0
    less: str | tuple[str, ...] = ""
    stamp: Stamp | None = None
    const: str | int | float | bool | None = None
    mapping: Mapping[str, str] | None = None
    index: str | tuple[str, ...] = ""
    plus: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """A further field, cut out of another one.

    Attributes:
        fields: names tried in order; the first that is not empty is cut.
        regex: Rust regular expression with one group named ``v``; no match makes the new field null.
        text: the new field, in which ``$v`` stands for the group, if it is there.
    """

    fields: tuple[str, ...]
    regex: str
    text: str = "$v"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One kind of line or record.

    Attributes:
        name: unique within the format.
        table: event table that it fills; empty for a line that is known and carries nothing. For records:
            where it fills ``signals`` without a ``signal_id``, the catalogue reads ``text`` like a line and
            makes a row of what it knows.
        columns: column of that table (or of its provenance) to how it is filled. Where ``ts`` is not
            named, the engine takes the stamp at the head of the line, if there is one.
        literals: for lines: at least one of them is in every line that the pattern matches.
        regex: for lines: Rust regular expression with named groups, searched in the peeled line.
            ``(?x)`` is allowed. Backreferences and look-around do not exist.
        extras: optional columns found by name anywhere in a line that ``regex`` matched:
            column to (regular expression with one group named ``v``, value of group ``v``).
        bars: optional columns of lines whose fields stand between bars, as in ``| label: number |``:
            column to (labels, value of group ``v``); of several labels the first that is there counts.
            Cheaper than ``extras``, and as indifferent to order.
        each: for lines: when set, every match of this second expression in the line makes a row; its
            named groups are added to those of ``regex``. For documents: pointer of an array of the
            record; each of its items makes a row, and its fields are named ``*/field``; ``*last`` is true for
            the last of them.
        when: for all but lines: fields that must be present and not null.
        where: for all but lines: fields that must have one of the given texts.
        beside: True where it reads a line that another pattern takes: the parts of a step beside the step.
        unique: True when no other program prints these literals: a line that holds one of them and
            does not match is torn, and counted as bad.
        versions: upstream versions that print it, for the documentation.
        note: what a reader must know about its numbers.
    """

    name: str
    table: str
    columns: Mapping[str, Value] = field(default_factory=dict)
    literals: tuple[str, ...] = ()
    regex: str = ""
    extras: Mapping[str, tuple[str, Value]] = field(default_factory=dict)
    bars: Mapping[str, tuple[tuple[str, ...], Value]] = field(default_factory=dict)
    each: str = ""
    when: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    beside: bool = False
    unique: bool = False
    versions: str = ""
    note: str = ""


def known_line(
    name: str, literals: tuple[str, ...], regex: str, versions: str = "", note: str = ""
) -> Pattern:
    """Return the pattern of a line that is known and carries nothing."""
    return Pattern(name=name, table="", literals=literals, regex=regex, versions=versions, note=note)


@dataclass(frozen=True, slots=True)
class Head:
    """How lines begin that come into a file past the buffers of others, and so in the middle of a line.

    Attributes:
        regex: Rust regular expression without named groups and anchors; no other line holds what it matches.
        behind: what such a line is set apart from. ``any``: every line; it is looked for in all of them, and
            has to begin with a literal. ``message``: the same, but loggers print it as well, behind words of
            theirs in brackets. ``words``: what stands behind anything but a prefix. ``cut``: a line that was
            cut. ``step``: a step line, wherever. ``twin``: a line that begins with such a head.
    """

    regex: str
    behind: Behind


@dataclass(frozen=True, slots=True)
class Format:
    """A log format: the program that writes it, and its patterns.

    Attributes:
        name: module name; unique.
        title: the program, for people.
        link: upstream source or documentation.
        role: what the file is evidence of. A run exists where a ``trainer`` format is.
        shape: ``lines`` of text, ``records`` (one JSON object per line, keys possibly below ``unwrap``), a
            delimited ``table`` with a header whose cells are neither quoted nor escaped, a ``csv`` with a
            header and quotation marks, ``columns`` that stand apart by blanks below a header, a ``document``
            of JSON or YAML, ``blocks`` of ``Key=Value`` on one or several lines, ``prose`` for people, or a
            ``trace`` of a profiler. Fields of records and documents are pointers: ``a/b`` is member ``b`` of
            ``a``, a slash in a name is ``~1``, and ``a/[type=Ready]/b`` takes the first such item of ``a``.
        primary: False for formats that occur inside other programs' output and never name a file.
        step_time: what the logged step time includes, as sentences for the documentation:
            evaluation, saves, data wait, and whether it is a mean.
        step_time_excludes_stalls: True where saves and evaluations are outside the printed step time.
        deciding: patterns of which a match in the sample is proof that the file has this format.
        needs_proof: True where its commonest lines are printed by other programs as well, such as bare
            progress bars: a deciding pattern has to match, however many of the lines are known.
        least_share: share of the sampled lines that it must know before a deciding one names the file: what
            people print into the output of a job (``dmesg``, a bandwidth test) proves what its lines are.
        foreign: literals of lines that only other programs print which share lines with this one; a file
            whose sample holds one of them is none of this format.
        chatter: literals of lines that come by the million and never hold more: such a line is known.
        heads: how its lines begin that other lines may hide, in the output of any program.
        unrendered: why the simulator does not write it; empty where it does.
        unwrap: for records: keys below which the fields may lie. For documents: keys below which the record
            itself may lie, as in what is watched or collected.
        elements: for documents: names of the arrays that hold the records; where none is there, the document
            is one record, or an array of them. ``a/[]/b/[]`` goes down into the items of an array ``b``
            inside of each, and ``document/a/b/[]`` into the array ``b`` of the object ``a``; what is around
            such a record stands below its field ``^``. For blocks: keys of which one begins the first line of
            each record.
        header: for tables and csv: column names of which at least ``header_min`` are in the header line.
            Case is no matter; fields bear the names as they are spelt here. For documents and traces: texts
            of which so many are in its beginning. For blocks: keys of which so many are in the first record.
        shapes: for tables: column to the regular expression that its whole text must match. A row in which
            one does not match is split otherwise, and bad where no way to split it fits.
        free: for tables: columns whose text may hold the delimiter or a line break. For blocks: keys whose
            text may hold what looks like a key and is none of ``header``.
        prose: for prose: how its records are told apart, and which fields they have.
        derive: for all but lines: further fields by name; patterns use them like columns.

    Habits are what SQL has to know of a program; it reads them from the table ``formats`` (``habits.py``):
        ordered_by_time: records carry their own time and arrive out of order.
        second_hand: place, from 1, among files that repeat a console and do not say when: the lowest counts.
        elapsed_per_epoch: ``elapsed_s`` of its steps starts again with each epoch.
        bars_for_evaluations: it draws the same bar for an evaluation as for the training.
        results_apart: bars go to standard error and results to standard output, maybe into two files.
        results_per_node: each node prints the time of the same evaluation, and none says which one it is.
        step_time_runs_on: stalls that are timed as well lie inside of the printed step time.
        step_time_of_one: patterns whose printed step time says nothing of the steps between two lines.
        step_time_of_all: patterns whose printed step time is the mean since ``elapsed_s`` began.
        save_end_untold: it prints when a save begins, and never when it is over; the steps wait for it.
        blocked_is_end_of_sync: of a save that is not asynchronous a line of edge ``blocked`` is the end.
        background_told: a line without a step says that a save goes on in the background, and the loop as
            well; a save of which none does is over when the line of edge ``blocked`` is printed.
        next_save_waits: a save begins when the one before it is durable, which no line says.
        hooks_timer: component of the timer that is printed when all behind a step is over, saves among it.
        world_size_late: the world size stands behind the first line of its launch, not before it.
        flops_attention: how its TFLOP/s count attention; empty where releases differ.
        flops_recomputed: its TFLOP/s count what is computed a second time.
        degrees: keys of facts whose product is the number of accelerators.
        start_names_run: ``detail`` of the phase ``process_start`` is the name of the run.
        tells_requeues: accounting that knows requeues and preemption, where other records do not.
        by_host_clock: it prints by the clock of the host, also into what a container prints by its own.
    """

    name: str
    title: str
    link: str
    role: Role
    patterns: tuple[Pattern, ...]
    shape: Shape = "lines"
    primary: bool = True
    step_time: str = ""
    step_time_excludes_stalls: bool = True
    deciding: tuple[str, ...] = ()
    needs_proof: bool = False
    least_share: float = 0.0
    foreign: tuple[str, ...] = ()
    chatter: tuple[str, ...] = ()
    heads: tuple[Head, ...] = ()
    unrendered: str = ""
    unwrap: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    header_min: int = 3
    shapes: Mapping[str, str] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    prose: Prose | None = None
    derive: Mapping[str, Derived] = field(default_factory=dict)
    versions: str = ""
    ordered_by_time: bool = False
    second_hand: int = 0
    elapsed_per_epoch: bool = False
    bars_for_evaluations: bool = False
    results_apart: bool = False
    results_per_node: bool = False
    step_time_runs_on: bool = False
    step_time_of_one: tuple[str, ...] = ()
    step_time_of_all: tuple[str, ...] = ()
    save_end_untold: bool = False
    blocked_is_end_of_sync: bool = False
    background_told: bool = False
    next_save_waits: bool = False
    hooks_timer: str = ""
    world_size_late: bool = False
    flops_attention: str = ""
    flops_recomputed: bool = False
    degrees: tuple[str, ...] = ()
    start_names_run: bool = False
    tells_requeues: bool = False
    by_host_clock: bool = False
