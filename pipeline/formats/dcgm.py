"""What ``dcgmi`` prints of the health of accelerators, and the log of its host engine.

The catalogue of signals knows the sentences. Tables of ``dcgmi diag`` and ``dcgmi health`` break sentences at
the width of a column and carry no time: such a file says what was found, not when. A violated policy and the
host engine are stamped.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_RESULTS = r"(?:Pass|Fail|Skip|Warn|Healthy|Failure)"
_TITLES = (
    "Warning",
    "Error",
    "Info",
    "DCGM Version",
    "GPU Device IDs Detected",
    "Diagnostic",
    "GPU",
    "NvSwitch",
)
_MONTH_DAY = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"

FORMAT = Format(
    name="dcgm",
    title="DCGM: diagnostics, health and policies (dcgmi), host engine",
    link="https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/dcgm-diagnostics.html",
    role="node",
    versions="DCGM 2.0 to 4.4",
    deciding=("diag", "health", "policy_begin", "host_engine"),
    least_share=0.2,
    unrendered="Tables of findings without a time; the kernel log of the host tells of the same faults.",
    patterns=(
        known_line(
            "diag",
            ("Successfully ran diagnostic for group",),
            r"^Successfully ran diagnostic for group\b",
            note="Says that it ran; what it found stands below.",
        ),
        known_line(
            "health",
            ("| Health Monitor Report", "| Overall Health "),
            rf"^\| (?:Health Monitor Report +\|$|Overall Health +\| (?:{_RESULTS}|Warning) *\|$)",
        ),
        Pattern(
            name="driver",
            table="facts",
            columns={"key": Value(const="driver_version"), "value": Value("driver")},
            literals=("| Driver Version Detected ",),
            regex=r"^\| Driver Version Detected +\| (?P<driver>[\d.]+) *\|$",
        ),
        # | GPU Memory                | Fail - GPU: 3                                  |
        known_line(
            "result",
            ("| Pass", "| Fail", "| Skip", "| Warn"),
            r"^\| (?:[A-NP-Z]|O[^v])[\w /.-]*? +\| (?:Pass|Fail|Skip|Warn)(?: - [^|]*)? *\|$",
        ),
        known_line(
            "cell",
            (*(f"| {title} " for title in _TITLES), "|      "),
            rf"^\|(?: (?:{'|'.join(_TITLES)}))? +\| (?:[^PFSW|]|P[^a]|F[^a]|S[^k]|W[^a]| +\|$)[^|]*\|?$",
        ),
        known_line("tree", ("-> ",), r"^\| +-> [^|]+\|[^|]*\|$|^\| -> [^|]+\|[^|]*\|$"),
        known_line(
            "rule", ("+--", "+==", "|--"), r"^(?:\+[-=]{27}\+[-=]{40,}\+|\|-{5,}  \w[\w ]+  -[-+]*\|)$"
        ),
        known_line("policy_begin", ("Listening for violations",), r"^Listening for violations\."),
        known_line("policy_time", ("Timestamp: ",), rf"^Timestamp: {_MONTH_DAY}\s*$"),
        known_line(
            "policy",
            ("violated policy manager values", "error count: ", "XID error: "),
            r"^(?:\w.* has violated policy manager values\.|(?:DBE|NVLink|PCIe replay) .*?count: \d+"
            r"|DBE error count: \d+|XID error: \d+)",
        ),
        # 2026-03-01 10:11:12.003 ERROR [852:901] [[Health]] … [/src/Health.cpp:12] [DcgmHealth::Check]
        known_line(
            "host_engine",
            (" ERROR [", " WARN  [", " INFO  [", " DEBUG [", " FATAL ["),
            r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (?:ERROR|WARN |INFO |DEBUG|FATAL) \[\d+:\d+\] ",
        ),
    ),
)
