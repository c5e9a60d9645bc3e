"""Reads ``goodput.toml``, ``verdicts.csv`` and ``actions.csv`` into a Config, strictly."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from zoneinfo import available_timezones

from pipeline import config_values as c
from pipeline.checked_toml import Section, read_toml
from pipeline.errors import GoodputError, nearest
from pipeline.project import read_seed
from pipeline.windows import parse_duration, parse_time

#: Figures that may have a target: shares of 1.
TARGETS = ("training_time_goodput", "composite", "productive_share", "g_infra", "g_framework", "g_model")

TOML = "goodput.toml"

FIRST_QUEUE_WAIT = "first_queue_wait"

_VERDICT_COLUMNS = ("incident_id", "cause", "owner", "reason", "date", "role")
_ACTION_COLUMNS = ("id", "action", "owner", "opened", "state")


def build_config(texts: Mapping[Path, str], text_hash: str) -> c.Config:
    """Return the configuration that the texts of the files state."""
    by_kind = {path.name if path.suffix == ".csv" else TOML: (path, t) for path, t in texts.items()}
    path, text = by_kind.get(TOML, (Path(TOML), ""))
    root = read_toml(path, text)
    zones = root.take_section("zones")
    result = c.Config(
        zones=_read_zones(zones),
        sources=tuple(_read_source(glob, part) for glob, part in _parts(root.take_section("sources"))),
        runs=tuple(_read_run(name, part) for name, part in _parts(root.take_section("runs"))),
        policy=_read_policy(root.take_section("policy")),
        classes=tuple(_read_classes(root.take_section("classes"))),
        owners=_read_owners(root.take_section("owners")),
        maintenance=tuple(_read_maintenance(part) for part in root.take_sections("maintenance")),
        price=_read_price(root.take_section("price")),
        targets=_read_targets(root.take_section("targets")),
        privacy=_read_privacy(root.take_section("privacy")),
        report=_read_report(root.take_section("report")),
        verdicts=tuple(_read_verdicts(*by_kind["verdicts.csv"])) if "verdicts.csv" in by_kind else (),
        actions=tuple(_read_actions(*by_kind["actions.csv"])) if "actions.csv" in by_kind else (),
        texts={path.name if path.suffix == ".csv" else TOML: text for path, text in texts.items()},
        text_hash=text_hash,
    )
    root.close()
    return result


def _parts(section: Section) -> Iterator[tuple[str, Section]]:
    """Yield the tables below a section whose keys are names of the user's own."""
    for name in section.data:
        yield name, section.take_section(name)


def _read_zones(section: Section) -> tuple[c.ZoneRule, ...]:
    """Return the rules in the order of the file, the default last."""
    rules = {glob: section.take_text(glob) or "" for glob in section.data}
    known = sorted(available_timezones()) if rules else []
    for glob, zone in rules.items():
        if zone not in known:
            hint = nearest(zone, known)
            raise section.error(
                glob, f"`{zone}` is not a time zone", "expected a name such as `Europe/Berlin`", hint
            )
    default = rules.pop("default", None)
    ordered = tuple(c.ZoneRule(glob, zone) for glob, zone in rules.items())
    return ordered if default is None else (*ordered, c.ZoneRule("**", default))


def _read_source(glob: str, part: Section) -> c.SourceRule:
    rule = c.SourceRule(glob, part.take_text("format"), part.take_text("host"), part.take_text("cluster"))
    part.close()
    return rule


def _read_run(name: str, part: Section) -> c.RunConfig:
    fleet = _read_fleet(part) if isinstance(part.data.get("gpu_model"), list) else ()
    run = c.RunConfig(
        run_id=name,
        logs=part.take_texts("logs"),
        jobs=part.take_texts("jobs"),
        gpus=part.take_integer("gpus") or sum(count for _, count in fleet) or None,
        gpu_model=" + ".join(model for model, _ in fleet) if fleet else part.take_text("gpu_model"),
        fleet=fleet,
        peak_flops=part.take_number("peak_flops"),
        parameters=part.take_number("parameters"),
        flops_per_token=part.take_number("flops_per_token"),
        start=part.take_moment("start"),
        end=part.take_moment("end"),
        restart=part.take_choice("restart", c.RESTARTS),
    )
    part.close()
    if run.start is not None and run.end is not None and run.start >= run.end:
        raise part.error("end", f"run `{name}` ends before it starts", "`end` must lie after `start`")
    return run


def _read_fleet(part: Section) -> tuple[tuple[str, int], ...]:
    fleet = []
    for row in part.take_sections("gpu_model"):
        model, count = row.take_text("gpu_model"), row.take_integer("count")
        row.close()
        if model is None or count is None:
            raise part.error(
                "gpu_model", "a part of `gpu_model` is incomplete", "expected {gpu_model, count}"
            )
        fleet.append((model, count))
    return tuple(fleet)


def _read_policy(section: Section) -> dict[str, str | bool]:
    """Return the policy, in the order of the category table."""
    policy: dict[str, str | bool] = {}
    for row in read_seed("categories"):
        layer = section.take_choice(row["category"], c.LAYERS)
        if layer is not None:
            policy[row["category"]] = layer
    counted = section.take_flag(FIRST_QUEUE_WAIT)
    section.close()
    return policy if counted is None else {**policy, FIRST_QUEUE_WAIT: counted}


