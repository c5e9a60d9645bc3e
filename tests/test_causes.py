"""The taxonomy of causes: whole, able to say what studies count, and each with a place in every scheme."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatch

from pipeline.project import read_seed
from tests.catalogue import CAUSES, KINDS, SIGNALS

SCHEMES = read_seed("schemes")

#: What published studies count, by the names that they use.
PUBLISHED = {
    "Llama 3": {
        *("Faulty GPU", "GPU HBM3 Memory", "Software Bug", "Network Switch/Cable", "Host Maintenance"),
        *(
            "GPU SRAM Memory",
            "GPU System Processor",
            "NIC",
            "NCCL Watchdog Timeouts",
            "Silent Data Corruption",
        ),
        *("GPU Thermal Interface + Sensor", "SSD", "Power Supply", "Server Chassis", "IO Expansion Board"),
        *("Dependency", "CPU", "System Memory"),
    },
    "ByteRobust": {
        *("CUDA Error", "CPU Overload", "CPU OOM", "Insufficient Disk Space", "InfiniBand Error"),
        *("Filesystem Mount", "HDFS Error", "Container Error", "OS Kernel Panic", "GPU Memory Error"),
        *("External Service Error", "GPU Unavailable", "Disk Fault", "Job Hang", "MFU Decline", "NaN value"),
        "Code/Data Adjustment",
    },
    "AcmeTrace": {
        *("NVLink Error", "CUDA Error", "Node Failure", "ECC Error", "Network Error", "Connection Error"),
        *("S3 Storage Error", "NCCL Timeout", "NCCL Remote Error", "Dataloader Killed", "Attribute Error"),
        *("Out of Memory", "Runtime Error", "Assertion Error", "Value Error", "File Not Found", "OS Error"),
        *("Type Error", "Name Error", "Permission Error", "Import Error", "Key Error", "Syntax Error"),
        "Index Error",
    },
    "Kokolis": {"IB links", "filesystem mounts", "GPU memory", "PCIe"},
}


def test_the_taxonomy_can_express_what_studies_count() -> None:
    named = [name for row in CAUSES for name in row["reference"].split("; ") if name]
    assert [name for name, count in Counter(named).items() if count > 1] == []
    missing = [
        f"{study}: {name}"
        for study, names in PUBLISHED.items()
        for name in sorted(names)
        if f"{study}: {name}" not in named
    ]
    assert missing == []


def test_every_cause_has_a_place_in_every_scheme() -> None:
    """One rule for all lines of a cause, and rules for some; an empty class says that the scheme has none."""
    general = Counter((row["scheme"], row["cause"]) for row in SCHEMES if not row["signals"])
    assert general == {(scheme, row["code"]): 1 for scheme in PUBLISHED for row in CAUSES}
    rules = Counter((row["scheme"], row["cause"], row["signals"]) for row in SCHEMES)
    assert [rule for rule, count in rules.items() if count > 1] == []


def test_every_class_of_a_scheme_has_a_cause() -> None:
    found = {(row["scheme"], row["class"]) for row in SCHEMES if row["class"]}
    # Of a file system that no line is known of.
    unreached = {("ByteRobust", "HDFS Error")}
    published = {(scheme, name) for scheme, names in PUBLISHED.items() for name in names}
    assert published - found == unreached


def test_rules_of_schemes_name_signals_of_their_cause() -> None:
    names = {row["signal_id"]: row["cause"] for row in SIGNALS}
    wrong = [
        row
        for row in SCHEMES
        if row["signals"]
        and row["cause"]
        not in {names[name] for name in names if fnmatch(name, row["signals"].replace("%", "*"))}
    ]
    assert wrong == []


def test_causes_are_whole() -> None:
    owners = {
        "cluster operations",
        "training framework",
        "model team",
        "scheduler and capacity",
        "storage",
        "network",
    }
    wrong = [
        row["code"]
        for row in CAUSES
        if row["owner"] not in owners
        or row["layer"] not in ("infrastructure", "framework", "program", "planned", "unknown")
        or row["kind"] not in ("unplanned", "planned", "preemption", "completed", "unknown")
        or not all(row[column] for column in ("domain", "title", "meaning", "first_action"))
    ]
    assert wrong == []
    assert len(KINDS) == len(CAUSES)


def test_every_cause_of_a_fault_has_a_signal_or_says_why_not() -> None:
    """Some causes come from the scheduler's state, from measures or from the absence of evidence."""
    without = {"completed", "in_progress", "unknown", "host_overload", "slowdown"}
    # What else a line about used-up memory says decides whose memory it was.
    without |= {"gpu_occupied"}
    used = {row["cause"] for row in SIGNALS}
    assert {row["code"] for row in CAUSES} - used - without == set()
