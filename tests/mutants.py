"""Small defects put into the SQL one at a time; stories must notice them. ``python -m tests.mutants``.

Not part of the suite: each defect costs a ledger or two. A defect that no story could tell from the right
text, because something else decides in its place, is no defect and not listed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

import duckdb

from pipeline.config import load_config
from pipeline.ingest import ingest
from pipeline.ledger.build import classify
from pipeline.simulate.blemishes import CLEAN, Blemishes
from pipeline.simulate.invent import invent
from pipeline.simulate.judge import judge
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.story import Story
from pipeline.simulate.written import read_truth
from pipeline.windows import WindowOptions
from tests.simulated import ENDS, random_maintenance, random_plan
from tests.together import Way, side_by_side, write_apart

ROOT = Path(__file__).resolve().parents[1]

#: Folder of stories of which only the ends can be told, and what is left of their logs.
ENDS_ONLY = "ends"
BARE = Blemishes(no_errors=True, no_controller=True)

#: File below sql/, the text that is there once, and the defect in its place.
MUTANTS: tuple[tuple[str, str, str], ...] = (
    ("claims/ending.sql", "where p.end_us > p.start_us", "where p.end_us > p.start_us + 30000000"),
    (
        "claims/ending.sql",
        "stop_us as start_us,\n        detected_us as end_us",
        "detected_us as start_us,\n        stop_us as end_us",
    ),
    ("claims/lost_work.sql", "s.after_step <= v.restored_step", "s.after_step < v.restored_step"),
    ("claims/lost_work.sql", "head_end_us as start_us", "end_us as start_us"),
    ("claims/loop.sql", "warmup_end_us as end_us", "gap_end_us as end_us"),
    ("claims/loop.sql", "82 as precedence", "79 as precedence"),
    ("claims/stalls.sql", "then s.after_step <= v.survives_to", "then s.after_step < v.survives_to"),
    (
        "ledger/restores.sql",
        "greatest(after_us - (timer_s * 1000000)",
        "greatest(after_us - (timer_s * 500000)",
    ),
    ("claims/start_up.sql", "where place_in_holding = 1", "where place_in_holding = 2"),
    ("claims/start_up.sql", "init_end_us as start_us", "process_us as start_us"),
    ("claims/waiting.sql", "kind in ('planned', 'completed')", "kind in ('unplanned', 'completed')"),
    ("claims/waiting.sql", "when same_job then 'requeue_delay'", "when not same_job then 'requeue_delay'"),
    ("claims/waiting.sql", "eligible_us as piece_end_us", "submit_us as piece_end_us"),
    ("claims/maintenance.sql", "least(e.end_us, epoch_us(m.end_ts))", "e.end_us"),
    ("seeds/categories.csv", "lost_work,120", "lost_work,108"),
    ("seeds/categories.csv", "restore,100", "restore,60"),
    ("seeds/categories.csv", "warmup,85", "warmup,79"),
    (
        "ledger/survival.sql",
        "least(p.restored_step, c.needs_step) as needs_step",
        "c.needs_step as needs_step",
    ),
    (
        "ledger/survival.sql",
        "order by (b.reached_step >= c.needs_step) desc, b.attempt desc",
        "order by b.attempt",
    ),
    ("ledger/survival.sql", "least(c.needs_step, p.last_step) as survives_to", "p.last_step as survives_to"),
    ("ledger/lost_spans.sql", "o.restored_step < l.step_first - 1", "o.restored_step < l.step_last"),
    ("ledger/lost_spans.sql", "o.attempt > l.attempt", "o.attempt >= l.attempt"),
    ("ledger/ends.sql", "is_cause desc,", "is_cause,"),
    (
        "ledger/ends.sql",
        "when state = 'TIMEOUT' or state = 'DEADLINE' then 'time_limit'",
        "when state = 'TIMEOUT' then 'operator_stop'",
    ),
    (
        "ledger/restores.sql",
        "when begin_us is not null and end_us is not null then begin_us",
        "when begin_us is not null and end_us is not null then end_us",
    ),
    (
        "ledger/saves.sql",
        "filter (where edge in ('begin', 'span')) as begin_us",
        "filter (where edge in ('span')) as begin_us",
    ),
    ("ledger/holdings.sql", "epoch_us(a.submit_ts) as submit_us", "epoch_us(a.start_ts) as submit_us"),
    ("ledger/intervals.sql", "'missing' as part,", "'spare' as part,"),
    (
        "ledger/timeline.sql",
        "filter (where kind = 'phase' and name = 'loop' and edge = 'begin') as loop_start_us",
        "filter (where kind = 'phase' and name = 'loop' and edge = 'end') as loop_start_us",
    ),
    ("ledger/evidence.sql", "t.release_us + 300000000", "t.progress_us - 119000000"),
)


def main() -> None:
    """Put each defect in, and print what noticed it."""
    with tempfile.TemporaryDirectory() as name:
        caught = count_caught(MUTANTS, Path(name))
    print(f"{caught} of {len(MUTANTS)} caught")
    sys.exit(0 if caught >= len(MUTANTS) - 2 else 1)


def count_caught(mutants: tuple[tuple[str, str, str], ...], folder: Path) -> int:
    """Return how many defects the stories notice; say of each what did, or that nothing does."""
    folders = write_stories(folder, 24)
    sound = [why for told in folders if (why := wrong(told, ROOT / "sql"))]
    if sound:
        raise SystemExit(f"without a defect: {sound}")
    caught = 0
    for at, (file, old, new) in enumerate(mutants):
        sql = folder / f"sql-{at}"
        shutil.copytree(ROOT / "sql", sql)
        text = (sql / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"{file} holds {old!r} {text.count(old)} times, and not once")
        (sql / file).write_text(text.replace(old, new), encoding="utf-8")
        why = next((found for told in folders if (found := wrong(told, sql))), "")
        caught += bool(why)
        print(f"{'caught' if why else 'MISSED':6} {file}: {new[:60]!r} {why[:90]}", flush=True)
        shutil.rmtree(sql)
    return caught


def write_stories(folder: Path, count: int) -> list[Path]:
    """Write and ingest stories, side by side in two folders; return these.

    Half of them are any. In a quarter people go back further than they must, and to the same step again, or
    a trainer saves before it leaves. In the last quarter, which has a folder of its own, only accounting
    tells how jobs ended; where they stood still is then nowhere, but why is.
    """
    stories: dict[str, dict[str, Story]] = {"told": {}, ENDS_ONLY: {}}
    ways: dict[str, Way] = {}
    for seed in range(count):
        rng = Random(seed)
        trainer = rng.choice(["megatron", "torchtitan"])
        lost, interval = seed % 4 == 3, rng.choice([1, 5])
        if seed % 4 == 1:
            ends = ("stopped_with_grace",) if seed % 8 == 1 else ("operator_stop", "collective_hang")
            plan = Plan(gpus=16, target=160, save_every=10, steps_between=(10, 30), max_attempts=10)
            plan = replace(plan, roll_back=0.7, eval_every=20, ends=dict.fromkeys(ends, 1.0))
            interval = 5 if seed % 8 == 1 else 1
        else:
            plan = random_plan(rng, trainer, ("time_limit",) if lost else ENDS)
        story = invent(seed, (plan,), () if lost else random_maintenance(rng))
        stories[ENDS_ONLY if lost else "told"][f"heron-{seed}"] = story
        ways[f"heron-{seed}"] = (Style(interval), BARE if lost else CLEAN)
    folders = []
    for name, own in stories.items():
        out = folder / name
        write_apart(side_by_side(own), out, ways, (Style(), BARE if name == ENDS_ONLY else CLEAN))
        ingest([str(out / "logs")], out / "store", load_config([str(out / "logs")], None))
        folders.append(out)
    return folders


def wrong(folder: Path, sql: Path) -> str:
    """Return why the ledger that some SQL builds is not the truth, or nothing."""
    store = folder / "store"
    config = load_config([str(folder / "logs")], None)
    # A defect that the engine refuses proves nothing about the stories, and ends the run.
    summary = classify(store, config, WindowOptions(), sql)
    if summary.violations:
        return f"check {summary.violations[0].check}"
    with duckdb.connect(str(store / "goodput.duckdb"), read_only=True) as con:
        found = judge(con, read_truth(folder))
    if found.agrees or (folder.name == ENDS_ONLY and not found.mistakes):
        return ""
    if found.spans and folder.name != ENDS_ONLY:
        sides = (found.spans[0].truth, found.spans[0].ledger)
        true, told = (side.category if side else "nothing" for side in sides)
        return f"{true} told as {told}"
    return f"{found.mistakes[0].what} of attempt {found.mistakes[0].attempt}"


if __name__ == "__main__":
    main()
