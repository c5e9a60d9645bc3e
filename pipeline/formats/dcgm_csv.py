"""Samples of DCGM exported as a table: a column for each field, a row for each device and time."""

from __future__ import annotations

from pipeline.formats._gpu_metrics import DCGM_FIELDS, UNRENDERED, metric_patterns, numbers_of
from pipeline.formats.format import Format, Value

FORMAT = Format(
    name="dcgm_csv",
    title="Samples of DCGM as a table",
    link="https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html",
    role="node",
    shape="csv",
    versions="exports whose columns bear the names of DCGM's fields",
    header=tuple(metric.fields[0] for metric in DCGM_FIELDS),
    header_min=1,
    derive=numbers_of(DCGM_FIELDS),
    unrendered=UNRENDERED,
    patterns=metric_patterns(
        DCGM_FIELDS,
        {
            "ts": Value(("timestamp", "time", "datetime", "ts"), "stamp", stamp="iso"),
            "host": Value(("Hostname", "host", "node", "instance")),
            "gpu": Value(("gpu", "gpu_id", "GPU-Id", "device", "UUID", "uuid")),
        },
    ),
)
