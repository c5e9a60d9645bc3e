"""Tables of page 6: the factors of model goodput of each run, and where they come from."""

from __future__ import annotations

from collections import Counter

from pipeline.report import units
from pipeline.report.efficiency_rows import Efficiency
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table
from pipeline.report.program_rows import ModelInput
from pipeline.report.sections.room import more_of
from pipeline.report.text import elide
from pipeline.report.words import clause

#: Where FLOPs per token and peaks come from: given by somebody, measured by the program, or worked out.
_FLOPS_FROM = {
    "configured": "given in goodput.toml",
    "log": "given at the start of the log",
    "line_ratio": "derived from TFLOP/s and tokens of the same lines",
    "shape": "derived from the shape of the model",
    "parameters": "derived from its parameters, 6 each",
}
_CONVENTIONS = {
    "causal_halved": "attention halved, since it is causal",
    "full_attention": "attention in full",
    "no_attention": "without attention",
    "as_printed": "as the program counts",
    "as_configured": "as configured",
}

#: What tells the parts of a step, where its name is no word of the field.
_EVIDENCE = {"comms": "timing of each communication"}


def build_factors(facts: Facts, most: int) -> Table:
    """Return one row per run: FLOPs, peak, MFU, and the four factors whose product is model goodput.

    What several runs have from the same sources is said once, below the table.
    """
    works = {work.run_id: work for work in facts.model_inputs}
    runs = sorted(facts.productive.efficiencies, key=lambda run: (-run.productive_gpu_s, run.run_id))
    sources = {run.run_id: _sources(run, works.get(run.run_id)) for run in runs}
    (common, times) = next(iter(Counter(filter(None, sources.values())).most_common(1)), ("", 0))
    if times < 2:
        common = ""
    rows = tuple(
        _factors(run, works.get(run.run_id), "" if sources[run.run_id] == common else sources[run.run_id])
        for run in runs
    )
    after = f"Where a row says nothing else: {common}" if common and times < len(runs) else common
    return Table(
        name="factors",
        caption="Model goodput is steadiness · input · network · computing; a factor that nothing tells is "
        "in the next one." + more_of(len(rows) - most, "runs"),
        columns=(
            Column("run"),
            Column("FLOPs a token", "right", share=4),
            Column("peak TFLOP/s", "right", share=5),
            Column("MFU median", "right", share=3),
            Column("reference MFU", "right", share=4),
            Column("model goodput", "right", share=4),
            Column("steadiness", "right", share=4),
            Column("input", "right", share=3),
            Column("network", "right", share=3),
            Column("computing", "right", share=4),
        ),
        rows=rows[:most],
        more=rows[most:],
        after=after,
    )


def _factors(run: Efficiency, work: ModelInput | None, sources: str) -> Row:
    flops = None if work is None else work.flops_per_token
    peak = None if work is None else work.peak_flops_per_gpu
    return Row(
        (
            elide(run.run_id),
            "–" if flops is None else _power(flops),
            "–" if peak is None else units.number(peak / 1e12, 1),
            units.percent(run.mfu_median),
            units.percent(run.reference_mfu),
            units.percent(run.g_model),
            units.percent(run.steadiness),
            units.percent(run.input_efficiency),
            units.percent(run.network_efficiency),
            units.percent(run.compute_efficiency),
        ),
        detail=" ".join(filter(None, (sources, _reasons(run)))),
    )


def _power(value: float) -> str:
    """Return a large number as a power of ten."""
    digits, _, exponent = f"{value:.2e}".partition("e")
    raised = str(int(exponent)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return f"{digits}{units.THIN}·{units.THIN}10{raised}"


def _sources(run: Efficiency, work: ModelInput | None) -> str:
    """Return what FLOPs, peak and parts were taken from."""
    if work is None:
        return ""
    parts: list[str] = []
    if work.flops_per_token is not None and work.source:
        text = f"FLOPs {_FLOPS_FROM.get(work.source, work.source.replace('_', ' '))}"
        if work.convention:
            text += f", {_CONVENTIONS.get(work.convention, work.convention.replace('_', ' '))}"
        if work.disagreement is not None and work.other_source and work.disagreement > 0.05:
            other = _FLOPS_FROM.get(work.other_source, work.other_source.replace("_", " "))
            text += f"; {units.percent(work.disagreement)} away from what is {other}"
        parts.append(text)
    if work.peak_flops_per_gpu is not None:
        model = f" of {work.device}" if work.device else ""
        parts.append(f"peak{model} from {_peak_source(work.peak_source)}")
    if run.evidence_source:
        source = _EVIDENCE.get(run.evidence_source, run.evidence_source.replace("_", " "))
        parts.append(f"parts of a step measured by {source}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _peak_source(source: str | None) -> str:
    known = {
        "configuration": "goodput.toml",
        "device table": "the device table",
        "log": "the log",
        "implied": "TFLOP/s over MFU",
    }
    return known.get(source or "", source or "an unknown source")


def _reasons(run: Efficiency) -> str:
    """Return why factors are not known; factors that lack for one reason share it."""
    by_reason: dict[str, list[str]] = {}
    for name, value, reason in (
        ("steadiness", run.steadiness, run.steadiness_reason),
        ("input", run.input_efficiency, run.input_reason),
        ("network", run.network_efficiency, run.network_reason),
        ("computing", run.compute_efficiency, run.compute_reason),
    ):
        if value is None:
            by_reason.setdefault(clause(reason or "nothing tells"), []).append(name)
    told = (f"{' and '.join(names)} not known: {reason}" for reason, names in by_reason.items())
    text = "; ".join(told)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
