"""litgpt: what pretraining and fine-tuning print."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_ALL = "0.2 to 2026-06"


def _phase(
    name: str, phase: str, edge: str, literal: str, regex: str, note: str = "", **more: Value
) -> Pattern:
    """Return the pattern of a line that tells of a phase."""
    return Pattern(
        name=name,
        table="phases",
        columns={"phase": Value(const=phase), "edge": Value(const=edge), **more},
        literals=(literal,),
        regex=regex,
        versions=_ALL,
        note=note,
    )


_SECONDS = Value("seconds", "float")

PATTERNS = (
    Pattern(
        name="step",
        table="steps",
        versions=_ALL,
        literals=(" | iter time: ",),
        regex=r"^Epoch \d+ \| iter (?P<iter>\d+) step \d+ ?\| loss train: (?P<loss>[\w.+-]+), val: "
        r"[\w./+-]+ ?"
        r"\| iter time: (?P<ms>[\d.]+) ms",
        columns={
            "step_last": Value("iter", "int"),
            "step_time_s": Value("ms", "float", scale=1e-3),
            "loss": Value("loss", "float"),
        },
        unique=True,
        note="A step is a micro-batch here: of several, only the last makes an optimizer step. `val` is the "
        "result of an earlier evaluation.",
    ),
    _phase(
        "model_built",
        "model_setup",
        "end",
        "Time to instantiate model: ",
        r"^Time to instantiate model: (?P<seconds>[\d.]+) seconds",
        duration_s=_SECONDS,
    ),
    Pattern(
        name="parameters",
        table="facts",
        versions=_ALL,
        literals=("Total parameters: ",),
        regex=r"^Total parameters: (?P<value>[\d,]+)$",
        columns={"key": Value(const="params"), "value": Value("value")},
    ),
    Pattern(
        name="load_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Resuming training from ",),
        regex=r"^Resuming training from (?P<path>\S+)$",
        columns={"op": Value(const="load"), "edge": Value(const="begin"), "path": Value("path")},
        note="The folder is named after optimizer steps, which are not the steps of the other lines.",
    ),
    Pattern(
        name="save_begin",
        table="checkpoints",
        versions=_ALL,
        literals=("Saving checkpoint to ",),
        regex=r"^Saving checkpoint to '?(?P<path>[^\s']+\.(?:pth|ckpt)[\w.]*)'?$",
        columns={"op": Value(const="save"), "edge": Value(const="begin"), "path": Value("path")},
        note="No line says when it was over.",
    ),
    _phase("eval_begin", "eval", "begin", "Validating ...", r"^Validating \.\.\.$"),
    Pattern(
        name="eval_end",
        table="timers",
        versions=_ALL,
        literals=(", val time: ",),
        regex=r"^iter (?P<iter>\d+): val loss [\w.+-]+, val time: (?P<ms>[\d.]+) ms$",
        columns={
            "step": Value("iter", "int"),
            "component": Value(const="evaluate"),
            "mean_s": Value("ms", "float", scale=1e-3),
        },
        unique=True,
    ),
    _phase(
        "final_eval", "eval", "point", "Final evaluation | val loss: ", r"^Final evaluation \| val loss: "
    ),
    _phase(
        "completed",
        "loop",
        "end",
        "| - Training Time : ",
        r"^\| - Training Time : (?P<seconds>[\d.]+) s",
        duration_s=_SECONDS,
        detail=Value(const="completed"),
    ),
    _phase(
        "completed_old",
        "loop",
        "end",
        "Training time: ",
        r"^Training time: (?P<seconds>[\d.]+)s$",
        duration_s=_SECONDS,
        detail=Value(const="completed"),
    ),
    known_line("seed", ("eed set to ",), r"^(?:\[rank: \d+\] )?(?:Global seed|Seed) set to \d+$"),
    known_line("verifying", ("Verifying settings ...",), r"^Verifying settings \.\.\.$"),
    known_line(
        "flops",
        ("Measured TFLOPs: ",),
        r"^Measured TFLOPs: [\d.]+$",
        note="Operations of one micro-batch on all devices: no rate.",
    ),
    Pattern(
        name="trainable",
        table="facts",
        literals=("Number of trainable parameters: ", "Number of non-trainable parameters: "),
        regex=r"^Number of (?P<key>(?:non-)?trainable) parameters: (?P<value>[\d,]+)$",
        columns={
            "key": Value("key", mapping={"trainable": "params_trainable", "non-trainable": "params_frozen"}),
            "value": Value("value"),
        },
    ),
    known_line("memory", ("Memory used: ",), r"^Memory used: [\d.]+ GB$"),
    known_line(
        "summary",
        (
            "| - Total tokens ",
            "| - Input Tokens ",
            "| - Tok/sec ",
            "| - Memory Used ",
            "| Token Counts",
            "| Performance",
            "| Memory Usage",
        ),
        r"^\| (?:- (?:Total tokens|Input Tokens|Tok/sec|Memory Used)\b|Token Counts|Performance|Memory "
        "Usage)",
        note="The rate divides all tokens by a time of the system's clock, not by the length: it is not "
        "read.",
    ),
)

FORMAT = Format(
    name="litgpt",
    title="litgpt, console",
    link="https://github.com/Lightning-AI/litgpt/blob/main/litgpt/pretrain.py",
    role="trainer",
    patterns=PATTERNS,
    step_time="The time of the last micro-batch alone, which also makes the optimizer step: neither a "
    "mean, nor with evaluations, saves or most waits for data. `metrics.csv` beside it has a clock, and "
    "counts where the console was not kept.",
    deciding=("step", "eval_end", "completed"),
    unrendered="No line carries a time, and the printed one is that of a single micro-batch: no story "
    "could come out of it exactly.",
    versions=_ALL,
)
