"""How long the ledger of one run of a million step lines takes, and how much memory.

The event tables are written directly, so that only classification is measured: twenty attempts of five-second
steps, a save every 500 steps, an unlogged pause every 2,000, and at the end of each attempt but the last a
watchdog that had waited ten minutes. Seeded: every run of this measures the same input.

    python bench/ledger.py [--steps 1000000] [--slowest 10]
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest.habits import build_formats
from pipeline.ingest.values import POLARS_TYPES
from pipeline.ledger import build as runner
from pipeline.ledger import unmoved
from pipeline.ledger.create import create_relation
from pipeline.ledger.relations import order_relations, read_relations
from pipeline.tables import EVENT_TABLES
from pipeline.windows import WindowOptions

SECOND = 1_000_000
START_US = 1_772_323_200 * SECOND  # 2026-03-01T00:00:00Z
STEP_US = 5 * SECOND
ATTEMPTS = 20
GPUS = 1024
SAVE_EVERY, PAUSE_EVERY = 500, 2000
SAVE_US, BACKGROUND_US, PAUSE_US = 4 * SECOND, 60 * SECOND, 30 * SECOND
WAITED_S = 600.0

#: Rows of a group, as many as a chunk of a log makes.
ROW_GROUP = 131_072

#: Lines of every console; beyond the last that is used.
LINES = 10_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the events, classify them, and print seconds and peak memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000, help="step lines")
    parser.add_argument("--slowest", type=int, default=0, help="relations to list with their seconds")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder)
        write_events(store, options.steps)
        begin, begin_cpu = time.perf_counter(), time.process_time()
        summary = runner.classify(store, EMPTY_CONFIG, WindowOptions())
        seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"ledger: {options.steps:,} step lines, {summary.relations} relations: {seconds:.1f} s "
            f"({cpu:.1f} s of processor), peak {peak_mb:,.0f} MB, {len(summary.violations)} checks failed"
        )
        for violation in summary.violations:
            print(f"  {violation.check}: {violation.rows:,} rows, {violation.example}")
        if options.slowest:
            print_slowest(store, options.slowest)


def print_slowest(store: Path, count: int) -> None:
    """Build once more, relation by relation, and print where the time goes."""
    times: dict[str, float] = {}
    with runner.connect(store / "timed.duckdb") as con:
        given = [
            *runner.load_given(con, store, EMPTY_CONFIG, WindowOptions(), runner.sql_folder()),
            unmoved.TABLE,
        ]
        unmoved.create_unmoved(con)
        relations = order_relations(read_relations(runner.sql_folder()), given)
        runner.ready_to_build(con)
        for relation in relations:
            begin = time.perf_counter()
            create_relation(con, relation, {})
            times[relation.full_name] = time.perf_counter() - begin
        checks = read_relations(runner.sql_folder(), ("checks",))
        for check in checks:
            begin = time.perf_counter()
            runner.run_checks(con, [check])
            con.execute("drop table checks.results")
            times[check.full_name] = time.perf_counter() - begin
    for name, seconds in sorted(times.items(), key=lambda item: -item[1])[:count]:
        print(f"  {seconds:6.2f} s  {name}")


def write_events(store: Path, steps: int) -> None:
    """Write every event table of a run with ``steps`` step lines over all attempts."""
    rng = np.random.default_rng(7)
    tables: dict[str, list[pa.Table]] = {name: [] for name in EVENT_TABLES}
    now_us, restored = START_US, 0
    each = steps // ATTEMPTS
    for attempt in range(ATTEMPTS):
        last = attempt == ATTEMPTS - 1
        source = f"src{attempt:02d}"
        begin_us = now_us
        loop_us = begin_us + 300 * SECOND
        numbers = np.arange(restored + 1, restored + each + 1)
        ends = _step_ends(loop_us, numbers, rng)
        saved = numbers[(numbers % SAVE_EVERY == 0) & (numbers < numbers[-1])]
        end_us = int(ends[-1]) + (600 if last else 660) * SECOND
        _add(tables, "steps", _steps(source, numbers, ends))
        _add(tables, "phases", _phases(source, begin_us, loop_us, int(ends[-1]), finished=last))
        _add(tables, "checkpoints", _saves(source, saved, ends, restored))
        if restored:
            _add(tables, "checkpoints", _load(source, restored, loop_us))
        if not last:
            _add(tables, "signals", _watchdog(source, each * 3, int(ends[-1]) + 603 * SECOND))
        _add(tables, "allocations", _allocation(attempt, begin_us - 60 * SECOND, end_us, last))
        _add(tables, "sources", _source(source, f"heron-70b/job-{880100 + attempt}.out", attempt, LINES))
        restored = int(saved[-1]) if len(saved) else restored
        now_us = end_us + 600 * SECOND
    _add(tables, "sources", _source("sacct", "sacct.txt", None, ATTEMPTS))
    tables["formats"] = [build_formats().to_arrow()]
    for name, parts in tables.items():
        folder = store / "events" / name
        folder.mkdir(parents=True)
        table = pa.concat_tables(parts) if parts else _schema(name).empty_table()
        pq.write_table(table, folder / "part-0.parquet", row_group_size=ROW_GROUP)


def _step_ends(loop_us: int, numbers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """End of each step: its own time, and the stalls that lie before it."""
    lengths = STEP_US + rng.integers(-20_000, 20_000, len(numbers))
    after = numbers - 1
    lengths += np.where(after % SAVE_EVERY == 0, SAVE_US, 0) * (after >= numbers[0])
    lengths += np.where(after % PAUSE_EVERY == 0, PAUSE_US, 0) * (after >= numbers[0])
    lengths[0] += 40 * SECOND
    return loop_us + np.cumsum(lengths)


def _add(tables: dict[str, list[pa.Table]], name: str, columns: dict[str, object]) -> None:
    """Append rows to a table; scalars are repeated, columns that are not named are null."""
    schema = _schema(name)
    length = max((len(v) for v in columns.values() if isinstance(v, list | np.ndarray)), default=1)
    arrays = []
    for field in schema:
        value = columns.get(field.name)
        values = value if isinstance(value, list | np.ndarray) else [value] * length
        arrays.append(
            pa.array(values).cast(field.type) if value is not None else pa.nulls(length, field.type)
        )
    tables[name].append(pa.table(arrays, schema=schema))


def _schema(name: str) -> pa.Schema:
    """Arrow schema of an event table."""
    columns = {column.name: POLARS_TYPES[column.type] for column in EVENT_TABLES[name].columns}
    return pl.DataFrame(schema=columns).to_arrow().schema


def _line(source: str, lines: object, times: object, pattern: str) -> dict[str, object]:
    return {
        "source_id": source,
        "line": lines,
        "segment": 0,
        "format": "megatron",
        "pattern": pattern,
        "ts": times,
        "ts_quality": "logged",
    }


def _steps(source: str, numbers: np.ndarray, ends: np.ndarray) -> dict[str, object]:
    rate = np.full(len(numbers), 400.0)
    return {
        **_line(source, np.arange(len(numbers)) * 3 + 100, ends, "step"),
        "step_last": numbers,
        "steps": 1,
        "step_time_s": np.full(len(numbers), STEP_US / SECOND),
        "ts_edge": "end",
        "consumed_samples": numbers * 2048,
        "batch_size": 2048,
        "tflops_per_gpu": rate,
        "loss": 2.0 + 1.0 / numbers,
        "world_size": GPUS,
    }


def _phases(source: str, begin_us: int, loop_us: int, end_us: int, *, finished: bool) -> dict[str, object]:
    names, edges = ["process_start", "init", "loop"], ["point", "end", "begin"]
    times, details = [begin_us, begin_us + 120 * SECOND, loop_us], ["", "", ""]
    lines = [1, 10, 20]
    if finished:
        names, edges = [*names, "loop", "exit"], [*edges, "end", "point"]
        times, details = [*times, end_us + SECOND, end_us + 60 * SECOND], [*details, "", "completed"]
        lines = [*lines, LINES - 1, LINES]
    return {**_line(source, lines, times, "phase"), "phase": names, "edge": edges, "detail": details}


def _saves(source: str, saved: np.ndarray, ends: np.ndarray, restored: int) -> dict[str, object]:
    at = ends[saved - restored - 1]
    lines = (saved - restored - 1) * 3 + 101
    return {
        **_line(
            source,
            np.concatenate([lines, lines, lines + 1]),
            np.concatenate([at, at + SAVE_US, at + BACKGROUND_US]),
            "save",
        ),
        "op": "save",
        "edge": ["begin"] * len(saved) + ["blocked"] * len(saved) + ["end"] * len(saved),
        "step": np.concatenate([saved, saved, saved]),
    }


def _load(source: str, step: int, loop_us: int) -> dict[str, object]:
    times = [loop_us - 60 * SECOND, loop_us - 20 * SECOND]
    return {**_line(source, [12, 13], times, "load"), "op": "load", "edge": ["begin", "end"], "step": step}


def _watchdog(source: str, line: int, at_us: int) -> dict[str, object]:
    return {
        **_line(source, [line + 200], [at_us], "signal"),
        "signal_id": "pgnccl_watchdog_timeout",
        "waited_s": WAITED_S,
        "text": "Watchdog caught collective operation timeout",
        "repeats": 1,
    }


def _allocation(attempt: int, start_us: int, end_us: int, last: bool) -> dict[str, object]:
    return {
        **_line("sacct", [attempt + 2], [start_us], "job"),
        "scheduler": "slurm",
        "cluster": "heron",
        "job_id": str(880100 + attempt),
        "name": "heron-70b",
        "user": "trainer",
        "submit_ts": [start_us - 300 * SECOND],
        "eligible_ts": [start_us - 300 * SECOND],
        "start_ts": [start_us],
        "end_ts": [end_us],
        "elapsed_s": (end_us - start_us) / SECOND,
        "state": "COMPLETED" if last else "FAILED",
        "gpus": GPUS,
        "n_nodes": GPUS // 8,
    }


def _source(source: str, path: str, attempt: int | None, lines: int) -> dict[str, object]:
    return {
        "source_id": source,
        "path": path,
        "format": "megatron" if attempt is not None else "slurm_sacct",
        "role": "trainer" if attempt is not None else "scheduler",
        "job_id": str(880100 + attempt) if attempt is not None else None,
        "lines": lines,
        "parsed_lines": lines,
        "unknown_lines": 0,
        "bad_lines": 0,
        "zone": "UTC (assumed)",
    }


if __name__ == "__main__":
    main()
