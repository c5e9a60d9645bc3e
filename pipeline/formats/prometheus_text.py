"""What an exporter of accelerators answers when it is scraped: one value a line, in Prometheus' text format.

A scrape rarely carries a time. A file of several scrapes without any can say what was measured, not when.
"""

from __future__ import annotations

from pipeline.formats._gpu_metrics import EXPORTED_NAMES, EXPORTED_UNITS, PERCENT_NAMES, UNRENDERED
from pipeline.formats.format import Format, Pattern, Value, known_line

#: A name of DCGM that does not end as those of shares in per cent do.
_NO_PERCENT = r"DCGM_FI_\w*(?:[^L\W]|[^I\W]L|[^T\W]IL|[^U\W]TIL|[^_\W]UTIL)"
_REST = r"\{.*\} (?P<value>[-+.\w]+)(?: (?P<ms>\d{13}))?\s*$"


def _sample(name: str, literal: str, metric: str, columns: dict[str, Value], note: str = "") -> Pattern:
    """Return the pattern of values whose names an expression matches."""
    return Pattern(
        name=name,
        table="telemetry",
        literals=(literal,),
        regex=rf"^(?P<metric>{metric}){_REST}",
        columns={"ts": Value("ms", "stamp", stamp="epoch_ms"), **columns},
        extras={
            "gpu": (r'\bgpu="(?P<v>[^"]*)"', Value()),
            "pci": (r'\bpci_bus_id="(?P<v>[^"]+)"', Value(kind="pci")),
            "host": (r'\b(?:Hostname|hostname|node)="(?P<v>[^"]+)"', Value()),
        },
        versions="dcgm-exporter 2.0 to 4.4",
        note=note,
    )


FORMAT = Format(
    name="prometheus_text",
    title="Scrape of an exporter of accelerators (Prometheus text)",
    link="https://prometheus.io/docs/instrumenting/exposition_formats/",
    role="node",
    versions="text format 0.0.4, OpenMetrics 1.0; dcgm-exporter 2.0 to 4.4",
    deciding=("percent", "sample"),
    least_share=0.2,
    unrendered=UNRENDERED,
    patterns=(
        _sample(
            "percent",
            "_UTIL{",
            r"DCGM_FI_\w+_UTIL",
            {
                "metric": Value("metric", mapping=PERCENT_NAMES),
                "value": Value("value", "float", scale=0.01),
                "unit": Value(const="ratio"),
            },
        ),
        _sample(
            "sample",
            "DCGM_FI_",
            _NO_PERCENT,
            {
                "metric": Value("metric", mapping=EXPORTED_NAMES),
                "value": Value("value", "float"),
                "unit": Value("metric", mapping=EXPORTED_UNITS),
            },
            "Energy keeps its printed name and its millijoules.",
        ),
        known_line("comment", ("# HELP ", "# TYPE ", "# UNIT ", "# EOF"), r"^# (?:HELP|TYPE|UNIT|EOF)\b"),
        # Other programs of a node are scraped into the same file.
        known_line(
            "other",
            ("node_", "process_", "go_", "promhttp_", "python_", "nvidia_"),
            r"^(?:node|process|go|promhttp|python|nvidia)_\w+(?:\{.*\})? [-+.\w]+(?: \d{13})?\s*$",
        ),
    ),
)
