"""DeepSpeed: saves and loads of its engine. A step is only in the default tag: ``global_step``N."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._deepspeed_head import HEAD, RANKED
from pipeline.formats.format import Pattern, Value, known_line

_TAG = r"(?:global_step(?P<step>\d+)|\S+)"
_ENGINE = r"\[(?:Torch|Nebula|Fast|Decoupled|DataStates)\] "


def _columns(op: str, edge: str, *named: str, **constants: str | bool) -> Mapping[str, Value]:
    """Return the columns of one kind of line: constants, and the groups that it names."""
    fixed = {name: Value(const=value) for name, value in {"op": op, "edge": edge, **constants}.items()}
    return {**fixed, **{name: _GROUPS[name] for name in named}}


_GROUPS: Mapping[str, Value] = {
    "rank": Value(group="rank", kind="int"),
    "step": Value(group="step", kind="int"),
    "path": Value(group="path"),
}

CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions="0.7 to 0.18",
        literals=(" is about to be saved!", "[Nebula] Start Checkpoint for tag:"),
        regex=rf"{RANKED}{_ENGINE}(?:Checkpoint {_TAG} is about to be saved!"
        r"|Start Checkpoint for tag: ?(?:global_step(?P<tag>\d+)|\S+))",
        columns={
            **_columns("save", "begin", "rank"),
            "step": Value(group=("step", "tag"), kind="int"),
        },
    ),
    Pattern(
        name="save_begin_file",
        table="checkpoints",
        versions="0.3 to 0.18",
        literals=("Saving model checkpoint: ",),
        regex=rf"{RANKED}Saving model checkpoint: (?P<path>\S*global_step(?P<step>\d+)/\S+)",
        columns=_columns("save", "begin", "rank", "step", "path"),
        note="The only mark of a save up to 0.6; later also of the first two ranks, after the mark of the "
        "save.",
    ),
    known_line(
        "save_file_of_tag",
        ("Saving model checkpoint: ",),
        rf"{RANKED}Saving model checkpoint: \S*/(?:[^g/\s]|g[^l/\s])[^/\s]*/[^/\s]+\s*$",
        versions="0.3 to 0.18",
        note="A file of a save whose tag is no step.",
    ),
    Pattern(
        name="save_blocked",
        table="checkpoints",
        versions="0.7 to 0.17.0",
        literals=(" are saved in tier1. It is ready to start persisting",),
        regex=rf"{RANKED}\[Nebula\] all files for {_TAG} are saved in tier1\. ",
        columns=_columns("save", "blocked", "rank", "step"),
        note="The loop goes on; what goes on beside it is told by another program.",
    ),
    Pattern(
        name="save_end",
        table="checkpoints",
        versions="0.7 to 0.17.0",
        literals=(" is ready now!",),
        regex=rf"{RANKED}{_ENGINE}Checkpoint {_TAG} is ready now!",
        columns=_columns("save", "end", "rank", "step", ok=True, tier="persistent"),
        note="Every rank says so; the last one makes the save durable. Gone since 0.17.1: a save is then "
        "known "
        "to be whole where the program says so, or where a later load used it.",
    ),
    Pattern(
        name="save_failed",
        table="checkpoints",
        versions="0.3 to 0.18",
        literals=("Failed saving model checkpoint to ",),
        regex=r"Failed saving model checkpoint to (?P<path>\S+) with tag (?:global_step(?P<step>\d+)|\S+)",
        columns=_columns("save", "end", "step", "path", ok=False),
    ),
    known_line(
        "not_gathered",
        ("Did not save the model ",),
        rf"{HEAD}Did not save the model \S+ because ",
        versions="0.3 to 0.18",
        note="Weights of ZeRO 3 lie on all ranks, and were not put together for an export: no checkpoint "
        "failed.",
    ),
    known_line(
        "save_files",
        ("[Torch] Sav", "[Nebula] Sav", " checkpoint saved "),
        rf"{RANKED}(?:\[(?:Torch|Nebula)\] Sav(?:ing|ed) \S|\w+ (?:pp )?checkpoint saved \S)",
        versions="0.3 to 0.17.0",
        note="One line for each file and rank.",
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions="0.7 to 0.18",
        literals=("] Loading checkpoint from ", "] Begin Load checkpoint from "),
        regex=rf"{RANKED}{_ENGINE}(?:Loading|Begin Load) checkpoint from "
        r"(?P<path>\S*global_step(?P<step>\d+)\S*?|\S+?)\.\.\.\s*$",
        columns=_columns("load", "begin", "rank", "step", "path"),
        note="One line for each file and rank.",
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions="0.7 to 0.18",
        literals=("] Loaded checkpoint from ", "] End Load checkpoint from "),
        regex=rf"{RANKED}{_ENGINE}(?:Loaded|End Load) checkpoint from "
        r"(?P<path>\S*global_step(?P<step>\d+)\S*?|\S+?)\.(?:\.\.)?\s*$",
        columns=_columns("load", "end", "rank", "step", "path", ok=True),
        note="One line for each file and rank: the last one ends the load.",
    ),
    known_line(
        "load_files",
        (" zero partition checkpoints for rank ", " ZeRO state_dicts for rank "),
        rf"{RANKED}(?:loading \d+ zero partition checkpoints for rank \d+"
        r"|successfully read \d+ ZeRO state_dicts for rank \d+)",
        versions="0.3 to 0.18",
    ),
    Pattern(
        name="load_none",
        table="checkpoints",
        versions="0.3 to 0.18",
        literals=("Unable to find latest file at ",),
        regex=rf"{HEAD}(?:\[Rank -?\d+\] )?Unable to find latest file at (?P<path>[^\s,]+), "
        "if trying to load latest",
        columns=_columns("load", "none", "path"),
        note="Nothing to load: every rank says so.",
    ),
)
