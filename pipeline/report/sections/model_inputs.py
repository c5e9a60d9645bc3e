"""Table of page 8: what model FLOPs and peaks were taken from, and what does not fit."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table
from pipeline.report.program_rows import ModelInput
from pipeline.report.text import elide

_MOST_RUNS = 12

_SOURCES = {
    "configured": "configuration",
    "line_ratio": "TFLOP/s ÷ tokens/s",
    "log": "start of the log",
    "shape": "shape of the model",
    "parameters": "6 × parameters",
}
_CONVENTIONS = {
    "causal_halved": "half of the sequence",
    "full_attention": "all of the sequence",
    "no_attention": "left out",
    "as_printed": "as printed",
    "as_configured": "as configured",
}


def build_model_inputs(facts: Facts) -> Table:
    """Return the runs, those with faults first; of many, the rest is in the longer table."""
    faults: dict[str, list[str]] = {}
    for fault in facts.model_faults:
        faults.setdefault(fault.run_id, []).append(fault.sentence)
    ranked = sorted(facts.model_inputs, key=lambda m: (m.run_id not in faults, m.run_id))
    rows = tuple(_row(m, faults.get(m.run_id, [])) for m in ranked)
    wrong = sum(len(sentences) for sentences in faults.values())
    caption = (
        "What MFU is computed from: model FLOPs of a token and the peak of an accelerator; "
        "docs/model-layer.md says how."
    )
    if wrong:
        caption += f" {units.counted(wrong, 'thing does', 'things do')} not fit."
    return Table(
        name="model_inputs",
        caption=caption,
        columns=(
            Column("run", share=3),
            Column("GFLOP per token", "right"),
            Column("from", share=3),
            Column("attention", share=3),
            Column("peak, TFLOP/s", "right"),
            Column("device", share=2),
            Column("from", share=2),
            Column("printed MFU", "right"),
        ),
        rows=rows[:_MOST_RUNS],
        more=rows[_MOST_RUNS:],
    )


def _row(m: ModelInput, faults: list[str]) -> Row:
    known = m.flops_per_token is not None
    peak = m.peak_flops_per_gpu
    notes = [*faults]
    if m.reason:
        notes.append(f"FLOPs per token are not known: {m.reason}")
    if known and m.source == "shape" and m.proof:
        notes.append(m.proof)
    if peak is None:
        named = (
            f"“{elide(m.gpu_model)}” is none that the device table knows"
            if m.gpu_model
            else "no device is named"
        )
        notes.append(f"the peak is not known: {named}")
    if m.disagreement is not None and m.other_source and m.disagreement <= 0.05:
        notes.append(f"{_SOURCES[m.other_source]} agrees within {_close(m.disagreement)}")
    return Row(
        (
            elide(m.run_id),
            units.number(m.flops_per_token / 1e9) if m.flops_per_token is not None else "–",
            _SOURCES[m.source] if m.source else "–",
            _CONVENTIONS[m.convention] if m.convention else "–",
            f"{peak / 1e12:,.0f}" if peak is not None else "–",
            _device(m),
            m.peak_source or "–",
            units.percent(m.printed_mfu) if m.printed_mfu is not None else "–",
        ),
        detail=_sentences(notes),
    )


def _device(m: ModelInput) -> str:
    if m.device is None:
        return "–"
    return m.device if m.precision == "bf16" else f"{m.device}, {m.precision}"


def _close(share: float) -> str:
    """Return a small share, rounded up: what agrees within 0.1 % is not said to agree exactly."""
    for limit in (0.001, 0.01):
        if share <= limit:
            return f"{100 * limit:g}{units.THIN}%"
    return f"5{units.THIN}%"


def _sentences(notes: list[str]) -> str:
    """Return notes as sentences."""
    return " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)
