"""Samples that ``nvidia-smi --query-gpu=… --format=csv`` prints, with or without units."""

from __future__ import annotations

from pipeline.formats._gpu_metrics import UNRENDERED, Metric, metric_patterns, names_of, numbers_of
from pipeline.formats.format import Format, Value


def _named(unit: str, *names: str) -> tuple[str, ...]:
    """Return the names of a column with the unit behind them, and without."""
    return tuple(name for base in names for name in ((f"{base} [{unit}]", base) if unit else (base,)))


METRICS = (
    Metric(_named("%", "utilization.gpu"), "gpu_util", "ratio", 0.01),
    Metric(_named("%", "utilization.memory"), "memory_util", "ratio", 0.01),
    Metric(_named("W", "power.draw", "power.draw.average", "power.draw.instant"), "power", "W"),
    Metric(_named("", "temperature.gpu"), "temperature", "C"),
    Metric(_named("", "temperature.memory"), "memory_temperature", "C"),
    Metric(_named("MiB", "memory.used"), "memory_used", "MiB"),
    Metric(_named("MiB", "memory.free"), "memory_free", "MiB"),
    Metric(_named("MHz", "clocks.sm", "clocks.current.sm"), "sm_clock", "MHz"),
    Metric(_named("MHz", "clocks.mem", "clocks.current.memory"), "memory_clock", "MHz"),
    Metric(_named("", "ecc.errors.corrected.volatile.total"), "ecc_corrected", "count"),
    Metric(_named("", "ecc.errors.uncorrected.volatile.total"), "ecc_uncorrected", "count"),
    Metric(_named("", "pcie.link.width.current"), "pcie_width", "lanes"),
    Metric(_named("", "pcie.link.gen.current"), "pcie_generation", "number"),
)

FORMAT = Format(
    name="nvidia_smi_csv",
    title="Samples of GPUs as a table (nvidia-smi --query-gpu)",
    link="https://docs.nvidia.com/deploy/nvidia-smi/index.html",
    role="node",
    shape="csv",
    versions="driver 450 to 580",
    header=(
        *names_of(METRICS),
        *("timestamp", "index", "uuid", "pci.bus_id", "gpu_uuid", "gpu_bus_id", "pstate", "driver_version"),
        *_named("MiB", "memory.total"),
        *_named("W", "power.limit"),
    ),
    header_min=2,
    derive=numbers_of(METRICS),
    unrendered=UNRENDERED,
    patterns=metric_patterns(
        METRICS,
        {
            "ts": Value("timestamp", "stamp", stamp="iso"),
            "gpu": Value(("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id")),
            "pci": Value(("pci.bus_id", "gpu_bus_id"), "pci"),
        },
    ),
)
