"""Results of nccl-tests: the bandwidth of a collective over sizes of messages, before or beside a training.

Bus bandwidth is what compares with the peak of a link. No line has a time.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

#: Errors of a row are a count, or in older releases a power of ten: never with a point.
#: Size, count, type, and for most collectives the operation and the root.
_TYPE = r"(?:u?int(?:8|32|64)|half|float|double|bfloat16|fp8e\dm\d|f8e\dm\d)"
_ROW = rf"^ {{2,}}(?P<size>\d+) {{2,}}\d+ +{_TYPE} +(?:\S+ +)??(?:-?\d+ +)?"
_WRONG = r"(?:N/A|\d+(?:e[+-]?\d+)?)"
_TIMES = rf"[\d.]+ +[\d.]+ +[\d.]+ +{_WRONG}"

FORMAT = Format(
    name="nccl_tests",
    title="Bandwidth tests of NCCL (nccl-tests)",
    link="https://github.com/NVIDIA/nccl-tests",
    role="node",
    versions="2.0 to 2.17",
    deciding=("collective", "settings", "average", "device"),
    least_share=0.2,
    unrendered="A measurement of the machine: no training is in it.",
    patterns=(
        # 8589934592 2147483648 float sum -1 63896 134.44 235.26 0 63959 134.30 235.03 0, in and out of place
        Pattern(
            name="bandwidth",
            table="collectives",
            literals=("float", "half", "int", "double", "bfloat16", "fp8e", "f8e"),
            regex=rf"{_ROW}{_TIMES} +{_TIMES}\s*$",
            each=rf" (?P<time>[\d.]+) +(?P<algorithm>\d+\.\d+) +(?P<bus>\d+\.\d+) +{_WRONG}(?: |$)",
            columns={
                "record": Value(const="measurement"),
                "size": Value("size"),
                "mean_s": Value("time", "float", scale=1e-6),
                "bus_bytes_per_s": Value("bus", "float", scale=1e9),
            },
            note="Two rows a line: out of place and in place. Small messages measure latency, not the link.",
        ),
        Pattern(
            name="average",
            table="facts",
            literals=("# Avg bus bandwidth    : ",),
            regex=r"^# Avg bus bandwidth    : (?P<value>[\d.]+)\s*$",
            columns={"key": Value(const="nccl_tests_avg_bus_bandwidth_gb_per_s"), "value": Value("value")},
            note="The mean over all sizes, small ones included: no figure of the link.",
        ),
        Pattern(
            name="device",
            table="facts",
            literals=("#  Rank ", "#   Rank "),
            regex=r"^# +Rank +\d+ (?:Group +\d+ )?Pid +\d+ on +(?P<host>\S+) device +\d+ \[\S+\] "
            r"(?P<model>.+?)\s*$",
            columns={"key": Value(const="gpu_model"), "value": Value("model"), "host": Value("host")},
        ),
        Pattern(
            name="collective",
            table="collectives",
            versions="2.17",
            literals=("# Collective test starting: ",),
            regex=r"^# Collective test starting: (?P<operation>\w+?)_perf",
            columns={"record": Value(const="benchmark"), "operation": Value("operation")},
        ),
        known_line(
            "settings",
            ("# nThread ",),
            r"^# nThread \d+ nGpus \d+ minBytes \d+ maxBytes \d+ ",
        ),
        known_line(
            "head",
            ("#",),
            r"^#(?:\s*$| Using devices| nccl-tests version | Out of bounds values : "
            r"| Collective test concluded"
            r"| Some NCCL operations| Reducing maxBytes to |\s+out-of-place +in-place|\s+size +count +type "
            r"|\s+\(B\) +\(elements\) )",
        ),
    ),
)
