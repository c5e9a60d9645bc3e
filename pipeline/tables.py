"""The event tables: one schema each, with the meaning and unit of every column.

An event row says what one line of a log says, and where that line is. Nothing here needs a neighbouring
line, a configuration or a clock: context is added by ``sql/staging``. All times are UTC microseconds. A time
whose zone or year the line does not print is stored as printed (as if it were UTC, with year 1972 where the
year is missing) and marked so in ``ts_quality``; staging corrects it.
"""

from __future__ import annotations

from pipeline.habits import FORMATS
from pipeline.measures import COLLECTIVES, PROFILES, TELEMETRY, TIMERS
from pipeline.table import PROVENANCE, Column, Table, Type

__all__ = ["EVENT_TABLES", "PLACEHOLDER_YEAR", "PROVENANCE", "TS_QUALITIES", "Column", "Table", "Type"]

#: How the time of a row is known. Ingest writes the first four and ``uptime``; staging the others.
TS_QUALITIES = ("logged", "zone_assumed", "year_assumed", "none", "uptime", "derived", "anchored")

#: Stands in for a year that the line does not print; a leap year, so that 29 February parses.
PLACEHOLDER_YEAR = 1972


SOURCES = Table(
    "sources",
    "one row per input file",
    (
        Column("source_id", "string", "key: stable name of the file inside the log folder, hashed"),
        Column("path", "string", "path below the log folder"),
        Column("format", "string", "format that the file was taken for; `unknown` when none fits"),
        Column("format_score", "double", "share of sampled lines, 0 to 1, that the format's patterns know"),
        Column("runner_up", "string", "next best format"),
        Column("role", "string", "trainer, scheduler, checkpoint, node, mixed or unknown"),
        Column("job_id", "string", "job that wrote the file, from its content or its name"),
        Column("bytes", "int64", "size on disk in bytes"),
        Column("lines", "int64", "physical lines, or records of a record file"),
        Column("parsed_lines", "int64", "lines of which at least one pattern knows the meaning"),
        Column("unknown_lines", "int64", "lines that no pattern knows"),
        Column("bad_lines", "int64", "torn or undecodable lines: claimed by a format and not readable"),
        Column("first_ts", "timestamp", "earliest time printed, as printed"),
        Column("last_ts", "timestamp", "latest time printed, as printed"),
        Column("zone", "string", "zone that the stamps are read in: a name, or `logged`, or `UTC (assumed)`"),
        Column(
            "clock_offset_s", "double", "seconds by which this file's clock runs ahead, where it was found"
        ),
        Column("content_hash", "string", "hash of the decompressed bytes"),
        Column("parser_version", "string", "hash of the patterns that read the file"),
        Column("duplicate_of", "string", "path of the file with the same content that was read instead"),
        Column("error", "string", "why the file could not be read, or null"),
    ),
    provenance=False,
)

STEPS = Table(
    "steps",
    "one row per step line",
    (
        Column("step_last", "int64", "last training step that the line stands for"),
        Column("step_target", "int64", "step at which the run means to stop, where the line prints it"),
        Column("steps", "int64", "number of steps that the line stands for, if the line says"),
        Column("step_time_s", "double", "mean time per step as printed, in seconds"),
        Column("elapsed_s", "double", "seconds since the loop of this process began, where the line says"),
        Column(
            "ts_edge",
            "string",
            "`end` where the stamp is the end of the step, `begin` where its start, `late` where it is some "
            "time after the end, and the line maybe behind those of later steps",
        ),
        Column("tokens", "int64", "tokens of the span, if the line says"),
        Column("samples", "int64", "samples of the span, if the line says"),
        Column("consumed_samples", "int64", "samples consumed since the start of the training"),
        Column("batch_size", "int64", "global batch size in samples"),
        Column("tokens_per_s", "double", "tokens per second, whole run"),
        Column("tokens_per_s_per_gpu", "double", "tokens per second and accelerator"),
        Column("samples_per_s", "double", "samples per second, whole run"),
        Column("tflops_per_gpu", "double", "model TFLOP/s per accelerator as printed"),
        Column("mfu", "double", "model FLOPs utilisation as printed, 0 to 1"),
        Column("loss", "double", "training loss"),
        Column("grad_norm", "double", "gradient norm"),
        Column("skipped", "int64", "steps of the span whose update was skipped"),
        Column("nan", "int64", "steps of the span with a NaN"),
        Column("world_size", "int64", "accelerators, if the line says"),
    ),
)

PHASES = Table(
    "phases",
    "one row per begin, end, span or point of a phase that is not a step",
    (
        Column(
            "phase",
            "string",
            "process_start, init, library_setup, data_setup, model_setup, compile, loop, eval, data_wait, "
            "warmup, block (a stretch of training), gc, profile, shutdown, exit, driver_end, job, custom",
        ),
        Column("edge", "string", "begin, end, span (ts is its start) or point"),
        Column("duration_s", "double", "length of the phase in seconds, if the line says"),
        Column("step", "int64", "step the line names"),
        Column("detail", "string", "text that tells more: reason of an exit, name of a custom phase"),
    ),
)

