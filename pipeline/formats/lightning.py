"""Lightning: progress bars and console lines of the Trainer, of 1.x and 2.x."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.formats._lightning_facts import PARAMETERS
from pipeline.formats._lightning_known import KNOWN
from pipeline.formats.format import Format, Pattern, Value

_ALL = "1.5 to 2.6"
#: Epoch 3:  42%|████▏     | 420/1000 [07:00<09:40,  1.00it/s, v_num=7, train_loss=2.31]
_BAR = (
    r"^\s*Epoch (?P<epoch>\d+):\s+\d+%\|[^|]*\| (?P<batch>[1-9]\d*)/(?P<total>\d+) "
    r"\[(?P<elapsed>\d[\d:]*)<[\d:?]+, +(?P<rate>[\d.?]+)it/s"
)
_COLUMNS: Mapping[str, Value] = {
    "step_last": Value("batch", "int", plus=("epoch", "total")),
    "elapsed_s": Value("elapsed", "seconds"),
    "step_time_s": Value("rate", "per_second"),
}
_PATH = r"'?(?P<path>[^\s']*?(?:step=(?P<step>\d+)[^\s']*?)?)'?"


def _phase(
    name: str, phase: str, edge: str, literals: tuple[str, ...], regex: str, note: str = "", **more: Value
) -> Pattern:
    """Return the pattern of a line that tells of a phase."""
    columns = {"phase": Value(const=phase), "edge": Value(const=edge), **more}
    return Pattern(
        name=name, table="phases", columns=columns, literals=literals, regex=regex, versions=_ALL, note=note
    )


STEPS = (
    Pattern(
        name="bar",
        table="steps",
        versions=_ALL,
        literals=("it/s",),
        regex=_BAR + r", (?:[^\]]*, )?v_num=[^\]]*\]",
        columns=_COLUMNS,
        extras={"loss": (r"[ ,](?:train_)?loss(?:_step)?=(?P<v>[^,\]\s]+)", Value(kind="float"))},
        note="Batches of all epochs so far, of one length each: optimizer steps only where gradients are not "
        "accumulated. The clock beside it begins anew with each epoch.",
    ),
    Pattern(
        name="bar_without_logger",
        table="steps",
        versions=_ALL,
        literals=("it/s]",),
        regex=_BAR + r"\]",
        columns=_COLUMNS,
        note="Many programs draw this bar: it proves nothing.",
    ),
)

START = (
    _phase(
        "process_start",
        "process_start",
        "point",
        ("GPU available: ",),
        r"^GPU available: True \(cuda\), used: ",
    ),
    _phase(
        "init_begin",
        "init",
        "begin",
        ("Initializing distributed: GLOBAL_RANK: ",),
        r"Initializing distributed: GLOBAL_RANK: (?P<rank>\d+), MEMBER: \d+/\d+",
        rank=Value("rank", "int"),
    ),
    Pattern(
        name="world_size",
        table="facts",
        versions=_ALL,
        literals=("All distributed processes registered. Starting with ",),
        regex=r"All distributed processes registered\. Starting with (?P<value>\d+) process",
        columns={"key": Value(const="world_size"), "value": Value("value")},
    ),
    _phase(
        "eval_begin",
        "eval",
        "begin",
        ("Validation DataLoader ",),
        r"^\s*Validation DataLoader \d+:\s+0%\|",
        note="Once for each loader of an evaluation.",
    ),
)

CHECKPOINTS = (
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_ALL,
        literals=(", saving model to ",),
        regex=r"Epoch \d+, global step (?P<step>\d+): .*, saving model to "
        r"['\"]?(?P<path>[^'\"]+?)['\"]?(?: as top \d+)?\s*$",
        columns={
            "op": Value(const="save"),
            "edge": Value(const="begin"),
            "step": Value("step", "int"),
            "path": Value("path"),
        },
        note="Only of a callback that is verbose; no line says when it was over.",
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Restoring states from the checkpoint ",),
        regex=rf"Restoring states from the checkpoint (?:path )?at {_PATH}\s*$",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="begin"),
            "step": Value("step", "int"),
            "path": Value("path"),
        },
    ),
    Pattern(
        name="load_end",
        table="checkpoints",
        versions=_ALL,
        literals=("Restored all states from the checkpoint ",),
        regex=rf"Restored all states from the checkpoint (?:file )?(?:at )?{_PATH}\s*$",
        columns={
            "op": Value(const="load"),
            "edge": Value(const="end"),
            "step": Value("step", "int"),
            "path": Value("path"),
            "ok": Value(const=True),
        },
    ),
)

END = (
    _phase(
        "completed",
        "loop",
        "end",
        ("Trainer.fit` stopped: ",),
        r"`Trainer\.fit` stopped: `max_(?:steps|epochs)=",
        detail=Value(const="completed"),
    ),
    _phase(
        "time_limit",
        "exit",
        "point",
        ("Time limit reached. Elapsed time is ",),
        r"Time limit reached\. Elapsed time is (?P<detail>.*)\. Signaling Trainer to stop",
        detail=Value(const="time_limit"),
    ),
    _phase(
        "interrupted",
        "exit",
        "point",
        ("Detected KeyboardInterrupt, attempting graceful shutdown",),
        r"Detected KeyboardInterrupt, attempting graceful shutdown",
        detail=Value(const="interrupted"),
    ),
    _phase(
        "requeue_signal",
        "shutdown",
        "begin",
        ("andling auto-requeue signal",),
        r"[Hh]andling auto-requeue signal(?P<detail>: \d+)?",
        detail=Value(const="requeue"),
        note="The scheduler is about to end the job; a checkpoint is written first.",
    ),
    _phase(
        "requeued",
        "exit",
        "point",
        ("Requeued SLURM job: ", "requeing job "),
        r"(?:Requeued SLURM job: |requeing job )\d+",
        detail=Value(const="requeue"),
    ),
    _phase(
        "sigterm",
        "shutdown",
        "begin",
        ("Received SIGTERM: ",),
        r"\[rank: (?P<rank>\d+)\] Received SIGTERM: \d+",
        detail=Value(const="signal terminated"),
        rank=Value("rank", "int"),
    ),
)

FORMAT = Format(
    name="lightning",
    title="Lightning (PyTorch Lightning), console",
    link="https://github.com/Lightning-AI/pytorch-lightning/tree/master/src/lightning/pytorch",
    role="trainer",
    patterns=(*STEPS, *START, *CHECKPOINTS, *END, PARAMETERS, *KNOWN),
    step_time="The rate beside a bar is the mean over the batches since the epoch began, and so are the "
    "seconds of a step; waits for data, saves and the evaluations inside the epoch are in it.",
    step_time_excludes_stalls=False,
    deciding=("bar", "init_begin", "completed", "load_end", "save_begin", "process_start", "requeued"),
    needs_proof=True,
    unrendered="Its lines carry no time, and its bars count batches with a clock that begins anew in each "
    "epoch: no story could come out of them exactly.",
    versions=_ALL,
    elapsed_per_epoch=True,
)
