"""modded-nanogpt: a log that begins with the program itself and a table of GPUs."""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value, known_line

_STEP = Value(group="step", kind="int")
_END = Value(const="end")
_LOSS = Value(group="loss", kind="float")
_MODDED = "2024-10 to 2026-08"
_OF = r"^step:(?P<step>\d+)/(?P<target>\d+)"


def _modded_step(name: str, loss: str, clock: str, scale: float) -> Pattern:
    """Return the pattern of a step line whose clock is printed in some unit."""
    return Pattern(
        name=name,
        table="steps",
        versions=_MODDED,
        literals=(" train_time:",),
        regex=_OF + rf"{loss} train_time:{clock}"
        r" step_avg:(?:(?P<mean>[\d.]+)|nan)ms\s*$",
        columns={
            "step_last": _STEP,
            "step_target": Value(group="target", kind="int"),
            "ts_edge": _END,
            "step_time_s": Value(group="mean", kind="float", scale=1e-3),
            "elapsed_s": Value(group="clock", kind="float", scale=scale),
            "loss": _LOSS,
        },
        note="The clock stands still during validations. Until 2025-01 it was set to zero after ten steps.",
    )


MODDED = (
    _modded_step("modded_step", r"(?: train_loss:(?P<loss>[\d.naif]+))?", r"(?P<clock>\d+)ms", 1e-3),
    # The track of optimizers prints no steps between validations.
    _modded_step("modded_stretch", r" val_loss:[\d.naif]+(?P<loss>)", r"(?P<clock>[\d.]+)s", 1.0),
    Pattern(
        name="modded_eval",
        table="phases",
        versions=_MODDED,
        literals=(" val_loss:",),
        regex=_OF + r" val_loss:[\d.naif]+ train_time:\d+ms step_avg:(?:[\d.]+|nan)ms\s*$",
        columns={"phase": Value(const="eval"), "edge": _END, "step": _STEP},
    ),
    Pattern(
        name="modded_start",
        table="phases",
        versions=_MODDED,
        literals=("Running pytorch ", "Running PyTorch "),
        regex=r"^Running [Pp]y[Tt]orch (?P<detail>\S+) compiled for CUDA",
        columns={
            "phase": Value(const="process_start"),
            "edge": Value(const="point"),
            "detail": Value("detail"),
        },
    ),
    Pattern(
        name="smi_time",
        table="phases",
        versions=_MODDED,
        literals=(" 20",),
        regex=r"^(?P<ts>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d 20\d\d)\s*$",
        columns={
            "ts": Value(group="ts", kind="stamp", stamp="ctime"),
            "phase": Value(const="process_start"),
            "edge": Value(const="point"),
            "detail": Value(const="nvidia-smi"),
        },
        note="Of the table of GPUs that is printed at the start: the only time in the log.",
    ),
    Pattern(
        name="smi_gpu",
        table="facts",
        versions=_MODDED,
        literals=("  NVIDIA ",),
        regex=r"^\|\s+\d+\s+(?P<value>NVIDIA [\w .-]*\w)\s+(?:On|Off)\s+\|",
        columns={"key": Value(const="gpu_model"), "value": Value("value")},
    ),
    Pattern(
        name="modded_compile",
        table="phases",
        versions="2026-01 to 2026-08",
        literals=("Compiling model and warming up kernels",),
        regex=r"^Compiling model and warming up kernels",
        columns={"phase": Value(const="compile"), "edge": Value(const="point")},
    ),
    Pattern(
        name="modded_end",
        table="phases",
        versions=_MODDED,
        literals=("peak memory ",),
        regex=r"^peak memory (?:allocated|consumption): \d+ MiB",
        columns={
            "phase": Value(const="loop"),
            "edge": Value(const="end"),
            "detail": Value(const="completed"),
        },
    ),
    known_line(
        "smi_table",
        ("|", "+--"),
        r"^(?:\+[-=+]+\+|\|[-=+|]+$|\| (?:NVIDIA-SMI|GPU |Fan |Processes:| GPU|N/A )|\|\s+\d+ +N/A"
        r"|\|\s{8,}(?:\||ID ))",
        _MODDED,
    ),
    known_line(
        "modded_set_up",
        (
            "Running python ",
            "Running Python ",
            "Running Triton ",
            "Sampling steps ",
            "Resetting Model",
            "====",
        ),
        r"^(?:Running (?:[Pp]ython|Triton version) \d|Sampling steps \[|Resetting Model|={100}$)",
        _MODDED,
    ),
)
