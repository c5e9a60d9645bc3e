"""Sampled lines × all formats → the format of a file, its score and the runner-up.

A format is taken only on proof: one of its deciding patterns, or a header, or records of its own. A file of
a program that we do not know shares many lines with one that we do, and is ``unknown``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import polars as pl

from pipeline.formats import registry
from pipeline.formats.format import Format
from pipeline.ingest.match import match_format
from pipeline.ingest.rules import Rule, RuleSet, alternation, build_rules
from pipeline.ingest.sample import Sample
from pipeline.ingest.scan import match_rules

UNKNOWN = "unknown"
BINARY = "binary"

#: Share of lines that formats of other programs' output must know before a file is named after one of them.
COMMON_SHARE = 0.3

#: Share of lines that a format must know to be taken without a deciding one.
SURE_SHARE = 0.9

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
    if sample.binary:
        return Detection(BINARY, 0.0, "", UNKNOWN)
    lines = sample.lines.filter(sample.lines.str.contains(r"\S"))
    if not len(lines):
        return Detection(UNKNOWN, 0.0, "", UNKNOWN)
    evidence = _evidence(sample.first)
    candidates = [*_line_candidates(lines, evidence, primary=True), *_record_candidates(lines)]
    if not any(found.proven for found in candidates):
        candidates += _line_candidates(lines, evidence, primary=False)
    candidates.sort(key=lambda found: (not found.proven, -found.score, found.fmt.name))
    best = next((found for found in candidates if found.proven), None) or _common(candidates)
    others = [found.fmt.name for found in candidates if best is None or found.fmt is not best.fmt]
    runner_up = others[0] if others else ""
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
def _all_rules(primary: bool) -> RuleSet:
    """Return the patterns of all formats of lines that name a file, or of those that do not."""
    formats = [fmt for fmt in registry().values() if fmt.shape == "lines" and fmt.primary == primary]
    return build_rules((Rule(fmt, pattern) for fmt in formats for pattern in fmt.patterns), ())


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


def _evidence(lines: pl.Series) -> pl.Series:
    """Return lines of a large part of a file that may decide; a bounded number, from all over it."""
    found = lines.filter(lines.str.contains(_evidence_screen()))
    return found.gather_every(max(1, len(found) // MAX_EVIDENCE))


def _line_candidates(lines: pl.Series, evidence: pl.Series, *, primary: bool) -> list[_Candidate]:
    """Return how well each format of lines fits: a score by the sample, proof by the evidence as well."""
    matches = match_rules(pl.concat([lines, evidence]), _all_rules(primary))
    found = []
    for (name,), own in matches.group_by("format", maintain_order=True):
        fmt = registry()[str(name)]
        score = own.filter(pl.col("line") <= len(lines))["line"].n_unique() / len(lines)
        foreign = bool(fmt.foreign) and evidence.str.contains(alternation(fmt.foreign)).any()
        decided = own["pattern"].is_in(list(fmt.deciding)).any() or score >= SURE_SHARE
        found.append(_Candidate(fmt, score, fmt.primary and decided and not foreign, foreign))
    return found


def _record_candidates(lines: pl.Series) -> list[_Candidate]:
    """Return how well each format of records and tables fits."""
    found = []
    for fmt in registry().values():
        if fmt.shape == "lines" or (fmt.shape == "records" and not lines.str.contains(r"^\s*\{").any()):
            continue
        result = match_format(fmt, lines)
        known = result.matches["line"].n_unique()
        if not known:
            continue
        deciding = result.matches.filter(pl.col("pattern").is_in(list(fmt.deciding)))
        # A table is proven by its header: without one it would not have been read.
        proven = not fmt.deciding or not deciding.is_empty()
        found.append(_Candidate(fmt, known / len(lines), proven))
    return found
