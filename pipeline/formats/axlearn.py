"""axlearn, console: lines of absl, of which those of the trainer name process and step."""

from __future__ import annotations

from pipeline.formats._axlearn_events import ALL, EVENTS, HEAD, RANK, STEP, TRAINER
from pipeline.formats.format import Format, Pattern, Value, known_line

STEPS = (
    Pattern(
        name="step",
        table="steps",
        versions=ALL,
        literals=("] loss=",),
        regex=TRAINER + r"loss=(?P<loss>-?[\d.]+(?:e[+-]?\d+)?|nan|inf) aux=",
        columns={
            "rank": RANK,
            "step_last": STEP,
            "ts_edge": Value(const="end"),
            "loss": Value(group="loss", kind="float"),
        },
        extras={
            "grad_norm": (
                r"'(?:learner/)?gradient_norm': (?P<v>[\d.]+(?:e[+-]?\d+)?|nan|inf)",
                Value(group="v", kind="float"),
            )
        },
        note="Printed at steps 1 to 5 and at every hundredth, by every process, when the loss is there: the "
        "end of the step. Saves and evaluations of the step come after it.",
    ),
    Pattern(
        name="step_time",
        table="timers",
        versions=ALL,
        literals=("] Average step time: ",),
        regex=TRAINER + r"Average step time: (?P<seconds>[\d.]+(?:e[+-]?\d+)?) seconds",
        columns={
            "rank": RANK,
            "step": STEP,
            "component": Value(const="average step time"),
            "mean_s": Value(group="seconds", kind="float"),
        },
        note="Over the last hundred steps of the process, with everything that the loop did meanwhile.",
    ),
)

FACTS = (
    Pattern(
        name="devices",
        table="facts",
        versions=ALL,
        literals=("] Devices: global=",),
        regex=TRAINER + r"Devices: global=(?P<value>\d+) local=",
        columns={"rank": RANK, "key": Value(const="world_size"), "value": Value(group="value")},
    ),
    Pattern(
        name="parameters",
        table="facts",
        versions=ALL,
        literals=("] Total number of model params: ",),
        regex=TRAINER + r"Total number of model params: (?P<value>[\d,]+)",
        columns={
            "rank": RANK,
            "key": Value(const="params"),
            "value": Value(group="value", kind="int"),
        },
    ),
)

KNOWN = (
    known_line(
        "watchdog",
        ("Watchdog triggered because step has not incremented in the last ", "NOTE: this is not an error "),
        r"Watchdog triggered because step has not incremented in the last |^\s*NOTE: this is not an error ",
        versions=ALL,
        note="A help for people who look for a hang: the program may go on.",
    ),
    known_line(
        "trainer_texts",
        (
            "] Model param spec: ",
            "] Learner state spec: ",
            "] Global mesh: ",
            "] State: ",
            "] ## ",
            "] Training state size: ",
            "] #########",
            "] Initializing trainer state.",
            "] Restored checkpoint at ",
        ),
        TRAINER
        + r"(?:Model param spec: |Learner state spec: |Global mesh: |State: |## |Training state size: "
        r"|#{9}|Initializing trainer state\.|Restored checkpoint at )",
        versions=ALL,
    ),
    known_line(
        "texts",
        (
            "] Creating directories: [",
            "] All directories created",
            "] Garbage collection done on ",
            "] Successfully built trainer state: ",
            "] host_input_batch=",
            "] Devices: [",
            "] DATA_DIR=",
            "atchdog_thread",
            "gc_thread",
        ),
        HEAD + r"(?:Creating directories: \[|All directories created|Garbage collection done on "
        r"|Successfully built trainer state: |host_input_batch=|Devices: \[|DATA_DIR="
        r"|(?:Waiting for )?(?:watchdog|gc)_thread (?:to finish|finished))",
        versions=ALL,
    ),
)

FORMAT = Format(
    name="axlearn",
    title="axlearn, console",
    link="https://github.com/apple/axlearn/blob/main/axlearn/common/trainer.py",
    role="trainer",
    patterns=(*STEPS, *EVENTS, *FACTS, *KNOWN),
    step_time="No time of a step is printed, but every hundred steps the mean of the last hundred rounds of "
    "the loop: waiting for data, the blocking part of saves and evaluations are inside.",
    step_time_excludes_stalls=False,
    deciding=("step", "step_time", "process_start", "devices", "loop_end", "flushed"),
    versions=ALL,
)
