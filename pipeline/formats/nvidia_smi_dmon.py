"""Samples that ``nvidia-smi dmon`` prints in columns; which columns there are is the choice of ``-s``.

Without ``-o DT`` or ``-o T`` the samples have no time. Samples of processes (``pmon``) are not read.
"""

from __future__ import annotations

from pipeline.formats._gpu_metrics import UNRENDERED, Metric, metric_patterns, numbers_of
from pipeline.formats.format import Format, Value

METRICS = (
    Metric(("pwr",), "power", "W"),
    Metric(("gtemp", "temp"), "temperature", "C"),
    Metric(("mtemp",), "memory_temperature", "C"),
    Metric(("sm",), "gpu_util", "ratio", 0.01),
    Metric(("mem",), "memory_util", "ratio", 0.01),
    Metric(("mclk",), "memory_clock", "MHz"),
    Metric(("pclk",), "sm_clock", "MHz"),
    Metric(("fb",), "memory_used", "MiB"),
    Metric(("rxpci",), "pcie_rx", "bytes_per_s", 1e6),
    Metric(("txpci",), "pcie_tx", "bytes_per_s", 1e6),
    Metric(("sbecc",), "ecc_corrected", "count"),
    Metric(("dbecc",), "ecc_uncorrected", "count"),
    Metric(("pviol",), "power_violation", "ratio", 0.01),
    Metric(("tviol",), "thermal_violation", "number"),
)

FORMAT = Format(
    name="nvidia_smi_dmon",
    title="Samples of GPUs in columns (nvidia-smi dmon)",
    link="https://docs.nvidia.com/deploy/nvidia-smi/index.html",
    role="node",
    shape="columns",
    versions="driver 418 to 580",
    # What `pmon` prints as well proves nothing.
    header=(
        *("pwr", "gtemp", "mtemp", "mclk", "pclk", "bar1", "ccpm", "rxpci", "txpci"),
        *("sbecc", "dbecc", "pviol", "tviol"),
    ),
    header_min=2,
    derive=numbers_of(METRICS),
    unrendered=UNRENDERED,
    patterns=metric_patterns(METRICS, {"ts": Value("Time", "stamp", stamp="iso"), "gpu": Value("gpu")}),
)
