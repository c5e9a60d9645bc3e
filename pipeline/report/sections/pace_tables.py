"""Tables of page 6 on pace: slow stretches, sizes of one model, and stragglers."""

from __future__ import annotations

from pipeline.report import units
from pipeline.report.efficiency_rows import Scaling, SlowStretch, Straggler
from pipeline.report.facts import Facts
from pipeline.report.model import Beside, Column, Row, Table, Text
from pipeline.report.sections.device_tables import gpu_of
from pipeline.report.sections.room import more_of, told_columns
from pipeline.report.text import elide


def build_slow(facts: Facts, most: int) -> tuple[Table | Text, ...]:
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
    rows = tuple(_slow(stretch, decimals) for stretch in ran.slow_stretches)
    after = f"Besides, {single}" if single else ""
    return (
        Table(
            name="slow",
            caption="Slow stretches, and changes of level that last, against the undisturbed pace."
            + more_of(len(rows) - most),
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
            rows=rows[:most],
            more=rows[most:],
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
            stretch.kind,
            "–" if stretch.slowdown is None else units.number(stretch.slowdown, 2),
            "–" if stretch.cost_gpu_s is None else units.gpu_hours(stretch.cost_gpu_s, decimals),
            "–" if stretch.host is None else gpu_of(stretch.host, stretch.gpu),
        )
    )


def build_sizes_and_stragglers(facts: Facts, most: int) -> tuple[Table | Beside, ...]:
    """Return both tables, side by side where both have rows; nothing where neither has."""
    sizes, stragglers = _scaling(facts, most), _stragglers(facts, most)
    if len(sizes) == 1 == len(stragglers) and len(sizes[0].columns) < 6:
        return (Beside(sizes[0], stragglers[0], 40),)
    return (*sizes, *stragglers)


def _scaling(facts: Facts, most: int) -> tuple[Table, ...]:
    """Return throughput against size of runs of one model; nothing where no model has two sizes."""
    rows = facts.productive.scaling
    sizes: dict[str, set[int]] = {}
    for row in rows:
        sizes.setdefault(row.family, set()).add(row.gpus)
    shown = [row for row in rows if len(sizes[row.family]) > 1]
    if not shown:
        return ()
    families = {row.family for row in shown}
    one = (
        f" of one model: {elide(shown[0].family, 90)}"
        if len(families) == 1
        else " of the same model and length"
    )
    built = tuple(Row(((elide(row.family, 90),) if len(families) > 1 else ()) + _size(row)) for row in shown)
    columns = (
        Column("model", share=4),
        Column("run"),
        Column("GPUs", "right"),
        Column("tokens/s a GPU", "right", share=3),
        Column("efficiency", "right", share=3),
        Column("exposed comm.", "right", share=3),
    )
    return (
        Table(
            name="scaling",
            caption=f"Throughput against the smallest run{one}." + more_of(len(built) - most, "runs"),
            columns=columns if len(families) > 1 else columns[1:],
            rows=built[:most],
            more=built[most:],
        ),
    )


def _size(row: Scaling) -> tuple[str, ...]:
    return (
        elide(row.run_id),
        f"{row.gpus:,}",
        "–" if row.tokens_per_s_per_gpu is None else units.number(row.tokens_per_s_per_gpu, 0),
        units.percent(row.efficiency),
        units.percent(row.exposed_comm_share),
    )


def _stragglers(facts: Facts, most: int) -> tuple[Table, ...]:
    """Return hosts and ranks that stand out; nothing where none does."""
    rows = tuple(_straggler(row) for row in facts.productive.stragglers)
    if not rows:
        return ()
    table = Table(
        name="stragglers",
        caption="Stragglers: ranks and hosts that take longer than the others, and how probable that is by "
        "chance." + more_of(len(rows) - most),
        columns=(
            Column("run"),
            Column("host"),
            Column("rank", "right"),
            Column("component", share=4),
            Column("time", "right"),
            Column("median of all", "right", share=3),
            Column("times as long", "right", share=3),
            Column("by chance", "right", share=3),
        ),
        rows=rows[:most],
        more=rows[most:],
    )
    return (told_columns(table),)


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
