"""Tables of page 6: the factors of model goodput, slow stretches, sizes of one model, and stragglers."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.efficiency_rows import Efficiency, SlowStretch, Straggler
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table, Text
from pipeline.report.program_rows import ModelInput
from pipeline.report.sections.device_tables import gpu_of
from pipeline.report.text import elide
from pipeline.report.words import clause

_MOST_ROWS = 20
_MOST_SLOW = 6

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

_KINDS = {"level": "level", "stretch": "stretch"}


def build_factors(facts: Facts) -> Table:
    """Return one row per run: FLOPs, peak, MFU, and the four factors whose product is model goodput."""
    works = {work.run_id: work for work in facts.model_inputs}
    runs = sorted(facts.productive.efficiencies, key=lambda run: (-run.productive_gpu_s, run.run_id))
    rows = [_factors(run, works.get(run.run_id)) for run in runs]
    hidden = max(0, len(rows) - _MOST_ROWS)
    return Table(
        name="factors",
        caption="Model goodput is steadiness · input · network · computing. Reference MFU: at the pace of an "
        "undisturbed step. A factor that nothing tells is contained in the next one."
        + (f" The {_MOST_ROWS} largest runs; {hidden:,} more in review.html." if hidden else ""),
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
        rows=tuple(rows[:_MOST_ROWS]),
        more=tuple(rows[_MOST_ROWS:]),
    )


def _factors(run: Efficiency, work: ModelInput | None) -> Row:
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
        detail=" ".join(filter(None, (_sources(run, work), _reasons(run)))),
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


def build_slow(facts: Facts) -> tuple[Table | Text, ...]:
    """Return the costliest slow stretches; single slow steps are summed below."""
    ran = facts.productive
    jitter = sum(run.cost_gpu_s for run in ran.jitters)
    costs = [stretch.cost_gpu_s for stretch in ran.slow_stretches if stretch.cost_gpu_s is not None]
    decimals = units.gpu_hours_decimals([*costs, jitter])
    single = ""
    if jitter > 0:
        attempts = units.counted(sum(run.attempts for run in ran.jitters), "attempt")
        single = f"scattered slow lines in {attempts} cost {units.gpu_hours(jitter, decimals)} GPU-hours."
    if not ran.slow_stretches:
        return (Text(f"No slow stretch; {single}"),) if single else ()
    rows = [_slow(stretch, decimals) for stretch in ran.slow_stretches]
    after = f"Besides, {single}" if single else ""
    hidden = max(0, len(rows) - _MOST_SLOW)
    return (
        Table(
            name="slow",
            caption="Slow stretches: steps in a row, and changes of level that last, against the pace of an "
            "undisturbed step."
            + (f" The {_MOST_SLOW} costliest; {hidden:,} more in review.html." if hidden else ""),
            columns=(
                Column("run"),
                Column("attempt", "right"),
                Column("from", share=4),
                Column("to", share=4),
                Column("steps", "right", share=4),
                Column("kind"),
                Column("times as long", "right", share=3),
                Column("GPU-h", "right"),
                Column("host", share=3),
            ),
            rows=tuple(rows[:_MOST_SLOW]),
            more=tuple(rows[_MOST_SLOW:]),
            after=after,
        ),
    )


def _slow(stretch: SlowStretch, decimals: int) -> Row:
    return Row(
        (
            elide(stretch.run_id),
            f"{stretch.attempt:,}",
            units.stamp(stretch.start_ts),
            units.stamp(stretch.end_ts),
            f"{stretch.step_first:,} – {stretch.step_last:,}",
            _KINDS.get(stretch.kind, stretch.kind),
            "–" if stretch.slowdown is None else units.number(stretch.slowdown, 2),
            "–" if stretch.cost_gpu_s is None else units.gpu_hours(stretch.cost_gpu_s, decimals),
            "–" if stretch.host is None else gpu_of(stretch.host, stretch.gpu),
        )
    )


def build_scaling(facts: Facts) -> tuple[Table, ...]:
    """Return throughput against size of runs of one model; nothing where no model has two sizes."""
    rows = facts.productive.scaling
    sizes: dict[str, set[int]] = {}
    for row in rows:
        sizes.setdefault(row.family, set()).add(row.gpus)
    shown = [row for row in rows if len(sizes[row.family]) > 1]
    if not shown:
        return ()
    built = tuple(
        Row(
            (
                elide(row.family, 90),
                elide(row.run_id),
                f"{row.gpus:,}",
                "–" if row.tokens_per_s_per_gpu is None else units.number(row.tokens_per_s_per_gpu, 0),
                units.percent(row.efficiency),
                units.percent(row.exposed_comm_share),
            )
        )
        for row in shown
    )
    return (
        Table(
            name="scaling",
            caption="Scaling: throughput of runs of one model and sequence length, against the smallest.",
            columns=(
                Column("model", share=4),
                Column("run", share=3),
                Column("GPUs", "right"),
                Column("tokens/s a GPU", "right", share=2),
                Column("efficiency", "right", share=2),
                Column("exposed communication", "right", share=3),
            ),
            rows=built[:_MOST_ROWS],
            more=built[_MOST_ROWS:],
        ),
    )


def build_stragglers(facts: Facts) -> tuple[Table, ...]:
    """Return hosts and ranks that stand out; nothing where none does."""
    found = facts.productive.stragglers
    if not found:
        return ()
    rows = tuple(_straggler(row) for row in found)
    return (
        Table(
            name="stragglers",
            caption="Stragglers: hosts and ranks whose share of a step takes longer than that of the others, "
            "and how probable that would be by chance among so many.",
            columns=(
                Column("run", share=3),
                Column("host", share=2),
                Column("rank", "right"),
                Column("component", share=3),
                Column("time", "right", share=2),
                Column("median of all", "right", share=2),
                Column("times as long", "right", share=2),
                Column("by chance", "right", share=2),
            ),
            rows=rows[:_MOST_SLOW],
            more=rows[_MOST_SLOW:],
        ),
    )


def _straggler(row: Straggler) -> Row:
    return Row(
        (
            elide(row.run_id),
            row.host or "not named",
            "–" if row.rank is None else f"{row.rank:,}",
            row.component,
            _short(row.seconds),
            "not told" if row.median_s is None else _short(row.median_s),
            "–" if row.ratio is None else units.number(row.ratio, 2),
            "–" if row.p_value is None else _chance(row.p_value),
        )
    )


def _short(seconds: float) -> str:
    """Return a time within a step: milliseconds below a second."""
    if seconds < 1:
        return f"{units.number(1000 * seconds, 0 if seconds >= 0.01 else 2)}{units.THIN}ms"
    return f"{units.number(seconds, 2)}{units.THIN}s"


def _chance(p_value: float) -> str:
    return f"<{units.THIN}0.001" if p_value < 0.001 else units.number(p_value, 3)
