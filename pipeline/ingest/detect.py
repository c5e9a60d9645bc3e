"""Sampled lines × all formats → the format of a file, its score and the runner-up.

A format is taken only on proof: one of its deciding patterns, or a header, or records of its own. A file of
a program that we do not know shares many lines with one that we do, and is ``unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import Format
from pipeline.ingest.blocks import count_keys
from pipeline.ingest.csv_tables import HEAD_LINES, may_be_headers
from pipeline.ingest.literals import match_rules
from pipeline.ingest.match import RECORD_BEGINS, WHOLE, match_format, table_header
from pipeline.ingest.rules import alternation, rules_of_all
from pipeline.ingest.sample import Sample, lines_of

UNKNOWN = "unknown"
BINARY = "binary"

#: Share of lines that formats of other programs' output must know before a file is named after one of them.
COMMON_SHARE = 0.2

#: Share of lines that a format must know to be taken without a deciding one.
SURE_SHARE = 0.9

#: Lines in the beginning of a document in which it tells what it is.
_DOCUMENT_HEAD = 2000

#: How the first line of a document begins: JSON, or a key or mark of YAML.
_DOCUMENT = r'^\s*(?:\{|\[\s*(?:$|[\[{"])|---|- |[A-Za-z]\w*:(?:\s|$))'

#: Lines that are asked for proof, at most about twice as many.
MAX_EVIDENCE = 500


@dataclass(frozen=True, slots=True)
class Detection:
    """What a file is taken for.

    Attributes:
        format: name of the format, ``unknown`` or ``binary``.
        score: share of the sampled lines that its patterns know, 0 to 1.
        runner_up: the next best format, or empty.
        role: trainer, scheduler, checkpoint, node, mixed or unknown.
    """

    format: str
    score: float
    runner_up: str
    role: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    """How well one format fits."""

    fmt: Format
    score: float
    proven: bool
    foreign: bool = False


def detect(sample: Sample) -> Detection:
    """Return what a file is taken for by a look at it."""
    return detect_all([sample])[0]


def detect_all(samples: Sequence[Sample]) -> list[Detection]:
    """Return what each file is taken for by a look at it. Files are asked together, and judged each alone."""
    looks = [_Look(sample) for sample in samples]
    alike: dict[str, list[_Look]] = {}
    for look in looks:
        if len(look.first):
            alike.setdefault(look.label, []).append(look)
    for texts in alike.values():
        sampled = lines_of([look.lines for look in texts]).filter(pl.col("text").str.contains(r"\S"))
        for file, height in sampled.group_by("file").len().rows():
            texts[file].height = height
        first = lines_of([look.first for look in texts])
        evidence = _evidence(first)
        _ask_shapes(texts, sampled, first)
        _ask_lines(texts, sampled, evidence, primary=True)
        for look in texts:
            if look.height and look.shapes:
                look.candidates += _record_candidates(look)
        rest = [file for file, look in enumerate(texts) if not any(one.proven for one in look.candidates)]
        unproven = pl.col("file").is_in(rest)
        _ask_lines(texts, sampled.filter(unproven), evidence.filter(unproven), primary=False)
    return [look.decide() for look in looks]


class _Look:
    """A look at one file, and how well each format fits.

    Attributes:
        label: expression for the bare names that label its lines.
        lines, first: sampled lines, and all lines of the beginning.
        height: sampled lines that are not empty.
        shapes: shapes of formats that it may have, if it is not one of lines.
    """

    def __init__(self, sample: Sample) -> None:
        self.binary, self.label = sample.binary, sample.label
        self.lines, self.first = sample.lines, sample.first
        self.height = 0
        self.shapes: set[str] = set()
        self.candidates: list[_Candidate] = []

    @cached_property
    def head(self) -> list[str]:
        """The lines in which a document tells what it is."""
        return self.first.head(_DOCUMENT_HEAD).fill_null("").to_list()

    @cached_property
    def begin(self) -> str:
        """The beginning as one text."""
        return "\n".join(self.head)

    def decide(self) -> Detection:
        """Return what the file is taken for."""
        if self.binary:
            return Detection(BINARY, 0.0, "", UNKNOWN)
        ranked = sorted(self.candidates, key=lambda found: (not found.proven, -found.score, found.fmt.name))
        best = next((found for found in ranked if found.proven), None) or _common(ranked)
        others = [found.fmt for found in ranked if best is None or found.fmt is not best.fmt]
        if best is None or not best.fmt.primary:
            # Of what stands in the output of any program the next best is a program.
            others.sort(key=lambda fmt: not fmt.primary)
        runner_up = others[0].name if others else ""
        if best is None:
            return Detection(UNKNOWN, 0.0, runner_up, UNKNOWN)
        return Detection(best.fmt.name, round(best.score, 4), runner_up, _role(best.fmt))


def forced(name: str, detected: Detection) -> Detection:
    """Return the detection with the format that the configuration names."""
    other = detected.format if detected.format != name else detected.runner_up
    score = detected.score if detected.format == name else 0.0
    return Detection(name, score, other, _role(registry()[name]))


def _role(fmt: Format) -> str:
    """Return what files of a format are evidence of."""
    return "mixed" if fmt.role == "any" else fmt.role


def _common(candidates: list[_Candidate]) -> _Candidate | None:
    """Return the best format of lines that occur anywhere, where together they know enough of the file.

    Where they know less of it than a trainer's does, it is the output of a trainer that we do not know.
    """
    common = [found for found in candidates if not found.fmt.primary]
    primary = [found for found in candidates if found.fmt.primary]
    if not common or any(found.foreign or found.score > common[0].score for found in primary):
        return None
    return common[0] if sum(found.score for found in common) >= COMMON_SHARE else None


@cache
def _evidence_screen() -> str:
    """Return an expression for lines that may decide for a format or against it."""
    literals: set[str] = set()
    for fmt in registry().values():
        literals |= set(fmt.foreign)
        literals |= {
            lit for pattern in fmt.patterns if pattern.name in fmt.deciding for lit in pattern.literals
        }
    return alternation(literals)


@cache
def _block_keys() -> str:
    """Return an expression for how the first line of a block begins."""
    keys = {key for fmt in registry().values() if fmt.shape == "blocks" for key in fmt.elements}
    return rf"^\s*(?:{'|'.join(re.escape(key) for key in sorted(keys))})="


@cache
def _prose_begins() -> str:
    """Return an expression for the first lines of records of prose."""
    return "|".join(f"^(?:{fmt.prose.begin})" for fmt in registry().values() if fmt.prose is not None)


def _evidence(first: pl.DataFrame) -> pl.DataFrame:
    """Return lines that may decide, of large parts of files; a bounded number of each, from all over it."""
    found = first.filter(pl.col("text").str.contains(_evidence_screen()))
    if found.height <= MAX_EVIDENCE:
        return found
    every = (pl.len().over("file") // MAX_EVIDENCE).clip(1)
    return found.filter(pl.int_range(pl.len()).over("file") % every == 0)


def _ask_shapes(looks: Sequence[_Look], sampled: pl.DataFrame, first: pl.DataFrame) -> None:
    """Add to each look the shapes that its file may have: one cheap question each to all files at once."""
    text = pl.col("text")
    head = first.filter(pl.int_range(pl.len()).over("file") < _DOCUMENT_HEAD)
    spoken = head.filter(text.str.contains(r"\S"))
    headed = head.filter(pl.int_range(pl.len()).over("file") < HEAD_LINES)
    found = {
        "records": sampled.filter(text.str.contains(RECORD_BEGINS)),
        "document": spoken.unique("file", keep="first", maintain_order=True).filter(
            text.str.contains(_DOCUMENT)
        ),
        "blocks": spoken.filter(text.str.contains(_block_keys())),
        "prose": spoken.filter(text.str.contains(_prose_begins())),
        # The header of a raw table has no digit, and may stand anywhere.
        "table": spoken.filter(~text.str.contains(r"\d")),
        "csv": headed.filter(may_be_headers(headed["text"])),
    }
    for shape, lines in found.items():
        for file in lines["file"].unique():
            looks[file].shapes.add(shape)
    for look in looks:
        if "csv" in look.shapes:
            look.shapes.add("columns")
        if "document" in look.shapes:
            look.shapes.add("trace")
        if len(look.first) > _DOCUMENT_HEAD:
            look.shapes.add("table")


def _ask_lines(
    looks: Sequence[_Look], sampled: pl.DataFrame, evidence: pl.DataFrame, *, primary: bool
) -> None:
    """Add to each look how well formats of lines fit: a score by the sample, proof by the evidence too.

    The lines of all of them bear the same label, or none.
    """
    asked = pl.concat(
        [sampled.with_columns(sampled=pl.lit(True)), evidence.with_columns(sampled=pl.lit(False))]
    ).with_row_index("line", 1)
    formats = {
        fmt.name: fmt for fmt in registry().values() if fmt.shape == "lines" and fmt.primary == primary
    }
    deciding = [f"{fmt.name}.{name}" for fmt in formats.values() for name in fmt.deciding]
    foreign = {
        name: set(
            asked.filter(~pl.col("sampled") & pl.col("text").str.contains(alternation(fmt.foreign)))["file"]
        )
        for name, fmt in formats.items()
        if fmt.foreign
    }
    matches = match_rules(asked["text"], rules_of_all(primary), looks[0].label).join(
        asked.drop("text"), on="line"
    )
    known = matches.group_by("file", "format", maintain_order=True).agg(
        lines=pl.col("line").filter("sampled").n_unique(),
        decided=pl.concat_str("format", pl.lit("."), "pattern").is_in(deciding).any(),
    )
    for file, name, lines, decided in known.rows():
        look, fmt = looks[file], formats[name]
        if not look.height:
            continue
        score = lines / look.height
        alien = file in foreign.get(name, ())
        sure = score >= SURE_SHARE and not fmt.needs_proof
        proven = primary and not alien and (sure or (decided and score >= fmt.least_share))
        look.candidates.append(_Candidate(fmt, score, proven, alien))


def _record_candidates(look: _Look) -> list[_Candidate]:
    """Return how well each format of records, tables, documents and blocks fits.

    Of a document a sample tells nothing: it is asked as far as its beginning goes.
    """
    found = []
    for fmt in registry().values():
        if fmt.shape == "lines" or not _may_hold(fmt, look):
            continue
        if fmt.foreign and look.first.str.contains(alternation(fmt.foreign)).any():
            continue
        asked = look.first if fmt.shape in WHOLE else look.lines.filter(look.lines.str.contains(r"\S"))
        result = match_format(fmt, asked)
        known = result.known.len() if fmt.shape in WHOLE else result.matches["line"].n_unique()
        if not known or result.matches.is_empty():
            continue
        deciding = result.matches.filter(pl.col("pattern").is_in(list(fmt.deciding)))
        # A table is proven by its header: without one it would not have been read.
        proven = (not fmt.deciding or not deciding.is_empty()) and known / len(asked) >= fmt.least_share
        found.append(_Candidate(fmt, known / len(asked), proven))
    return found


def _may_hold(fmt: Format, look: _Look) -> bool:
    """Return whether a file may hold records of a format: cheap questions before a dear one."""
    if fmt.shape not in look.shapes:
        return False
    if fmt.shape in ("document", "trace"):
        return sum(literal in look.begin for literal in fmt.header) >= fmt.header_min
    if fmt.shape == "blocks":
        return count_keys(look.head, fmt) >= fmt.header_min
    return fmt.shape in ("records", "prose") or table_header(fmt, look.first) is not None
