"""An invented store: a `goodput.duckdb` that holds the marts which a review reads, and nothing else.

A story is a list of intervals and incidents, written by hand below. The marts are sums over them, so that
figures, layers, causes and windows agree with one another as they do in a real store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa

from pipeline.ledger.build import sql_folder

FOLDER = Path(__file__).parent

#: Marts that are sums over a story as in a real store: in the order in which one reads the other.
SAVING_MARTS = ("checkpoints", "checkpoint_cost", "checkpoint_curve", "restart_cost", "expected_ettr")

#: Marts about the pace of steps that are built likewise.
EFFICIENCY_MARTS = ("pace", "run_efficiency")

MONDAY = datetime(2026, 10, 5, tzinfo=UTC)

#: Marts that are built from the story's ledger by the SELECTs of the project, in their order.
RELIABILITY = (
    "lifetimes", "failure_counts", "poisson_limits", "failure_rates", "survival",
    "recovery_phases", "recovery", "recovery_summary", "host_incidents", "hosts",
)  # fmt: skip

#: Cause: title, domain, layer, owner, first action.
CAUSES = {
    "gpu_fell_off_bus": ("GPU fell off the bus", "gpu", "infrastructure", "cluster operations",
                         "Drain the host, reseat or replace the GPU, run diagnostics before it returns."),
    "gpu_memory_error": ("Uncorrectable GPU memory error", "gpu", "infrastructure", "cluster operations",
                         "Reset the GPU; replace it when rows cannot be remapped."),
    "storage_unavailable": ("Storage unavailable", "storage", "infrastructure", "storage",
                            "Check the file system's servers at that time; make saves retry."),
    "collective_timeout": ("Collective timed out", "network", "infrastructure", "network",
                           "Find the rank that did not arrive; check its links and its host."),
    "node_failure": ("Node failure", "host", "infrastructure", "cluster operations",
                     "Read the node's console; keep it drained until the reason is known."),
    "gpu_out_of_memory": ("Out of GPU memory", "software", "program", "training",
                          "Lower the micro batch or free the memory that grew."),
    "missing_file": ("File missing", "software", "program", "training", "Check paths before the launch."),
    "operator_stop": ("Stopped by a person", "operator", "planned", "training", ""),
    "preemption": ("Preempted", "scheduler", "infrastructure", "scheduling", "Compare priority with size."),
    "completed": ("Completed", "none", "productive", "training", ""),
}  # fmt: skip

LAYERS = {
    "provisioning": ("infrastructure", "Provisioning"), "init": ("framework", "Initialisation"),
    "setup": ("framework", "Set-up"), "restore": ("framework", "Restore"), "warmup": ("framework", "Warm-up"),
    "productive": ("productive", "Productive"), "checkpoint_stall": ("framework", "Checkpoint stall"),
    "evaluation": ("planned", "Evaluation"), "lost_work": ("framework", "Lost work"),
    "hang": ("infrastructure", "Hang"), "teardown": ("infrastructure", "Teardown"),
    "queue_wait": ("infrastructure", "Waiting in the queue"), "shutdown": ("framework", "Shutdown"),
    "planned_stop": ("planned", "Planned stop"), "unattributed": ("unknown", "Unattributed"),
    "unscheduled_gap": ("infrastructure", "Nothing held or pending"),
}  # fmt: skip


@dataclass(frozen=True)
class End:
    """How an attempt ended: hours of progress before it, minutes of what it cost."""

    cause: str
    hours: float
    lost: float = 0.0
    hang: float = 0.0
    teardown: float = 4.0
    wait: float = 20.0
    waited_as: str = "queue_wait"
    kind: str = "unplanned"
    host: str = ""
    gpu: str = ""
    mark: str = ""
    text: str = ""


@dataclass(frozen=True)
class RunStory:
    """A run: GPUs, when it began, and the ends of its attempts in order; start-up takes ``start_min``."""

    run_id: str
    gpus: int
    begin: datetime
    ends: tuple[End, ...]
    start_min: float = 9.0
    save_every_h: float = 2.0
    save_s: float = 24.0
    evaluate_every_h: float = 12.0
    evaluate_min: float = 6.0
    model: str = "H100-SXM"
    mfu: float | None = 0.41
    flags: tuple[str, ...] = ()


@dataclass
class Ledger:
    """Rows of a story, before they are cut at windows."""

    intervals: list[tuple[object, ...]] = field(default_factory=list)
    incidents: list[tuple[object, ...]] = field(default_factory=list)


WEEK = (
    RunStory("heron-70b", 1024, MONDAY, (
        End("gpu_fell_off_bus", 21.4, 37, 10, 6, 48, host="gx017", gpu="0000:3b:00.0",
            text="NVRM: Xid (PCI:0000:3b:00): 79, pid=4127, name=python3, GPU has fallen off the bus."),
        End("collective_timeout", 16.2, 52, 10, 5, 12, mark="¶",
            text="Watchdog caught collective operation timeout: WorkNCCL(SeqNum=48211, OpType=ALLREDUCE)"),
        End("storage_unavailable", 9.5, 64, 22, 9, 133, host="gx102",
            text="OSError: [Errno 5] Input/output error: '/ckpt/heron-70b/iter_0014500'"),
        End("gpu_fell_off_bus", 30.1, 21, 10, 6, 31, host="gx017", gpu="0000:3b:00.0",
            text="NVRM: Xid (PCI:0000:3b:00): 79, pid=9920, name=python3, GPU has fallen off the bus."),
        End("operator_stop", 28.3, 8, 0, 3, 65, "planned_stop", "planned", text="CANCELLED by 4100"),
        End("node_failure", 26.9, 44, 8, 5, 27, host="gx311", mark="†", text="NODE_FAIL"),
        End("", 40.0),
    )),
    RunStory("egret-13b", 256, MONDAY + timedelta(hours=7.25), (
        End("gpu_out_of_memory", 18.7, 15, 1, 2, 8, text="torch.OutOfMemoryError: CUDA out of memory."),
        End("missing_file", 0.0, 0, 0, 1, 14, text="FileNotFoundError: [Errno 2] No such file or directory"),
        End("gpu_memory_error", 61.0, 33, 2, 4, 22, host="gx044", gpu="0000:c1:00.0",
            text="NVRM: Xid (PCI:0000:c1:00): 94, pid=771, name=python3, Contained: SM"),
        End("completed", 45.5, 0, 0, 3, 0, kind="completed"),
    )),
    RunStory("plover-3b", 64, MONDAY + timedelta(days=2, hours=3), (
        End("preemption", 11.0, 26, 0, 2, 190, kind="preemption", text="CANCELLED DUE TO PREEMPTION"),
        End("", 200.0),
    ), mfu=None, model="", flags=("two runs may share this name",)),
)  # fmt: skip

#: One attempt of a quarter of an hour on two GPUs that reads well only with enough digits.
SHORT = (
    RunStory("smoke-1b", 2, MONDAY + timedelta(hours=14, minutes=7, seconds=12), (
        End("completed", 0.19, 0, 0, 0.4, 0, kind="completed"),
    ), start_min=2.2, save_every_h=0.05, save_s=1.5, evaluate_every_h=9, mfu=0.31),
)  # fmt: skip

#: Names and messages that would be code if anything took them for code.
EVIL = "<script>alert(1)</script>"
HOSTILE = (
    RunStory(f'#panic("x") {EVIL} $a_1$ *b* "q" \'r\' 中文', 16, MONDAY, (
        End("gpu_fell_off_bus", 5, 12, 9, 2, 30, host=f"{EVIL}&amp;#set page()", gpu="]]>\x1b[31m\u202ered",
            text=f"--> {EVIL} \\u0000 ${{jndi:x}} #import \"@preview/x:0.1.0\" {'deep/' * 60}end"),
        End("node_failure", 4, 12, 9, 2, 30, host="a" * 90, text="{{ 7 * 7 }} {% raw %} @ref <label>"),
        End("completed", 3, kind="completed"),
    )),
    RunStory("x" * 120, 8, MONDAY, (End("completed", 30, kind="completed"),)),
)  # fmt: skip

#: A run that never made a step, and of which most is not known.
STEPLESS = (
    RunStory("wren-1b", 8, MONDAY + timedelta(hours=9), (
        End("missing_file", 0.0, 0, 0, 30, 90, "unattributed", text="FileNotFoundError: vocab.json"),
        End("missing_file", 0.0, 0, 0, 30, 0, text="FileNotFoundError: vocab.json"),
    )),
)  # fmt: skip


def tell(stories: tuple[RunStory, ...], until: datetime) -> Ledger:
    """Return the intervals and incidents of stories, cut at the end of the records."""
    ledger = Ledger()
    for story in stories:
        _tell_run(story, until, ledger)
    return ledger


def _tell_run(story: RunStory, until: datetime, ledger: Ledger) -> None:
    at, charged = story.begin, ""
    for attempt, end in enumerate(story.ends, 1):
        incident = f"{story.run_id}/{880000 + attempt}.0/1" if end.cause else f"{story.run_id}/open"
        pieces: list[tuple[str, float, str]] = [
            ("provisioning", story.start_min * 12, charged), ("init", story.start_min * 18, charged),
            ("setup", story.start_min * 15, charged),
            *([("restore", story.start_min * 9, charged)] if attempt > 1 else []),
        ]  # fmt: skip
        if end.hours > 0:
            pieces += [("warmup", story.start_min * 6, charged), *_loop(story, end.hours)]
        last = at + timedelta(seconds=sum(p[1] for p in pieces))
        pieces += [("lost_work", end.lost * 60, incident), ("hang", end.hang * 60, incident)]
        fault = last + timedelta(minutes=end.lost)
        if end.cause:
            stop = "shutdown" if end.cause == "completed" else "teardown"
            pieces += [(stop, end.teardown * 60, incident), (end.waited_as, end.wait * 60, incident)]
        rows = _place(story, attempt, at, until, pieces, end)
        ledger.intervals += rows
        at += timedelta(seconds=sum(p[1] for p in pieces))
        if not end.cause or last >= until:
            break
        charged = incident
        detected = fault + timedelta(minutes=end.hang)
        release = detected + timedelta(minutes=end.teardown)
        again = min(at + timedelta(minutes=story.start_min), until)
        evidence = f"{story.run_id}/job-{880000 + attempt}.err:{1200 + 37 * attempt}"
        ledger.incidents.append((
            incident, story.run_id, attempt, str(880000 + attempt), end.kind,
            last, fault, detected, release, again,
            round(end.lost * 2), end.cause, end.host or None, end.gpu or None,
            "inferred" if "¶" in end.mark else "evidence",
            evidence if end.text else None, end.text or None, end.mark,
        ))  # fmt: skip


def _loop(story: RunStory, hours: float) -> Iterator[tuple[str, float, str]]:
    """Yield stretches of progress with the saves and evaluations between them."""
    done, step = 0.0, story.save_every_h
    while done < hours - 1e-9:
        part = min(step, hours - done)
        yield "productive", part * 3600, ""
        done += part
        yield "checkpoint_stall", story.save_s, ""
        if done % story.evaluate_every_h < 1e-9:
            yield "evaluation", story.evaluate_min * 60, ""


def _place(
    story: RunStory,
    attempt: int,
    at: datetime,
    until: datetime,
    pieces: list[tuple[str, float, str]],
    end: End,
) -> Iterator[tuple[object, ...]]:
    for category, seconds, incident in pieces:
        stop = min(at + timedelta(seconds=seconds), until)
        if stop > at:
            layer, title = LAYERS[category]
            mark = end.mark if category in ("lost_work", "hang") else ""
            held = category not in ("queue_wait", "planned_stop", "unscheduled_gap")
            yield (
                story.run_id, attempt, at, stop, story.gpus,
                category, title, layer, incident or None, mark, held,
            )  # fmt: skip
        at = max(at, stop)


def build_store(
    folder: Path,
    stories: tuple[RunStory, ...] = WEEK,
    until: datetime = MONDAY + timedelta(days=7),
    *,
    window: timedelta = timedelta(hours=24),
    targets: tuple[tuple[str, float], ...] = (("training_time_goodput", 0.95), ("composite", 0.4)),
    price: tuple[float, str] | None = (2.5, "EUR"),
) -> Path:
    """Write ``goodput.duckdb`` with the marts of a story; return the folder."""
    ledger = tell(stories, until)
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(folder / "goodput.duckdb")) as con:
        con.execute("set TimeZone = 'UTC'")
        con.execute((FOLDER / "fixture_tables.sql").read_text(encoding="utf-8"))
        insert(con, "given.intervals", ledger.intervals)
        insert(con, "given.incidents", ledger.incidents)
        insert(con, "given.causes", [(code, *cause) for code, cause in CAUSES.items()])
        insert(
            con, "given.runs", [(s.run_id, s.gpus, s.model or None, s.mfu, list(s.flags)) for s in stories]
        )
        insert(con, "config.report", [(round(window.total_seconds() * 1e6), None, None, None)])
        insert(con, "config.targets", list(targets))
        insert(con, "config.price", [] if price is None else [price])
        con.execute((FOLDER / "fixture_marts.sql").read_text(encoding="utf-8"))
        con.execute((FOLDER / "fixture_ledger.sql").read_text(encoding="utf-8"))
        build_reliability(con)
        con.execute((FOLDER / "fixture_saving.sql").read_text(encoding="utf-8"))
        for mart in SAVING_MARTS:
            select = (sql_folder() / "marts" / f"{mart}.sql").read_text(encoding="utf-8")
            con.execute(f"create table marts.{mart} as {select}")
        con.execute((FOLDER / "fixture_efficiency.sql").read_text(encoding="utf-8"))
        for mart in EFFICIENCY_MARTS:
            select = (sql_folder() / "marts" / f"{mart}.sql").read_text(encoding="utf-8")
            con.execute(f"create table marts.{mart} as {select}")
    return folder


def build_reliability(con: duckdb.DuckDBPyConnection) -> None:
    """Build the marts of reliability from the project's own SELECTs."""
    phases = sql_folder() / "seeds" / "recovery_phases.csv"
    con.execute(f"create table seeds.recovery_phases as from read_csv('{phases}', header = true)")
    for name in RELIABILITY:
        con.execute(
            f"create table marts.{name} as {(sql_folder() / 'marts' / name).with_suffix('.sql').read_text()}"
        )


def insert(con: duckdb.DuckDBPyConnection, table: str, rows: list[tuple[object, ...]]) -> None:
    """Insert rows column by column: row by row takes a second for a week."""
    if rows:
        columns = [pa.array(list(column)) for column in zip(*rows, strict=True)]
        con.register("rows", pa.table(columns, names=[f"c{n}" for n in range(len(columns))]))
        con.execute(f"insert into {table} select * from rows")
        con.unregister("rows")