def _read_classes(section: Section) -> Iterator[c.ClassRule]:
    for name in section.data:
        if name not in c.CLASSES:
            allowed = ", ".join(f"`{n}`" for n in c.CLASSES)
            raise section.error(
                name, f"unknown class `{name}`", f"classes are {allowed}", nearest(name, c.CLASSES)
            )
        for part in section.take_sections(name):
            yield c.ClassRule(
                name,
                partition=part.take_text("partition"),
                qos=part.take_text("qos"),
                account=part.take_text("account"),
                user=part.take_text("user"),
                job=part.take_text("job"),
                min_gpus=part.take_integer("min_gpus"),
                max_gpus=part.take_integer("max_gpus"),
            )
            part.close()


def _read_owners(section: Section) -> dict[str, str]:
    domains = {row["domain"] for row in read_seed("causes")} if section.data else set()
    owners = {key: section.take_text(key) for key in sorted({*c.LAYERS, "program", *domains})}
    section.close()
    return {key: team for key, team in owners.items() if team}


def _read_maintenance(part: Section) -> c.Maintenance:
    start, end, declared = part.take_moment("start"), part.take_moment("end"), part.take_span("declared")
    part.close()
    if start is None or end is None or start >= end:
        raise part.error("start", "a maintenance has no length", "`start` and a later `end` are needed")
    return c.Maintenance(start, end, declared)


def _read_price(section: Section) -> c.Price | None:
    gpu_hour, currency = section.take_number("gpu_hour"), section.take_text("currency")
    section.close()
    return None if gpu_hour is None else c.Price(gpu_hour, currency or "")


def _read_targets(section: Section) -> dict[str, float]:
    targets = {}
    for figure in TARGETS:
        value = section.take_number(figure)
        if value is not None and value > 1:
            raise section.error(
                figure, f"`{figure}` is {value}", "expected a share of 1: write 0.95 for 95 %"
            )
        if value is not None:
            targets[figure] = value
    section.close()
    return targets


def _read_privacy(section: Section) -> c.Privacy:
    users = section.take_choice("users", c.USER_RULES)
    section.close()
    return c.Privacy(users or "keep")


def _read_report(section: Section) -> c.ReportConfig:
    window, paper = section.take_text("window"), section.take_choice("paper", c.PAPERS)
    section.close()
    if window is not None:
        try:
            parse_duration(window)
        except GoodputError as error:
            raise section.error("window", error.what, error.why, error.now) from None
    default = c.ReportConfig()
    return c.ReportConfig(window or default.window, paper or default.paper)


def _read_verdicts(path: Path, text: str) -> Iterator[c.Verdict]:
    known = [row["code"] for row in read_seed("causes")]
    seen: dict[str, str] = {}
    for where, row in _read_rows(path, text, _VERDICT_COLUMNS, ("incident_id", "cause")):
        if row["cause"] not in known:
            raise GoodputError(
                f"unknown cause `{row['cause']}`",
                where=where,
                why="a verdict names a code of the failure taxonomy",
                now=nearest(row["cause"], known) or "see `goodput signals` for the codes",
            )
        if row["incident_id"] in seen:
            raise GoodputError(
                f"two verdicts on `{row['incident_id']}`",
                where=f"{where}, and {seen[row['incident_id']]}",
                why="an incident has one cause",
                now="keep the row that holds",
            )
        seen[row["incident_id"]] = where
        day = _read_day(where, "date", row["date"])
        yield c.Verdict(row["incident_id"], row["cause"], row["owner"], row["reason"], day, row["role"])


def _read_actions(path: Path, text: str) -> Iterator[c.Action]:
    for where, row in _read_rows(path, text, _ACTION_COLUMNS, ("id", "action")):
        opened = _read_day(where, "opened", row["opened"])
        yield c.Action(row["id"], row["action"], row["owner"], opened, row["state"] or "open")


def _read_rows(
    path: Path, text: str, columns: tuple[str, ...], needed: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield ``file:line`` and the stripped cells of each row; a column may be absent, never unknown."""
    reader = csv.reader(io.StringIO(text), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            where = f"{path}:{reader.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _read_header(where, [cell.strip() for cell in cells], columns, needed)
                continue
            if len(cells) != len(header):
                raise GoodputError(
                    f"the row has {len(cells)} cells and the header {len(header)}",
                    where=where,
                    now="put a cell that holds a comma in double quotes",
                )
            row = dict.fromkeys(columns, "") | dict(zip(header, (x.strip() for x in cells), strict=True))
            empty = [name for name in needed if not row[name]]
            if empty:
                raise GoodputError(f"`{empty[0]}` is empty", where=where, now="fill it, or drop the row")
            yield where, row
    except csv.Error as error:
        where = f"{path}:{reader.line_num}"
        raise GoodputError("not a comma-separated table", where=where, why=str(error)) from None


def _read_header(
    where: str, header: list[str], columns: tuple[str, ...], needed: tuple[str, ...]
) -> list[str]:
    """Return the header if its columns are known, different, and enough."""
    for name in header:
        if name not in columns:
            known = f"known: {', '.join(f'`{n}`' for n in columns)}"
            parted = any(sign in name for sign in ";\t|")
            now = "put commas between the cells" if parted else nearest(name, columns)
            raise GoodputError(f"unknown column `{name}`", where=where, why=known, now=now)
    missing = [name for name in needed if name not in header]
    if missing or len(set(header)) != len(header):
        what = f"the column `{missing[0]}` is missing" if missing else "a column is named twice"
        raise GoodputError(what, where=where, now=f"the header may be: {','.join(columns)}")
    return header


def _read_day(where: str, column: str, text: str) -> date | None:
    """Return the date of a cell; None where it is empty."""
    try:
        return parse_time(text).date() if text else None
    except GoodputError as error:
        raise GoodputError(f"`{column}` is `{text}`, not a date", where=where, now=error.now) from None
