"""Rewrites the golden model of the review: ``python -m tests.report.golden``; read `git diff` afterwards."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.config import Action, Config
from pipeline.report.review import write_review
from tests.report.fixture import MONDAY, End, RunStory, build_store

GOLDEN = Path(__file__).with_name("model.json")

#: Two runs over a day and a half: a planned end, an inferred cause, and one that goes on.
STORY = (
    RunStory("heron-70b", 64, MONDAY + timedelta(hours=3), (
        End("gpu_fell_off_bus", 8, 37, 10, 6, 48, host="gx017", gpu="0000:3b:00.0",
            text="NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."),
        End("collective_timeout", 5, 52, 10, 5, 12, mark="¶", text="Watchdog caught a collective timeout"),
        End("", 60),
    )),
    RunStory("plover-3b", 8, MONDAY + timedelta(hours=20), (
        End("operator_stop", 6, 8, 0, 3, 65, "planned_stop", "planned", text="CANCELLED by 4100"),
        End("completed", 3, kind="completed"),
    )),
)  # fmt: skip

CONFIG = Config(actions=(Action("A-7", "Reseat the risers of rack 4", "cluster operations", None, "open"),))


def write_golden_review(folder: Path) -> Path:
    """Write the review of the golden story; return the path of its model."""
    store = build_store(folder / "store", STORY, MONDAY + timedelta(hours=36))
    write_review(store, folder / "out", CONFIG)
    return folder / "out" / "model.json"


def main() -> None:
    """Rewrite the golden."""
    with TemporaryDirectory() as folder:
        GOLDEN.write_bytes(write_golden_review(Path(folder)).read_bytes())


if __name__ == "__main__":
    main()
