"""What must change nothing of a ledger: how files are kept, what goes into one, what is cut or repeated."""

from __future__ import annotations

import pytest

from pipeline.simulate.blemishes import Blemishes
from pipeline.simulate.lines import Style
from tests.kept import KEPT, turn_round
from tests.simulated import mixed_story
from tests.together import Account, account, side_by_side, tell, write_apart

#: Runs of which other things happen to the lines.
WORN = {
    "one-file-for-all": Blemishes(files="run", together=True),
    "one-file-for-an-attempt": Blemishes(files="attempt"),
    "errors-in-the-same-file": Blemishes(together=True),
    "kernel-in-the-journal": Blemishes(kernel="journal"),
    "kernel-in-the-journal-as-json": Blemishes(kernel="json"),
    "noise": Blemishes(noise_mb=1.5),
}

#: Trainers whose lines are cut or repeated, and what happens to them.
TRAINERS = ("goodput_records", "megatron_core_0_5", "torchtitan")
CUT = {"rotated": Blemishes(rotate_bytes=3000), "repeated": Blemishes(every_rank=True)}
CUT_RUNS = {f"{how}-{trainer.replace('_', '-')}": (how, trainer) for how in CUT for trainer in TRAINERS}


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Account, Account]:
    """Return the ledger of each run as it was kept well, and as it was kept in a way of its own."""
    stories = {name: mixed_story(11 + number) for number, name in enumerate([*KEPT, *WORN])}
    for number, (name, (_, trainer)) in enumerate(CUT_RUNS.items()):
        stories[name] = mixed_story(16 + number, trainer=trainer, gpus=16, target=150)
    story = side_by_side(stories)
    folder = tmp_path_factory.mktemp("kept")
    ways = {name: (Style(), worn) for name, worn in WORN.items()}
    ways |= {name: (Style(), CUT[how]) for name, (how, _) in CUT_RUNS.items()}
    write_apart(story, folder / "plain", {})
    write_apart(story, folder / "other", ways)
    turn_round(folder / "other" / "logs" / "sacct.txt")
    for name, change in KEPT.items():
        change(folder / "other" / "logs" / name)
    return account(tell(folder / "plain")), account(tell(folder / "other"))


@pytest.mark.parametrize("run", [*KEPT, *WORN, *CUT_RUNS])
def test_how_lines_are_kept_cut_or_repeated_changes_nothing(
    run: str, accounts: tuple[Account, Account]
) -> None:
    plain, other = accounts
    assert plain[run] == other[run]


def test_how_lines_are_kept_makes_no_other_run(accounts: tuple[Account, Account]) -> None:
    assert set(accounts[0]) == set(accounts[1]) == {*KEPT, *WORN, *CUT_RUNS}
