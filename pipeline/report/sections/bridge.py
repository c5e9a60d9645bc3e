"""The bridge of page 1: from capacity to progress."""

from __future__ import annotations

from collections import Counter, defaultdict

from pipeline.report import units
from pipeline.report.charts.bridge import Bridge, Part
from pipeline.report.charts.palette import ORDER, TITLES, layer_of, order_of
from pipeline.report.facts import Facts
from pipeline.report.model import Figure
from pipeline.report.words import alternative

_ROWS = 9


def build_bridge(facts: Facts) -> Figure:
    """Return the strip of all capacity and the losses by category, enlarged."""
    total = facts.total
    slow = facts.productive.slow_gpu_s or 0.0
    strip = tuple(
        Part(_title(layer, slow), layer, gpu_s, _share(facts, layer, gpu_s))
        for layer, gpu_s in ((layer, _layer_gpu_s(facts, layer, slow)) for layer in ORDER)
        if layer not in ("model", "planned") or gpu_s > 0
    )
    rows = _rows(facts, slow)
    lost = sum(row.gpu_s for row in rows)
    share = _share(facts, "", total.lost_gpu_s)
    decimals = units.gpu_hours_decimals([lost])
    label = f"{units.gpu_hours(total.lost_gpu_s, decimals)}{units.THIN}GPU-h lost ({share})"
    if total.planned_gpu_s > 0:
        label += f", {units.gpu_hours(total.planned_gpu_s, decimals)} planned"
    if slow > 0:
        label += f", {units.gpu_hours(slow, decimals)} slow"
    title = "Not productive or slow" if slow > 0 else "Not productive"
    bridge = Bridge(strip, rows, Part(title, "", lost, label))
    values = [f"{p.title} {units.gpu_hours(p.gpu_s)} GPU-hours {p.label}".rstrip() for p in (*strip, *rows)]
    return Figure(
        name="bridge",
        caption="Where the time went. Above: all capacity in GPU-hours, shares of training capacity "
        "(capacity less planned time). Below: what was not productive, by category, on its own scale. "
        + _distance(facts),
        alt=alternative("From capacity to progress", values, most=20),
        chart=bridge,
    )


def _title(layer: str, slow: float) -> str:
    """Return what a layer is called in the strip; where time was slow, the rest of it was at pace."""
    return f"{TITLES[layer]}, at pace" if layer == "productive" and slow > 0 else TITLES[layer]


def _layer_gpu_s(facts: Facts, layer: str, slow: float) -> float:
    """Return what a layer took; productive time beyond the reference of its run counts for the model."""
    gpu_s = facts.total.layer_gpu_s(layer)
    return gpu_s - slow if layer == "productive" else gpu_s + slow if layer == "model" else gpu_s


def _distance(facts: Facts) -> str:
    """Return what the bridge leaves out: how far from the peak the silicon is at the reference pace."""
    ran = facts.productive
    if ran.slow_gpu_s is None:
        return "How steadily steps ran is not known."
    if ran.reference_mfu is None:
        return "Slow: productive time beyond the pace of an undisturbed step of the same run."
    away = units.percent(1 - ran.reference_mfu)
    return (
        "Slow: productive time beyond the pace of an undisturbed step of the same run; at that pace, "
        f"{units.percent(ran.reference_mfu)} of peak FLOP/s are used; the {away} beyond are not drawn."
    )


def _rows(facts: Facts, slow: float) -> tuple[Part, ...]:
    """Return categories in the order of layers, then of size; the smallest of a layer are put together."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    if slow > 0:
        sums["model", "Slow steps"] = slow
    for loss in facts.losses:
        if loss.layer != "productive":
            sums[layer_of(loss.layer), loss.title] += loss.gpu_s
    ranked = sorted(sums, key=lambda key: (-sums[key], key))
    shown, small = ranked[:_ROWS], ranked[_ROWS:]
    counts = Counter(layer for layer, _ in small)
    rows = [(layer, title, sums[layer, title]) for layer, title in shown]
    # Of the small ones, one that is alone in its layer is called by its name; the others go together.
    rows += [(layer, title, sums[layer, title]) for layer, title in small if counts[layer] == 1]
    rows.sort(key=lambda row: (order_of(row[0]), -row[2], row[1]))
    for layer in (layer for layer, count in counts.items() if count > 1):
        title = f"{TITLES[layer]}, {counts[layer]} smaller"
        rows.append((layer, title, sum(sums[key] for key in small if key[0] == layer)))
    if not any(layer == "unknown" for layer, _, _ in rows):
        rows.append(("unknown", TITLES["unknown"], 0.0))
    rows.sort(key=lambda row: order_of(row[0]))
    return tuple(Part(title, layer, gpu_s, _share(facts, layer, gpu_s)) for layer, title, gpu_s in rows)


def _share(facts: Facts, layer: str, gpu_s: float) -> str:
    """Return the share of training capacity in words; planned time has none."""
    if layer == "planned":
        return "planned"
    whole = facts.total.training_gpu_s
    return units.percent(gpu_s / whole if whole > 0 else None)
