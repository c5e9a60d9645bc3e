"""The log of IBM Storage Scale on a node (``mmfs.log.latest``): mounts, leases, expelled nodes.

The host is the name of the file. Of the storage clients it is the only one with a log of its own here: NFS,
Lustre, BeeGFS, Weka and Ceph speak through the kernel.
"""

from __future__ import annotations

from pipeline.formats.format import Format, known_line

FORMAT = Format(
    name="gpfs",
    title="IBM Storage Scale client (GPFS, mmfs.log)",
    link="https://www.ibm.com/docs/en/storage-scale",
    role="node",
    versions="3.5 to 5.2",
    deciding=("line", "line_ctime"),
    least_share=0.2,
    unrendered="The simulator tells of lost storage as the kernel does.",
    patterns=(
        # 2026-03-01_10:11:12.003+0000: [E] File system fs1 unmounted by the system with return code 217 …
        known_line(
            "line",
            (": [I] ", ": [N] ", ": [W] ", ": [E] ", ": [X] ", ": [A] ", ": [D] "),
            r"^\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}: \[[INWEXAD]\] ",
            "4.1 to 5.2",
        ),
        known_line(
            "line_ctime",
            (": [I] ", ": [N] ", ": [W] ", ": [E] ", ": [X] ", ": [A] ", ": [D] "),
            r"^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\.\d{3} \d{4}: \[[INWEXAD]\] ",
            "3.5",
        ),
        known_line(
            "script",
            ("mmfs", "mmautoload", "mmstartup", "mmshutdown", "runmmfs"),
            r"^(?:\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}:|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d "
            r"\d\d:\d\d:\d\d \w+ \d{4}:) (?:runmmfs|mmautoload|mmfs\w*|mmstartup|mmshutdown)\b",
        ),
    ),
)
