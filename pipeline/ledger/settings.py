"""The configuration as tables of schema ``config``, so that SQL never needs parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from pipeline.config import Config
from pipeline.errors import GoodputError
from pipeline.globs import glob_pattern, name_pattern
from pipeline.ledger.events import quoted
from pipeline.windows import WindowOptions

_TEXT, _INT, _REAL, _DATE, _TS = "varchar", "bigint", "double", "date", "timestamptz"

_Columns = Sequence[tuple[str, str]]

#: Table to (what one row is, its columns). Every table always exists, possibly without rows.
TABLES: dict[str, tuple[str, _Columns]] = {
    "runs": (
        "one row per run that the configuration names",
        (
            ("run_id", _TEXT),
            ("gpus", _INT),
            ("gpu_model", _TEXT),
            ("peak_flops", _REAL),
            ("parameters", _REAL),
            ("flops_per_token", _REAL),
            ("start_ts", _TS),
            ("end_ts", _TS),
            ("restart", _TEXT),
        ),
    ),
    "fleets": (
        "one row per run with a mixed fleet and model of its accelerators",
        (("run_id", _TEXT), ("gpu_model", _TEXT), ("count", _INT)),
    ),
    "run_logs": (
        "one row per glob of a run's sources; pattern is the glob for regexp_full_match",
        (("run_id", _TEXT), ("glob", _TEXT), ("pattern", _TEXT)),
    ),
    "run_jobs": (
        "one row per job name or id of a run; pattern is the glob for regexp_full_match",
        (("run_id", _TEXT), ("job", _TEXT), ("pattern", _TEXT)),
    ),
    "zones": (
        "one row per rule for the zone of stamps that carry none; the lowest ord that matches holds",
        (("ord", _INT), ("glob", _TEXT), ("pattern", _TEXT), ("zone", _TEXT)),
    ),
    "sources": (
        "one row per rule that overrules what was recognised; the lowest ord that matches holds",
        (
            ("ord", _INT),
            ("glob", _TEXT),
            ("pattern", _TEXT),
            ("format", _TEXT),
            ("host", _TEXT),
            ("cluster", _TEXT),
        ),
    ),
    "policy": ("one row per stated policy", (("key", _TEXT), ("value", _TEXT))),
    "maintenance": (
        "one row per declared maintenance",
        (("start_ts", _TS), ("end_ts", _TS), ("declared_ts", _TS), ("declared_until_ts", _TS)),
    ),
    "owners": ("one row per layer or cause domain with a named team", (("key", _TEXT), ("team", _TEXT))),
    "price": ("one row when a price is stated", (("gpu_hour", _REAL), ("currency", _TEXT))),
    "targets": ("one row per figure with a target", (("figure", _TEXT), ("value", _REAL))),
    "report": (
        "one row: the length of a window, and the period asked for (null: what the records cover)",
        (("window_us", _INT), ("from_ts", _TS), ("to_ts", _TS), ("week", _TEXT)),
    ),
    "store": (
        "one row: the name of the log folder, which names a run whose files lie in no folder of their own",
        (("logs_name", _TEXT),),
    ),
    "verdicts": (
        "one row per person's verdict on an incident",
        (
            ("incident_id", _TEXT),
            ("cause", _TEXT),
            ("owner", _TEXT),
            ("reason", _TEXT),
            ("date", _DATE),
            ("role", _TEXT),
        ),
    ),
}


#: Name of a run whose files lie in no folder of their own, where the store does not tell the folder's name.
UNNAMED = "run"


def load_settings(
    con: duckdb.DuckDBPyConnection, store: Path, config: Config, window: WindowOptions
) -> list[str]:
    """Create the tables of schema ``config``; ``store`` tells the name of the log folder.

    Returns:
        the qualified names of the tables, sorted.
    """
    con.execute("create schema if not exists config")
    rows = {**_rows(config, window), "store": [[read_logs_name(store)]]}
    for name, (grain, columns) in TABLES.items():
        typed = ", ".join(f'"{column}" {kind}' for column, kind in columns)
        con.execute(f"create table config.{name} ({typed})")
        con.execute(f"comment on table config.{name} is {quoted(grain)}")
        if rows[name]:
            marks = ", ".join("?" for _ in columns)
            con.executemany(f"insert into config.{name} values ({marks})", rows[name])
    return sorted(f"config.{name}" for name in TABLES)


def _rows(config: Config, window: WindowOptions) -> dict[str, list[list[Any]]]:
    start, end = window.bounds()
    price = config.price
    return {
        "runs": [
            [
                r.run_id,
                r.gpus,
                r.gpu_model,
                r.peak_flops,
                r.parameters,
                r.flops_per_token,
                r.start,
                r.end,
                r.restart,
            ]
            for r in config.runs
        ],
        "fleets": [[r.run_id, model, count] for r in config.runs for model, count in r.fleet],
        "run_logs": [[r.run_id, glob, glob_pattern(glob)] for r in config.runs for glob in r.logs],
        "run_jobs": [[r.run_id, job, name_pattern(job)] for r in config.runs for job in r.jobs],
        "zones": [[n, z.glob, z.pattern, z.zone] for n, z in enumerate(config.zones)],
        "sources": [
            [n, s.glob, s.pattern, s.format, s.host, s.cluster] for n, s in enumerate(config.sources)
        ],
        # Policy values are words or booleans; SQL compares text.
        "policy": [[key, _word(value)] for key, value in sorted(config.policy.items())],
        "maintenance": [[m.start, m.end, *(m.declared or (None, None))] for m in config.maintenance],
        "owners": _pairs(config.owners.items()),
        "price": [[price.gpu_hour, price.currency]] if price is not None else [],
        "targets": _pairs(config.targets.items()),
        "report": [[round(window.window.total_seconds() * 1_000_000), start, end, window.week]],
        "verdicts": [
            [v.incident_id, v.cause, v.owner or None, v.reason or None, v.date, v.role or None]
            for v in config.verdicts
        ],
    }


def _pairs(items: Iterable[tuple[str, Any]]) -> list[list[Any]]:
    return [[key, value] for key, value in sorted(items)]


def _word(value: str | bool) -> str:
    return value if isinstance(value, str) else str(value).lower()


def read_logs_name(store: Path) -> str:
    """Return the name of the log folder that the store's manifest keeps, else `UNNAMED`.

    Raises:
        GoodputError: the manifest is not the one that ingest writes.
    """
    path = store / "manifest.json"
    if not path.is_file():
        return UNNAMED
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise GoodputError(
            "the manifest cannot be read", where=str(path), why=str(error), now="ingest into an empty folder"
        ) from error
    name = manifest.get("logs_name") if isinstance(manifest, dict) else None
    return name if isinstance(name, str) and name else UNNAMED
