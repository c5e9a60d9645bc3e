"""The event tables: one schema each, with the meaning and unit of every column.

An event row says what one line of a log says, and where that line is. Nothing here needs a
neighbouring line, a configuration or a clock: context is added by ``sql/staging``.
All times are UTC microseconds. A time whose zone or year the line does not print is stored as printed
(as if it were UTC, with year 1972 where the year is missing) and marked so in ``ts_quality``; staging
corrects it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TS = pa.timestamp("us", tz="UTC")

#: How the time of a row is known. Ingest writes the first four and ``uptime``; staging the others.
TS_QUALITIES = ("logged", "zone_assumed", "year_assumed", "none", "uptime", "derived", "anchored")

#: Stands in for a year that the line does not print; a leap year, so that 29 February parses.
PLACEHOLDER_YEAR = 1972


@dataclass(frozen=True, slots=True)
class Column:
    """One column: Arrow type and what a value means, with its unit."""

    name: str
    type: pa.DataType
    meaning: str


@dataclass(frozen=True, slots=True)
class Table:
    """One event table: what a row is, and its columns after the provenance columns."""

    name: str
    grain: str
    own: tuple[Column, ...]
    provenance: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns in order, provenance first."""
        return (*PROVENANCE, *self.own) if self.provenance else self.own

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the Parquet parts."""
        return pa.schema([(c.name, c.type) for c in self.columns])


PROVENANCE = (
    Column("source_id", pa.string(), "file the row was read from; key of `sources`"),
    Column("line", pa.int64(), "physical line in that file, from 1 (record number for record files)"),
    Column("segment", pa.int32(), "part of the line between carriage returns, from 0"),
    Column("format", pa.string(), "format whose pattern matched"),
    Column("pattern", pa.string(), "name of that pattern"),
    Column("ts_raw", pa.string(), "time as printed; null when the line carries none"),
    Column("ts", TS, "time as printed, read as UTC; see ts_quality"),
    Column("ts_quality", pa.string(), "how the time is known"),
    Column("host", pa.string(), "host that printed the line, where the line tells"),
    Column("rank", pa.int32(), "rank or task that printed the line, where the line tells"),
)

_S, _I, _F, _B = pa.string(), pa.int64(), pa.float64(), pa.bool_()

SOURCES = Table(
    "sources",
    "one row per input file",
    (
        Column("source_id", _S, "key: stable name of the file inside the log folder, hashed"),
        Column("path", _S, "path below the log folder"),
        Column("format", _S, "format that the file was taken for; `unknown` when none fits"),
        Column("format_score", _F, "share of sampled lines, 0 to 1, that the format's patterns know"),
        Column("runner_up", _S, "next best format"),
        Column("role", _S, "trainer, scheduler, checkpoint, node, mixed or unknown"),
        Column("job_id", _S, "job that wrote the file, from its content or its name"),
        Column("bytes", _I, "size on disk in bytes"),
        Column("lines", _I, "physical lines, or records of a record file"),
        Column("parsed_lines", _I, "lines of which at least one pattern knows the meaning"),
        Column("unknown_lines", _I, "lines that no pattern knows"),
        Column("bad_lines", _I, "torn or undecodable lines: claimed by a format and not readable"),
        Column("first_ts", TS, "earliest time printed, as printed"),
        Column("last_ts", TS, "latest time printed, as printed"),
        Column("zone", _S, "zone that the stamps are read in: a name, or `logged`, or `UTC (assumed)`"),
        Column("clock_offset_s", _F, "seconds by which this file's clock runs ahead, where it was found"),
        Column("content_hash", _S, "hash of the decompressed bytes"),
        Column("parser_version", _S, "hash of the patterns that read the file"),
        Column("duplicate_of", _S, "path of the file with the same content that was read instead"),
        Column("error", _S, "why the file could not be read, or null"),
    ),
    provenance=False,
)

STEPS = Table(
    "steps",
    "one row per step line",
    (
        Column("step_last", _I, "last training step that the line stands for"),
        Column("step_target", _I, "step at which the run means to stop, where the line prints it"),
        Column("steps", _I, "number of steps that the line stands for, if the line says"),
        Column("step_time_s", _F, "mean time per step as printed, in seconds"),
        Column("ts_edge", _S, "`end` where the stamp is the end of the step, `begin` where it is its start"),
        Column("tokens", _I, "tokens of the span, if the line says"),
        Column("samples", _I, "samples of the span, if the line says"),
        Column("consumed_samples", _I, "samples consumed since the start of the training"),
        Column("batch_size", _I, "global batch size in samples"),
        Column("tokens_per_s", _F, "tokens per second, whole run"),
        Column("tokens_per_s_per_gpu", _F, "tokens per second and accelerator"),
        Column("samples_per_s", _F, "samples per second, whole run"),
        Column("tflops_per_gpu", _F, "model TFLOP/s per accelerator as printed"),
        Column("mfu", _F, "model FLOPs utilisation as printed, 0 to 1"),
        Column("loss", _F, "training loss"),
        Column("grad_norm", _F, "gradient norm"),
        Column("skipped", _I, "steps of the span whose update was skipped"),
        Column("nan", _I, "steps of the span with a NaN"),
        Column("world_size", _I, "accelerators, if the line says"),
    ),
)

PHASES = Table(
    "phases",
    "one row per begin, end, span or point of a phase that is not a step",
    (
        Column(
            "phase",
            _S,
            "process_start, init, library_setup, data_setup, model_setup, compile, loop, eval, data_wait, "
            "warmup, block (a stretch of training), gc, profile, shutdown, exit, driver_end, job, custom",
        ),
        Column("edge", _S, "begin, end, span (ts is its start) or point"),
        Column("duration_s", _F, "length of the phase in seconds, if the line says"),
        Column("step", _I, "step the line names"),
        Column("detail", _S, "text that tells more: reason of an exit, name of a custom phase"),
    ),
)

CHECKPOINTS = Table(
    "checkpoints",
    "one row per begin, end or span of a save or a load",
    (
        Column("op", _S, "save, load or delete"),
        Column(
            "edge",
            _S,
            "begin; blocked (the loop goes on, the save is not durable yet); end (durable, or loaded); "
            "span (ts is the start of the blocking part); none (nothing to load: a cold start)",
        ),
        Column("step", _I, "training step saved or restored"),
        Column("blocking_s", _F, "seconds for which the loop stood still, if the line says"),
        Column("background_s", _F, "seconds of the part beside the loop, if the line says"),
        Column("path", _S, "directory"),
        Column("ok", _B, "false where the line says that it failed"),
        Column("tier", _S, "persistent, local or memory"),
    ),
)

ALLOCATIONS = Table(
    "allocations",
    "one row per allocation record of a scheduler (job records only, never their steps)",
    (
        Column("scheduler", _S, "slurm, …"),
        Column("cluster", _S, "cluster, if the record says"),
        Column(
            "job_id", _S, "job id without step or array brackets: the plain numeric id where there is one"
        ),
        Column("restart_no", _I, "restart counter, if the record says"),
        Column("name", _S, "job name"),
        Column("user", _S, "user"),
        Column("account", _S, "account"),
        Column("qos", _S, "quality of service"),
        Column("partition", _S, "partition or queue"),
        Column("submit_ts", TS, "submitted; as printed"),
        Column("eligible_ts", TS, "eligible to run; as printed"),
        Column("start_ts", TS, "allocated; as printed, null when it never ran"),
        Column("end_ts", TS, "released; as printed, null when it still ran at the export"),
        Column("elapsed_s", _F, "elapsed seconds as the record says, suspension taken off"),
        Column("suspended_s", _F, "seconds suspended"),
        Column("time_limit_s", _F, "time limit in seconds"),
        Column("state", _S, "state, upper case, without `by uid`"),
        Column("state_by", _S, "uid of who cancelled it"),
        Column("exit_code", _I, "exit code as printed"),
        Column("exit_signal", _I, "signal as printed"),
        Column("reason", _S, "reason or failed node"),
        Column("nodes", pa.list_(_S), "hosts"),
        Column("n_nodes", _I, "number of hosts"),
        Column("gpus", _I, "accelerators; null when the record does not say"),
    ),
)

NODES = Table(
    "nodes",
    "one row per state change of a node",
    (
        Column("state", _S, "up, down, drained, draining, maint"),
        Column("reason", _S, "reason as printed"),
    ),
)

SIGNALS = Table(
    "signals",
    "one row per line that is evidence of a fault or of an end; after 1,000 rows of one signal in one "
    "file a single row with `repeats` stands for the rest",
    (
        Column("signal_id", _S, "row of the signal catalogue"),
        Column("job_id", _S, "job that the line names"),
        Column("node", _S, "host that the line speaks of, where it names one"),
        Column("gpu", _S, "GPU index or identity as printed"),
        Column("pci", _S, "PCI address, lower case, domain:bus:device"),
        Column("device", _S, "other device: port, switch, file system, path"),
        Column("code", _S, "number that the line carries: Xid, exit code, signal, status"),
        Column("waited_s", _F, "seconds that a watchdog says it waited"),
        Column("fault_rank", pa.int32(), "rank that the line speaks of, where it names one"),
        Column("text", _S, "the line, cut at 500 characters"),
        Column("repeats", _I, "lines that this row stands for"),
        Column("last_line", _I, "last line that this row stands for"),
    ),
)

TIMERS = Table(
    "timers",
    "one row per component time inside a step",
    (
        Column("step", _I, "step, if the line says"),
        Column("component", _S, "name of the timer as printed"),
        Column("min_s", _F, "smallest over ranks, in seconds"),
        Column("max_s", _F, "largest over ranks, in seconds"),
        Column("mean_s", _F, "mean or single value, in seconds"),
    ),
)

TELEMETRY = Table(
    "telemetry",
    "one row per sampled value of a device",
    (
        Column("gpu", _S, "GPU index or identity"),
        Column("metric", _S, "name of the metric"),
        Column("value", _F, "value"),
        Column("unit", _S, "unit"),
    ),
)

FACTS = Table(
    "facts",
    "one row per configuration value that a log reveals",
    (
        Column(
            "key",
            _S,
            "world_size, nodes, hidden_size, ffn_hidden_size, num_layers, num_attention_heads, "
            "num_query_groups, seq_length, vocab_size, global_batch_size, micro_batch_size, tensor_parallel, "
            "pipeline_parallel, context_parallel, data_parallel, log_interval, train_iters, save_interval, "
            "async_save, params, gpu_model, peak_flops_per_gpu, job_id, run_name, dtype, nccl_timeout_s, …",
        ),
        Column("value", _S, "value as printed"),
    ),
)

TEMPLATES = Table(
    "templates",
    "one row per shape of line that no pattern knows, in a bounded sample of each file",
    (
        Column("source_id", _S, "file"),
        Column("template", _S, "the line with its variable parts masked"),
        Column("count", _I, "lines of the sample with this shape"),
        Column("example", _S, "one of them, cut at 500 characters"),
        Column("example_line", _I, "its line number"),
    ),
    provenance=False,
)

#: Every event table by name, in the order in which documents show them.
EVENT_TABLES: dict[str, Table] = {
    t.name: t
    for t in (
        SOURCES,
        STEPS,
        PHASES,
        CHECKPOINTS,
        ALLOCATIONS,
        NODES,
        SIGNALS,
        TIMERS,
        TELEMETRY,
        FACTS,
        TEMPLATES,
    )
}
