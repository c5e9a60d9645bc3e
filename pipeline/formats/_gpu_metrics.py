"""One name and one unit for what several monitors of accelerators measure, and patterns that use them.

Shares are 0 to 1, whatever the monitor prints. A metric that only one monitor knows keeps its printed name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.formats.format import Derived, Pattern, Value

#: Why no monitor has a console of its own in the simulator.
UNRENDERED = "A monitor is no trainer; the simulator writes samples of DCGM as a table beside a training."


@dataclass(frozen=True, slots=True)
class Metric:
    """A column of a monitor: its names, what it measures, and the factor that brings it to the unit."""

    fields: tuple[str, ...]
    metric: str
    unit: str
    scale: float = 1.0


def _percent(metric: str, *fields: str) -> Metric:
    """Return a share that is printed in per cent."""
    return Metric(fields, metric, "ratio", 0.01)


#: Fields of DCGM: the name in an exporter and the name in the columns of `dcgmi dmon`.
DCGM_FIELDS = (
    _percent("gpu_util", "DCGM_FI_DEV_GPU_UTIL", "GPUTL"),
    _percent("memory_util", "DCGM_FI_DEV_MEM_COPY_UTIL", "MCUTL"),
    Metric(("DCGM_FI_DEV_POWER_USAGE", "POWER"), "power", "W"),
    Metric(("DCGM_FI_DEV_GPU_TEMP", "TMPTR"), "temperature", "C"),
    Metric(("DCGM_FI_DEV_MEMORY_TEMP", "MMTMP"), "memory_temperature", "C"),
    Metric(("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "TOTEC"), "energy", "J", 1e-3),
    Metric(("DCGM_FI_DEV_SM_CLOCK", "SMCLK"), "sm_clock", "MHz"),
    Metric(("DCGM_FI_DEV_MEM_CLOCK", "MMCLK"), "memory_clock", "MHz"),
    Metric(("DCGM_FI_DEV_FB_USED", "FBUSD"), "memory_used", "MiB"),
    Metric(("DCGM_FI_DEV_FB_FREE", "FBFRE"), "memory_free", "MiB"),
    Metric(("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "GRACT"), "engine_active", "ratio"),
    Metric(("DCGM_FI_PROF_SM_ACTIVE", "SMACT"), "sm_active", "ratio"),
    Metric(("DCGM_FI_PROF_SM_OCCUPANCY", "SMOCC"), "sm_occupancy", "ratio"),
    Metric(("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "TENSO"), "tensor_active", "ratio"),
    Metric(("DCGM_FI_PROF_DRAM_ACTIVE", "DRAMA"), "dram_active", "ratio"),
    Metric(("DCGM_FI_PROF_PCIE_TX_BYTES", "PCITX"), "pcie_tx", "bytes_per_s"),
    Metric(("DCGM_FI_PROF_PCIE_RX_BYTES", "PCIRX"), "pcie_rx", "bytes_per_s"),
    Metric(("DCGM_FI_PROF_NVLINK_TX_BYTES", "NVLTX"), "nvlink_tx", "bytes_per_s"),
    Metric(("DCGM_FI_PROF_NVLINK_RX_BYTES", "NVLRX"), "nvlink_rx", "bytes_per_s"),
    Metric(("DCGM_FI_DEV_XID_ERRORS", "XIDER"), "last_xid", "number"),
    Metric(("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "ESVTL"), "ecc_corrected", "count"),
    Metric(("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "EDVTL"), "ecc_uncorrected", "count"),
    Metric(("DCGM_FI_DEV_PCIE_REPLAY_COUNTER",), "pcie_replays", "count"),
    # why the clock is held down, as a sum of bits: NVML's nvmlClocksEventReasons
    Metric(
        ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DVCCTR"),
        "throttle_reasons",
        "bits",
    ),
)

#: Names of an exporter in the words of the table, and their units; shares in per cent are not among them.
_EXPORTED = {name: m for m in DCGM_FIELDS for name in m.fields if name.startswith("DCGM_") and m.scale == 1.0}
EXPORTED_NAMES = {name: m.metric for name, m in _EXPORTED.items()}
EXPORTED_UNITS = {name: m.unit for name, m in _EXPORTED.items()} | {"*": ""}
PERCENT_NAMES = {m.fields[0]: m.metric for m in DCGM_FIELDS if m.scale == 0.01}


def numbers_of(metrics: Iterable[Metric]) -> dict[str, Derived]:
    """Return for each metric a field of its name that holds its number; a dash or a word leaves it null."""
    return {m.metric: Derived(m.fields, r"^\s*(?P<v>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)") for m in metrics}


def metric_patterns(metrics: Iterable[Metric], columns: Mapping[str, Value]) -> tuple[Pattern, ...]:
    """Return a pattern for each metric of a wide table; ``columns`` say when and of which device it is."""
    return tuple(
        Pattern(
            name=m.metric,
            table="telemetry",
            when=(m.metric,),
            columns={
                **columns,
                "metric": Value(const=m.metric),
                "value": Value(m.metric, "float", scale=m.scale),
                "unit": Value(const=m.unit),
            },
        )
        for m in metrics
    )


def names_of(metrics: Iterable[Metric]) -> tuple[str, ...]:
    """Return all names under which the columns of metrics appear."""
    return tuple(name for m in metrics for name in m.fields)
