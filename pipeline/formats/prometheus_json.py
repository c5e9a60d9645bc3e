"""Answers of Prometheus about metrics of accelerators: ``query_range`` and ``query`` as JSON."""

from __future__ import annotations

from pipeline.formats._gpu_metrics import EXPORTED_NAMES, EXPORTED_UNITS, PERCENT_NAMES, UNRENDERED
from pipeline.formats.format import Derived, Format, Pattern, Value

_NAME = "metric/__name__"
_SHARE = r"^(?P<v>DCGM_FI_\w+_UTIL)$"
_OTHER = r"^(?P<v>DCGM_FI_\w*(?:[^L\W]|[^I\W]L|[^T\W]IL|[^U\W]TIL|[^_\W]UTIL))$"


def _series(name: str, field: str, columns: dict[str, Value], *, each: bool) -> Pattern:
    """Return the pattern of the values of a series, or of the one value that an instant query gives."""
    time, value = ("*/0", "*/1") if each else ("value/0", "value/1")
    return Pattern(
        name=name,
        table="telemetry",
        when=(field, value),
        each="values" if each else "",
        columns={
            "ts": Value(time, "stamp", stamp="epoch_s"),
            "host": Value(("metric/Hostname", "metric/hostname", "metric/node")),
            "gpu": Value("metric/gpu"),
            "pci": Value("metric/pci_bus_id", "pci"),
            **{
                key: Value(value, "float", scale=v.scale) if key == "value" else v
                for key, v in columns.items()
            },
        },
    )


_PERCENT = {
    "metric": Value("share", mapping=PERCENT_NAMES),
    "value": Value(scale=0.01),
    "unit": Value(const="ratio"),
}
_PLAIN = {
    "metric": Value("other", mapping=EXPORTED_NAMES),
    "value": Value(),
    "unit": Value("other", mapping=EXPORTED_UNITS),
}

FORMAT = Format(
    name="prometheus_json",
    title="Answers of Prometheus (query_range as JSON)",
    link="https://prometheus.io/docs/prometheus/latest/querying/api/",
    role="node",
    shape="document",
    versions="API v1; metrics of dcgm-exporter 2.0 to 4.4",
    elements=("document/data/result/[]",),
    header=('"resultType"', '"__name__"', "DCGM_FI_"),
    header_min=3,
    derive={"share": Derived((_NAME,), _SHARE), "other": Derived((_NAME,), _OTHER)},
    unrendered=UNRENDERED,
    patterns=(
        _series("percent", "share", _PERCENT, each=True),
        _series("sample", "other", _PLAIN, each=True),
        _series("percent_now", "share", _PERCENT, each=False),
        _series("sample_now", "other", _PLAIN, each=False),
    ),
)
