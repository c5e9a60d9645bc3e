"""The log of NVIDIA's fabric manager, and of its relative of the same shape, the IMEX daemon.

Which NVSwitch failed, and how, is in the catalogue of signals. Times are local and without a zone.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

_LEVELS = ("CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")

FORMAT = Format(
    name="fabric_manager",
    title="NVIDIA fabric manager and IMEX daemon",
    link="https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
    role="node",
    versions="fabric manager 450 to 580",
    deciding=("line",),
    least_share=0.2,
    unrendered="The simulator writes faults of the fabric as kernel messages of the hosts.",
    patterns=(
        # [Apr 09 2026 05:42:17] [ERROR] [tid 852] detected NVSwitch fatal error 20034 on fid 0 …
        known_line(
            "line",
            tuple(f"] [{level}] [tid " for level in _LEVELS),
            r"^\[[A-Z][a-z]{2} [ \d]\d \d{4} \d\d:\d\d:\d\d\] "
            rf"\[(?:{'|'.join(_LEVELS)})\] \[tid \d+\](?: |$)",
        ),
        # What an in-band message holds stands on a line of its own, without a time.
        known_line("payload", ("Message payload details:",), r"^Message payload details:"),
        Pattern(
            name="version",
            table="facts",
            columns={"key": Value(const="fabric_manager_version"), "value": Value("version")},
            literals=("Fabric Manager version is : ",),
            regex=r"^Fabric Manager version is : (?P<version>[\d.]+)\s*$",
        ),
        # Before the log is open, and on the console of a daemon that cannot start.
        known_line(
            "console",
            (
                *("Fabric Manager Log initializing at: ", "Connected to 1 node.", "NV_WARN_NOTHING_TO_DO"),
                "detected number of NVSwitches",
            ),
            r"^(?:Fabric Manager Log initializing at: |Connected to 1 node\.|detected number of NVSwitches "
            r"|request to query NVSwitch device information )",
        ),
    ),
)
