"""TensorBoard: the values of one tag as CSV, as its page downloads them."""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value

STEP_TIME = (
    "There is none: a row carries the time at which a value was written. What lies between two rows holds "
    "evaluations, saves and waits for data too."
)
UNRENDERED = "It is an export of what the trainer logs elsewhere."
NOTE = (
    "Which value it is only the name of the file says, so none is read. Events of restarts are merged: a "
    "step that goes back marks one. A spreadsheet that saved the file again may have rounded the times away."
)

FORMAT = Format(
    name="tensorboard_scalars",
    title="TensorBoard, scalars as CSV",
    link="https://github.com/tensorflow/tensorboard/blob/master/tensorboard/plugins/scalar/scalars_plugin.py",
    role="trainer",
    shape="csv",
    header=("Wall time", "Step", "Value"),
    header_min=3,
    patterns=(
        Pattern(
            name="scalar",
            table="steps",
            when=("Wall time", "Step"),
            columns={
                "ts": Value("Wall time", "stamp", stamp="epoch_s"),
                "step_last": Value("Step", "int"),
                "ts_edge": Value(const="end"),
            },
            versions="1.0 to 2.20",
            note=NOTE,
        ),
    ),
    step_time=STEP_TIME,
    step_time_excludes_stalls=False,
    unrendered=UNRENDERED,
    versions="1.0 to 2.20",
)
