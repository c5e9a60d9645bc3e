"""The event tables of what was measured: parts of steps, traces, collective operations, and devices."""

from __future__ import annotations

from pipeline.table import Column, Table

TIMERS = Table(
    "timers",
    "one row per component time inside a step",
    (
        Column("step", "int64", "step, if the line says"),
        Column("component", "string", "name of the timer as printed"),
        Column("min_s", "double", "smallest over ranks, in seconds"),
        Column("max_s", "double", "largest over ranks, in seconds"),
        Column("mean_s", "double", "mean or single value, in seconds"),
    ),
)

PROFILES = Table(
    "profiles",
    "one row per kind of work of a device in the span of a profiler's trace; exposed times of a device add "
    "up to its span, busy times do not",
    (
        Column("gpu", "string", "GPU index or identity"),
        Column("first_step", "int64", "first step of the trace that it names"),
        Column("last_step", "int64", "last step of the trace that it names"),
        Column("span_s", "double", "from the first activity of the device to its last, in seconds"),
        Column("component", "string", "compute, communication, copy or idle"),
        Column(
            "kind",
            "string",
            "kernel; all_reduce, all_gather, reduce_scatter, all_to_all, send_recv, broadcast, …; htod, "
            "dtoh, dtod, set; of idle time late_launch (the processor had not asked yet), queued (it had), "
            "not_known",
        ),
        Column("process_group", "string", "group of ranks that a collective ran in, if the trace says"),
        Column("busy_s", "double", "time in which such an activity ran, whatever else did, in seconds"),
        Column(
            "exposed_s",
            "double",
            "the part of it in which nothing of more use ran: computing before communication before copying; "
            "of several at a time the first counts; in seconds",
        ),
        Column("calls", "int64", "activities, or stretches of idle time"),
        Column("bytes", "int64", "bytes that they moved on this rank, where the trace says"),
    ),
)

COLLECTIVES = Table(
    "collectives",
    "one row per line about collective operations: one of them, or a row or a head of a table of them",
    (
        Column(
            "record",
            "string",
            "operation (one of a training); summary, stragglers or benchmark (head of a table); kind (names "
            "the operation of the rows below); row (of a summary or a table of stragglers, as the nearest "
            "head above says); measurement (row of a benchmark)",
        ),
        Column("operation", "string", "operation as printed, such as all_reduce"),
        Column("size", "string", "size of a message as printed: `2.0 MB`, in units of 1,024; else bytes"),
        Column("calls", "int64", "operations that a row of a table stands for"),
        Column(
            "total_s",
            "double",
            "time of all of them, in seconds: of a summary on this rank, of a table of stragglers on the "
            "fastest",
        ),
        Column("fourth", "double", "fourth number of a row as printed; what it is, the head above says"),
        Column("fifth", "double", "fifth number of a row as printed"),
        Column("sixth", "double", "sixth number of a row as printed"),
        Column("mean_s", "double", "time of one operation, in seconds"),
        Column("bus_bytes_per_s", "double", "bus bandwidth of it, in bytes per second"),
    ),
)

TELEMETRY = Table(
    "telemetry",
    "one row per sampled value of a device; after 1,000 samples of one metric of one device in one file, one "
    "a minute is kept",
    (
        Column("gpu", "string", "GPU index or identity"),
        Column(
            "pci",
            "string",
            "PCI address of the GPU, where the sample names it: lower case, domain:bus:device",
        ),
        Column(
            "metric",
            "string",
            "gpu_util, memory_util, sm_active, sm_occupancy, tensor_active, dram_active, power, temperature, "
            "memory_temperature, memory_used, sm_clock, memory_clock, …; the name as printed of what is not "
            "common to several sources",
        ),
        Column("value", "double", "value; shares as 0 to 1"),
        Column("unit", "string", "ratio, W, C, MHz, MiB, bytes_per_s, count, …"),
    ),
)
