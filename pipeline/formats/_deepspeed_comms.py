"""DeepSpeed: what its logger of communication prints, operation by operation and as a summary.

A summary (``deepspeed.comm.log_summary``) is a plain print of rank 0: a head, and for each operation its name
on a line of its own, below it a row for each size of message. Columns are padded to 20 characters. It counts
from the start of the process, or from where the program cleared it. Rows of the table of stragglers look like
those of the summary: the nearest head above tells them apart.
"""

from __future__ import annotations

from pipeline.formats.format import Pattern, Value, known_line

#: Operations of ``deepspeed.comm``; in debug mode the name of the caller follows.
_NAMES = (
    r"(?:(?:inference_)?all_reduce(?:_coalesced)?|all_gather(?:_into_tensor|_coalesced|_object)?|reduce(?:_scatter"
    r"(?:_tensor)?)?|all_to_all(?:_single)?|broadcast(?:_object_list)?|gather|scatter|isend|irecv"
    r"|(?:monitored_|log_summary_)?barrier)"
)
_CALLER = r"(?: \| \[Caller Func: [^\]]*\])?"
_NUMBER = r"\d[\d.]*(?:e[+-]?\d+)?"

COMMUNICATION = (
    Pattern(
        name="communication",
        table="timers",
        versions="0.6 to 0.18",
        literals=("comm op: ",),
        regex=rf"(?:^|\] |\| )comm op: (?P<component>\w+){_CALLER} \| time \(ms\): (?P<mean>[\d.]+)",
        columns={
            "component": Value(group="component"),
            "mean_s": Value(group="mean", kind="float", scale=1e-3),
        },
        note="Printed only while communication is measured, which makes every operation wait for the others.",
    ),
    Pattern(
        name="bandwidth",
        table="collectives",
        beside=True,
        versions="0.6 to 0.18",
        literals=("busbw (Gbps): ",),
        regex=rf"(?:^|\] |\| )comm op: (?P<operation>\w+){_CALLER} \| time \(ms\): (?P<mean>[\d.]+)"
        r" \| msg size: (?P<size>[\d.]+ ?\w*B) \|.* \| busbw \(Gbps\): (?P<bandwidth>[\d.]+)",
        columns={
            "record": Value(const="operation"),
            "operation": Value(group="operation"),
            "size": Value(group="size"),
            "mean_s": Value(group="mean", kind="float", scale=1e-3),
            "bus_bytes_per_s": Value(group="bandwidth", kind="float", scale=1.25e8),
        },
        note="It takes the world for the group, so that it is right for collectives of all ranks alone.",
    ),
    Pattern(
        name="summary",
        table="collectives",
        versions="0.6 to 0.18",
        literals=("Comm. Op            ",),
        regex=r"^Comm\. Op {12}Message Size {8}Count {15}Total Latency\(ms\) ",
        columns={"record": Value(const="summary")},
        note="Counts from the start of the process, or from where the program cleared it.",
    ),
    Pattern(
        name="stragglers",
        table="collectives",
        versions="0.10 to 0.18",
        literals=("Comm. Op            ",),
        regex=r"^Comm\. Op {12}Message Size {8}Count {15}Total comm lat\(ms\) ",
        columns={"record": Value(const="stragglers")},
    ),
    Pattern(
        name="summary_operation",
        table="collectives",
        versions="0.6 to 0.18",
        literals=("reduce", "gather", "all_to_all", "broadcast", "scatter", "isend", "irecv", "barrier"),
        regex=rf"^(?P<operation>{_NAMES}){_CALLER}\s*$",
        columns={"record": Value(const="kind"), "operation": Value(group="operation")},
        note="The rows that follow are of this operation.",
    ),
    known_line(
        "summary_point_to_point",
        ("send", "recv"),
        rf"^(?:send|recv){_CALLER}\s*$",
        versions="0.6 to 0.18",
        note="Words that millions of lines of NCCL hold, so that they are only known: rows two lines below "
        "what is told before them are of an operation without a name.",
    ),
    Pattern(
        name="summary_row",
        table="collectives",
        versions="0.6 to 0.18",
        literals=("                    ",),
        regex=rf"^ {{20}}(?P<size>\d[\d.]*(?: [KMGTP]?B|B)) +(?P<calls>\d+) +(?P<total>{_NUMBER})"
        rf" +(?P<fourth>-?{_NUMBER}) +(?P<fifth>-?{_NUMBER}) +(?P<sixth>-?{_NUMBER})\s*$",
        columns={
            "record": Value(const="row"),
            "size": Value(group="size"),
            "calls": Value(group="calls", kind="int"),
            "total_s": Value(group="total", kind="float", scale=1e-3),
            "fourth": Value(group="fourth", kind="float"),
            "fifth": Value(group="fifth", kind="float"),
            "sixth": Value(group="sixth", kind="float"),
        },
        note="Of a summary: all calls, then means without their outer tenths: latency (ms), rate of the "
        "operation and of the bus (Gbit/s). Of a table of stragglers: all calls of the fastest rank, what "
        "rank 0 waited beyond it (ms), and the same as means.",
    ),
    known_line(
        "stragglers_title",
        (
            "Breakdown with straggler effect",
            "_______________________________",
            "-------------------------------",
        ),
        r"^Breakdown with straggler effect|^_{31}\s*$|^-{31}\s*$",
        versions="0.10 to 0.18",
    ),
)
