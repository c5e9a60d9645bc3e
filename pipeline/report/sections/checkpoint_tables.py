"""Tables of page 5: saves and their interval by run, and the time to train that failures leave."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.facts import Facts
from pipeline.report.model import Column, Row, Table
from pipeline.report.saving_rows import CheckpointCost, Checkpoints, ExpectedEttr
from pipeline.report.text import elide
from pipeline.report.words import clause

_MOST_ROWS = 20


def build_savings(facts: Facts, runs: tuple[Checkpoints, ...], costs: dict[str, CheckpointCost]) -> Table:
    """Return one row per run; of many, those with most at stake."""
    decimals = units.gpu_hours_decimals(
        [sum(run.stalled_gpu_s for run in runs), sum(run.lost_gpu_s for run in runs)]
    )
    gains = [cost.gain_gpu_s_per_week or 0.0 for cost in costs.values()]
    gain_decimals = units.gpu_hours_decimals([sum(gains)])
    ranked = sorted(runs, key=lambda run: (-(run.stalled_gpu_s + run.lost_gpu_s), run.run_id))
    kept = {run.run_id for run in ranked[:_MOST_ROWS]}

    def row(run: Checkpoints) -> Row:
        cost = costs.get(run.run_id)
        reason = run.reason or (cost.reason if cost else None)
        return Row(
            (
                elide(run.run_id),
                f"{run.saves:,}",
                f"{run.failed_saves + run.uncommitted_saves:,}",
                _interval(run.interval_s, run.interval_steps),
                _pair(run.stall_median_s, run.stall_p99_s),
                units.gpu_hours(run.stalled_gpu_s, decimals),
                f"{run.restores:,}",
                units.gpu_hours(run.lost_gpu_s, decimals),
                _suggestion(cost),
                "–" if cost is None or cost.gain_gpu_s_per_week is None
                else units.gpu_hours(cost.gain_gpu_s_per_week, gain_decimals),
            ),
            detail=f"No suggestion: {clause(reason)}." if reason else _basis(cost),
        )  # fmt: skip

    total = Row(
        (
            "all",
            f"{sum(run.saves for run in runs):,}",
            f"{sum(run.failed_saves + run.uncommitted_saves for run in runs):,}",
            "",
            "",
            units.gpu_hours(sum(run.stalled_gpu_s for run in runs), decimals),
            f"{sum(run.restores for run in runs):,}",
            units.gpu_hours(sum(run.lost_gpu_s for run in runs), decimals),
            "",
            units.gpu_hours(sum(gains), gain_decimals),
        ),
        weight="total",
    )
    hidden = len(runs) - len(kept)
    return Table(
        name="checkpoints",
        caption="Saves, what they cost, and the interval that would cost least by the model."
        + (f" The {_MOST_ROWS} runs with most at stake; {hidden:,} more in review.html." if hidden else ""),
        columns=(
            Column("run"),
            Column("saves", "right"),
            Column("failed", "right"),
            Column("interval (steps)", "right", share=5),
            Column("stall median / p99", "right", share=5),
            Column("stalled, GPU-h", "right", share=3),
            Column("restores", "right"),
            Column("lost work, GPU-h", "right", share=3),
            Column("suggested (steps)", "right", share=5),
            Column("gain, GPU-h a week", "right", share=4),
        ),
        rows=(*(row(run) for run in runs if run.run_id in kept), total),
        more=tuple(row(run) for run in runs if run.run_id not in kept),
    )


def _interval(seconds: float | None, steps: float | None) -> str:
    if seconds is None:
        return "–"
    return units.duration(seconds) + ("" if steps is None else f" ({units.number(steps, 0)})")


def _pair(median_s: float | None, p99_s: float | None) -> str:
    if median_s is None or p99_s is None:
        return "–"
    return f"{units.duration(median_s)} / {units.duration(p99_s)}"


def _suggestion(cost: CheckpointCost | None) -> str:
    if cost is None or cost.suggested_s is None:
        return "–"
    return "as it is" if cost.is_flat else _interval(cost.suggested_s, cost.suggested_steps)


def _basis(cost: CheckpointCost | None) -> str:
    """Return what a suggestion rests on: few failures say little."""
    if cost is None or cost.mttf_s is None or cost.young_s is None or cost.daly_s is None:
        return ""
    text = (
        f"From {units.counted(cost.failures, 'failure')}, one in {units.duration(cost.mttf_s)} of the loop, "
        f"and a mean stall of {units.duration(cost.stall_s or 0.0)}: Young {units.duration(cost.young_s)}, "
        f"Daly {units.duration(cost.daly_s)}"
    )
    if cost.flat_from_s is not None and cost.flat_to_s is not None:
        text += (
            f"; within 5{units.THIN}% of the least from {units.duration(cost.flat_from_s)} "
            f"to {units.duration(cost.flat_to_s)}"
        )
    return f"{text}."


def build_expected(facts: Facts) -> tuple[Table, ...]:
    """Return expected beside measured effective training time; nothing where no run has an interval."""
    own = [row for row in facts.expected_ettr if row.is_own_size and row.interval_s is not None]
    if not own:
        return ()
    ranked = sorted(own, key=lambda row: (-row.gpus, row.run_id))
    kept = {row.run_id for row in ranked[:_MOST_ROWS]}
    larger = _larger(facts, max(own, key=lambda row: (row.mttf_s is not None, row.gpus)))
    rows = [_expected_row(row) for row in own if row.run_id in kept]
    return (
        Table(
            name="expected",
            caption="Effective training time ratio: expected from failures, restarts and saves, with the "
            "cost of saves or of the queue below the line (Kokolis et al. 2025), and as measured. The model "
            "knows neither planned ends nor the first start-up. Larger sizes: the same rate per node.",
            columns=(
                Column("run"),
                Column("GPUs", "right"),
                Column("time to failure", "right", share=4),
                Column("restart", "right", share=4),
                Column("no allocation", "right", share=4),
                Column("expected, saves", "right", share=4),
                Column("expected, queue", "right", share=4),
                Column("measured", "right", share=3),
                Column("at the best interval", "right", share=5),
            ),
            rows=(*rows, *larger),
            more=tuple(_expected_row(row) for row in own if row.run_id not in kept),
        ),
    )


def _larger(facts: Facts, run: ExpectedEttr) -> tuple[Row, ...]:
    """Return up to three larger sizes of the largest run that failed, where anything is expected of them."""
    sizes = [r for r in facts.expected_ettr if r.run_id == run.run_id and not r.is_own_size]
    return tuple(_expected_row(row) for row in sizes[:3] if row.expected_at_best is not None)


def _expected_row(row: ExpectedEttr) -> Row:
    def length(seconds: float | None) -> str:
        return "–" if seconds is None else units.duration(seconds)

    best = units.percent(row.expected_at_best)
    if row.expected_at_best is not None and row.best_interval_s is not None:
        best += f" ({units.duration(row.best_interval_s)})"
    return Row(
        (
            elide(row.run_id) + ("" if row.is_own_size else ", projected"),
            f"{row.gpus:,}",
            length(row.mttf_s),
            length(row.restart_s if row.mttf_s is not None else None),
            length(row.wait_s if row.mttf_s is not None else None),
            units.percent(row.expected_ettr_writes),
            units.percent(row.expected_ettr_queue),
            units.percent(row.measured_ettr),
            best,
        )
    )
