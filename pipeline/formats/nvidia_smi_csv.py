"""Samples that ``nvidia-smi --query-gpu=… --format=csv`` prints, with or without units."""

from __future__ import annotations

from pipeline.formats._gpu_metrics import UNRENDERED, Metric, metric_patterns, names_of, numbers_of
from pipeline.formats.format import Derived, Format, Pattern, Value


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

_OF_A_DEVICE = {
    "ts": Value("timestamp", "stamp", stamp="iso"),
    "gpu": Value(("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id")),
    "pci": Value(("pci.bus_id", "gpu_bus_id"), "pci"),
}


def _reasons(name: str) -> tuple[str, str]:
    """Return the columns of a reason that holds the clock down; drivers since 535 call them events."""
    return (f"clocks_throttle_reasons.{name}", f"clocks_event_reasons.{name}")


#: All reasons at once, as a sum of bits in hexadecimal.
_BITS = {text: str(bits) for bits in range(1024) for text in (f"0x{bits:016x}", f"0x{bits:016X}")}

#: The reasons that are faults, each in a column of its own: the bit that it has in the sum.
_SLOWDOWNS = {
    "hw_slowdown": 8,
    "sw_thermal_slowdown": 32,
    "hw_thermal_slowdown": 64,
    "hw_power_brake_slowdown": 128,
}


def _reason(name: str, metric: str, bits: dict[str, str]) -> Pattern:
    """Return the pattern of a column that tells why a clock is held down."""
    return Pattern(
        name=name,
        table="telemetry",
        when=(name,),
        columns={
            **_OF_A_DEVICE,
            "metric": Value(const=metric),
            "value": Value(name, "float", mapping=bits),
            "unit": Value(const="bits"),
        },
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
        *_reasons("active"),
        *(column for name in _SLOWDOWNS for column in _reasons(name)),
    ),
    header_min=2,
    derive={
        **numbers_of(METRICS),
        "reasons": Derived(_reasons("active"), r"^\s*(?P<v>0x[0-9A-Fa-f]+)"),
        **{name: Derived(_reasons(name), r"^\s*(?P<v>Active|Not Active)") for name in _SLOWDOWNS},
    },
    unrendered=UNRENDERED,
    patterns=(
        *metric_patterns(METRICS, _OF_A_DEVICE),
        _reason("reasons", "throttle_reasons", _BITS),
        *(_reason(name, name, {"Active": str(bit), "Not Active": "0"}) for name, bit in _SLOWDOWNS.items()),
    ),
)