CHECKPOINTS = Table(
    "checkpoints",
    "one row per begin, end or span of a save or a load",
    (
        Column("op", "string", "save, load or delete"),
        Column(
            "edge",
            "string",
            "begin; blocked (the loop goes on, the save is not durable yet); end (durable, or loaded); "
            "span (ts is the start of the blocking part); none (nothing to load: a cold start)",
        ),
        Column("step", "int64", "training step saved or restored"),
        Column("blocking_s", "double", "seconds for which the loop stood still, if the line says"),
        Column("background_s", "double", "seconds of the part beside the loop, if the line says"),
        Column("path", "string", "directory"),
        Column("ok", "bool", "false where the line says that it failed"),
        Column("tier", "string", "persistent, local or memory"),
    ),
)

ALLOCATIONS = Table(
    "allocations",
    "one row per allocation record of a scheduler (job records only, never their steps)",
    (
        Column("scheduler", "string", "slurm, …"),
        Column("cluster", "string", "cluster, if the record says"),
        Column("job_id", "string", "job id without its step: a plain number, or `4420[3]` of an array"),
        Column("restart_no", "int64", "restart counter, if the record says"),
        Column(
            "part",
            "string",
            "kind and name of the part of the job that the record stands for (`pod/…`, `replicas/…`), where "
            "several make up one allocation; `report` of a line of a report in a job's output; `task` where "
            "it only tells of a host on which the job ran",
        ),
        Column("name", "string", "job name"),
        Column("user", "string", "user"),
        Column("account", "string", "account"),
        Column("qos", "string", "quality of service"),
        Column("partition", "string", "partition or queue"),
        Column("submit_ts", "timestamp", "submitted; as printed"),
        Column("eligible_ts", "timestamp", "eligible to run; as printed"),
        Column("start_ts", "timestamp", "allocated; as printed, null when it never ran"),
        Column("end_ts", "timestamp", "released; as printed, null when it still ran at the export"),
        Column("elapsed_s", "double", "elapsed seconds as the record says, suspension taken off"),
        Column("suspended_s", "double", "seconds suspended"),
        Column("time_limit_s", "double", "time limit in seconds"),
        Column("state", "string", "state, upper case, without `by uid`"),
        Column("state_by", "string", "uid of who cancelled it"),
        Column("exit_code", "int64", "exit code as printed"),
        Column("exit_signal", "int64", "signal as printed"),
        Column("reason", "string", "reason or failed node"),
        Column("nodes", "strings", "hosts"),
        Column("n_nodes", "int64", "number of hosts"),
        Column("slots", "int64", "processors or slots, where the record counts so"),
        Column("gpus", "int64", "accelerators; null when the record does not say"),
        Column("gpus_per_node", "int64", "accelerators on each host, where the record tells no sum"),
        Column(
            "gpus_asked",
            "int64",
            "accelerators that were asked for by host or by slot, where the record does not say by which",
        ),
    ),
)

NODES = Table(
    "nodes",
    "one row per state change of a node",
    (
        Column("state", "string", "up, down, drained, draining, maint"),
        Column("until_ts", "timestamp", "end of the state, if the record says; as printed"),
        Column("reason", "string", "reason as printed"),
    ),
)

SIGNALS = Table(
    "signals",
    "one row per line of a fault or an end; one with `repeats` stands for those past 1,000 in a file",
    (
        Column("signal_id", "string", "row of the signal catalogue"),
        Column("job_id", "string", "job that the line names"),
        Column("node", "string", "host that the line speaks of, where it names one"),
        Column("gpu", "string", "GPU index or identity as printed"),
        Column("pci", "string", "PCI address, lower case, domain:bus:device"),
        Column("device", "string", "other device: port, switch, file system, path"),
        Column("code", "string", "number that the line carries: Xid, exit code, signal, status"),
        Column("waited_s", "double", "seconds that a watchdog says it waited"),
        Column("fault_rank", "int32", "rank that the line speaks of, where it names one"),
        Column("task", "int32", "task of a launcher whose number `rank` is, for want of a better one"),
        Column("uncaught", "bool", "true where PyTorch says that nothing caught it: its process ended"),
        Column("text", "string", "the line, cut at 500 characters"),
        Column("repeats", "int64", "lines that this row stands for"),
        Column("last_line", "int64", "last line that this row stands for"),
    ),
)

FACTS = Table(
    "facts",
    "one row per configuration value that a log reveals",
    (
        Column(
            "key",
            "string",
            "world_size, nodes, hidden_size, ffn_hidden_size, num_layers, num_attention_heads, "
            "num_query_groups, seq_length, vocab_size, global_batch_size, micro_batch_size, tensor_parallel, "
            "pipeline_parallel, context_parallel, data_parallel, log_interval, train_iters, save_interval, "
            "async_save, params, gpu_model, peak_flops_per_gpu, job_id, run_name, dtype, nccl_timeout_s, …",
        ),
        Column("value", "string", "value as printed"),
    ),
)

TEMPLATES = Table(
    "templates",
    "one row per shape of line that no pattern knows, in a bounded sample of each file",
    (
        Column("source_id", "string", "file"),
        Column("template", "string", "the line with its variable parts masked"),
        Column("count", "int64", "lines of the sample with this shape"),
        Column("example", "string", "one of them, cut at 500 characters"),
        Column("example_line", "int64", "its line number"),
    ),
    provenance=False,
)

#: Every event table by name, in the order in which documents show them.
EVENT_TABLES: dict[str, Table] = {
    t.name: t
    for t in (
        SOURCES,
        FORMATS,
        STEPS,
        PHASES,
        CHECKPOINTS,
        ALLOCATIONS,
        NODES,
        SIGNALS,
        TIMERS,
        PROFILES,
        COLLECTIVES,
        TELEMETRY,
        FACTS,
        TEMPLATES,
    )
}
