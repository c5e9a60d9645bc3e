"""TensorBoard: the values of one tag as JSON, as its page downloads them: `[[wall time, step, value], …]`."""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value
from pipeline.formats.tensorboard_scalars import NOTE, STEP_TIME, UNRENDERED

FORMAT = Format(
    name="tensorboard_json",
    title="TensorBoard, scalars as JSON",
    link="https://github.com/tensorflow/tensorboard/blob/master/tensorboard/plugins/scalar/scalars_plugin.py",
    role="trainer",
    shape="document",
    header=("[[1",),
    header_min=1,
    # Any array of three numbers looks like one: the first has to be a time of this century.
    derive={
        "wall": Derived(("0",), r"^(?P<v>1[0-9]{9}(?:\.[0-9]+)?)$"),
        "count": Derived(("1",), r"^(?P<v>[0-9]+)$"),
        "value": Derived(("2",), r"^(?P<v>-?[0-9.]+(?:e[+-]?[0-9]+)?|[Nn]a[Nn]|-?[Ii]nf(?:inity)?)$"),
    },
    patterns=(
        Pattern(
            name="scalar",
            table="steps",
            when=("wall", "count", "value"),
            columns={
                "ts": Value("wall", "stamp", stamp="epoch_s"),
                "step_last": Value("count", "int"),
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
    ordered_by_time=True,
)
