"""Simulated stories for tests: written, read back, and compared with their truth."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import duckdb
import polars as pl

from pipeline.cli import run as command
from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.invent import invent
from pipeline.simulate.judge import Judgement, judge
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import SECOND, Maintenance, Story
from pipeline.simulate.verdict import sentences
from pipeline.simulate.write import write_story
from pipeline.simulate.written import read_truth

#: Ends that need no particular trainer.
ENDS = (
    *("gpu_off_bus_hang", "double_bit_ecc", "collective_hang"),
    *("time_limit", "operator_stop", "preempted"),
)

#: What remains to be said of a cause where a log of a kernel is missing, and of which domains it may be said.
VAGUER = {
    "gpu_other": {"gpu", "gpu_memory", "nvlink_nvswitch", "pcie_host"},
    "network_other": {"network_fabric"},
    "node_failure": {"node_os", "pcie_host", "power_thermal"},
}
_CAUSES = Path(__file__).resolve().parents[1] / "sql" / "seeds" / "causes.csv"
DOMAINS = {row["code"]: row["domain"] for row in pl.read_csv(_CAUSES).rows(named=True)}

#: Trainers that are held to the truth through all blemishes at once; the others in `tests.long_run`.
THROUGH_ALL = (
    "goodput_records",
    "megatron",
    "megatron_core_0_15",
    "megatron_core_0_5",
    "mlperf",
    "torchtitan",
)


def is_vaguer(told: str, true: str) -> bool:
    """Return whether a cause is the true one, or says less and nothing else."""
    return told == true or DOMAINS[told] == "unknown" or DOMAINS[true] in VAGUER.get(told, ())


def classify(folder: Path, *options: str) -> str:
    """Read the logs of a folder into its store; return what was said where a check failed, else nothing."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        codes = [
            command(["ingest", str(folder / "logs"), "--store", str(folder / "store")]),
            command(["classify", "--store", str(folder / "store"), *options]),
        ]
    return "" if codes == [0, 0] else f"exit codes {codes}: {told.getvalue()}"


@contextlib.contextmanager
def ledger(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the ledger of a folder."""
    with duckdb.connect(str(folder / "store" / "goodput.duckdb"), read_only=True) as con:
        yield con


def judged(story: Story, out: Path, style: Style, blemishes: Blemishes = CLEAN) -> tuple[str, Judgement]:
    """Write a story, read its logs, and return what a failed check said and how the ledger compares."""
    shutil.rmtree(out, ignore_errors=True)
    write_story(story, out, style, blemishes)
    said = classify(out)
    with ledger(out) as con:
        return said, judge(con, read_truth(out))


def violations(story: Story, out: Path, style: Style, blemishes: Blemishes = CLEAN) -> list[str]:
    """Write a story, read its logs, and return sentences about what differs from its truth."""
    said, found = judged(story, out, style, blemishes)
    return ([said] if said else []) + ([] if found.agrees else list(sentences(found, 5)))


def secured(folder: Path) -> dict[str, float]:
    """Return by run the GPU-seconds that were productive and are under a durable save."""
    query = "select run_id, sum(productive_gpu_s - provisional_gpu_s) from marts.goodput group by run_id"
    with ledger(folder) as con:
        return {run: float(gpu_s or 0.0) for run, gpu_s in con.execute(query).fetchall()}


def random_plan(rng: Random, trainer: str = "megatron", ends: tuple[str, ...] = ENDS) -> Plan:
    """Return a small run of which anything may be true."""
    return replace(
        Plan(),
        trainer=trainer,
        ends=dict.fromkeys(ends, 1.0),
        gpus=rng.choice([16, 64]),
        target=rng.choice([120, 400]),
        steps_between=rng.choice([(20, 60), (40, 160)]),
        max_attempts=rng.randint(1, 7),
        save_async=rng.random() < 0.6,
        eval_every=rng.choice([0, 50, 70]),
        loop_gap=rng.choice([0.0, 0.0, 0.02]),
        data_stall=rng.choice([0.0, 0.0, 0.02]),
        failed_start=rng.choice([0.0, 0.0, 0.2]),
        roll_back=rng.choice([0.0, 0.2]),
        requeue=rng.choice([0.0, 0.5]),
        restart_inside=rng.choice([0.0, 0.5]),
        narrow=rng.choice([0.0, 0.3]),
        spares=rng.choice([0, 0, 1]),
        lemon=rng.choice([0.0, 0.0, 0.5]),
        goes_on=rng.random() < 0.2,
        slow=rng.choice([0.0, 0.0, 0.01]),
        shrink=rng.choice([0.0, 0.5]),
    )


def mixed_story(seed: int, **changes: object) -> Story:
    """Return a story with a bit of everything."""
    plan = replace(
        Plan(),
        target=260,
        ends=dict.fromkeys(ENDS, 1.0),
        steps_between=(40, 90),
        max_attempts=5,
        requeue=0.4,
        restart_inside=0.4,
        eval_every=70,
    )
    return invent(seed, (replace(plan, **changes),))  # type: ignore[arg-type]


def random_maintenance(rng: Random) -> tuple[Maintenance, ...]:
    """Return no declared maintenance, or one that comes while runs may go on."""
    if rng.random() < 0.7:
        return ()
    monday = Plan().start_us
    begin = monday + rng.randrange(3000, 9000) * SECOND
    return (Maintenance(begin, begin + 3600 * SECOND, monday - 86_400 * SECOND),)
