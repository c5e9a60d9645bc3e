"""Samples that ``dcgmi dmon`` prints in columns. They have no time of their own."""

from __future__ import annotations

from pipeline.formats._gpu_metrics import DCGM_FIELDS, UNRENDERED, metric_patterns, numbers_of
from pipeline.formats.format import Derived, Format, Value

#: What has a name of its own in these columns.
METRICS = tuple(metric for metric in DCGM_FIELDS if len(metric.fields) > 1)

FORMAT = Format(
    name="dcgmi_dmon",
    title="Samples of GPUs in columns (dcgmi dmon)",
    link="https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/feature-overview.html",
    role="node",
    shape="columns",
    versions="DCGM 2.0 to 4.4",
    header=("Entity", *(name for metric in METRICS for name in metric.fields[1:])),
    header_min=2,
    derive={
        **numbers_of(METRICS),
        "gpu": Derived(("Entity",), r"^GPU:(?P<v>\d+)$"),
        "elsewhere": Derived(("Entity",), r"^(?P<v>(?:[^G]|GPU-).*)$"),
    },
    unrendered=UNRENDERED,
    patterns=metric_patterns(METRICS, {"gpu": Value(("gpu", "elsewhere"))}),
)
