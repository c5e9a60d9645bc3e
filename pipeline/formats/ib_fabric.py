"""InfiniBand as its own tools see it: the subnet manager's log, ``ibdiagnet``, and ``ibstat`` of a host.

The subnet manager logs the whole fabric: its host is no host of a fault. What the catalogue of signals knows
are ports that are down or flap; what a switch saw of a link is known here and carries nothing.
"""

from __future__ import annotations

from pipeline.formats.format import Format, known_line

FORMAT = Format(
    name="ib_fabric",
    title="InfiniBand tools (opensm, ibdiagnet, ibstat)",
    link="https://github.com/linux-rdma/opensm",
    role="node",
    versions="opensm 3.3 to 5.21, ibdiagnet 1.5 to 2.13, ibstat of infiniband-diags 1.6 to 51",
    deciding=("subnet_manager", "diagnosis_begin", "adapter"),
    least_share=0.2,
    unrendered="The simulator writes faults of links as kernel messages of the hosts.",
    patterns=(
        # Mar 01 10:11:12 923315 [4E8006C0] 0x02 -> log_notice: Reporting Generic Notice type:1 …
        known_line(
            "subnet_manager",
            tuple(f"] 0x{level} -> " for level in ("01", "02", "04", "08", "10", "20", "40", "80")),
            r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{6} \[[0-9A-F]{4,16}\] 0x[0-9a-f]{2} -> ",
            note="Microseconds stand behind the seconds; no year and no zone.",
        ),
        known_line(
            "diagnosis_begin",
            ("IBDIAGNET ", "ibdiagnet"),
            r"^(?:Running version: +\"IBDIAGNET |Loading IBDIAGNET from: |ibdiagnet version |-I- IBDIAGNET )",
        ),
        # -E- S0c5f1a/N001/P12 (Switch) - …: information, warning or error of a check.
        known_line("diagnosis", ("-I- ", "-W- ", "-E- "), r"^-[IWE]- (?:[^I]|I[^B])"),
        known_line("adapter", ("CA '",), r"^CA '(?:mlx\d_\w+|hfi1_\d+|irdma\d+|\w+_\d+)'\s*$"),
        known_line(
            "adapter_field",
            ("CA type: ", "Number of ports: ", "Firmware version: ", "Hardware version: ", " GUID: "),
            r"^\s+(?:CA type|Number of ports|Firmware version|Hardware version|Node GUID|System image GUID"
            r"|Port GUID): ",
        ),
        known_line("port", ("\tPort ", "  Port "), r"^\s+Port \d+:\s*$"),
        known_line(
            "port_field",
            ("tate: ", "Rate: ", "Base lid: ", "LMC: ", "SM lid: ", "Capability mask: ", "Link layer: "),
            r"^\s+(?:State|Physical state|Rate|Base lid|LMC|SM lid|Capability mask|Link layer): ",
        ),
        # What a health checker says of a port that came back.
        known_line("flap", (" port ",), r"^mlx5_\w+ port \d+ down since \S+"),
    ),
)
