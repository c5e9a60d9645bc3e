"""Real public logs: rows of a kind in the event tables against an independent count of lines in the bytes.

The expressions here know nothing of formats: each is what somebody would search for by hand. ``python -m
tests.test_real_counts`` prints the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb
import pytest

from pipeline.config import EMPTY_CONFIG
from pipeline.ingest import ingest

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"
pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real logs are not beside this checkout: {REAL}"
)


class Kind(NamedTuple):
    """Lines of one kind.

    Attributes:
        search: what a line of it holds.
        rows: the event table and which of its rows are of this kind.
        where: files in which it is looked for, by the beginnings of their paths.
        total: lines of it in all of them, so that no count of nothing passes.
    """

    search: str
    rows: str
    where: tuple[str, ...]
    total: int


MEGATRON = ("megatron/", "megatron-deepspeed/", "nccl/", "torchrun-failure/", "torchelastic-dir/")
BIGSCIENCE = ("megatron-deepspeed/bigscience", "megatron/bigscience", "hf-trainer/")
MLPERF = ("mlperf/",)
#: Everything but what people wrote, what is no log, and what is compressed.
LOGS = (
    *MEGATRON,
    *MLPERF,
    *("bert-perf/", "deepspeed/", "fabricmanager/", "fairseq/", "hf-trainer/", "hw-bench/", "k8s", "kernel/"),
    *("nanogpt/", "paddle/", "rl-trainer/", "slurm-", "syslog-hpc/"),
)


def signal(*names: str) -> str:
    """Return the rows of signals of some names."""
    return f"signals where signal_id in ({', '.join(repr(name) for name in (*names, ''))})"


def phase(name: str, edge: str) -> str:
    """Return the rows of an edge of a phase."""
    return f"phases where phase = '{name}' and edge = '{edge}'"


def checkpoint(op: str, edge: str) -> str:
    """Return the rows of an edge of a save or load."""
    return f"checkpoints where op = '{op}' and edge = '{edge}'"


KINDS = {
    "steps of Megatron": Kind(r"iteration +\d+/ *\d+ \|.*elapsed time per it", "steps", MEGATRON, 2740),
    "saves that begin": Kind("saving checkpoint at iteration", checkpoint("save", "begin"), MEGATRON, 28),
    "saves that end": Kind("successfully saved checkpoint", checkpoint("save", "end"), MEGATRON, 28),
    "loads that end": Kind("successfully loaded checkpoint", checkpoint("load", "end"), MEGATRON, 1),
    "removals": Kind("successfully deleted checkpoint", checkpoint("delete", "end"), MEGATRON, 21),
    "evaluations": Kind("validation loss at", phase("eval", "point"), MEGATRON, 19),
    "steps of DeepSpeed": Kind("RunningAvgSamplesPerSec", "steps", ("deepspeed/",), 736),
    "evaluations of DeepSpeed": Kind("Evaluating perplexity", phase("eval", "begin"), ("deepspeed/",), 17),
    "overflows": Kind("OVERFLOW!", signal("deepspeed_overflow"), LOGS, 141),
    "steps of fairseq": Kind(r"\| epoch \d+ \| step \d+ \|", "steps", ("fairseq/", "paddle/"), 3543),
    "steps of nanoGPT": Kind(r"^s:\d+ trl:", "steps", ("nanogpt/modded",), 29096),
    "evaluations of nanoGPT": Kind(r"^s:\d+ tel:", phase("eval", "end"), ("nanogpt/modded",), 156),
    "bars of HF": Kind(r"\| \d+/\d+ \[\d\d:\d\d<", "steps", ("hf-trainer/",), 40),
    "steps of BERT": Kind("Training Iteration: ", "steps", ("bert-perf/",), 9),
    "runs of MLPerf": Kind('"key": "run_(start|stop)"', "phases where phase = 'loop'", MLPERF, 28),
    "starts of MLPerf": Kind('"key": "init_start"', phase("init", "begin"), MLPERF, 3346),
    "scores of MLPerf": Kind('"key": "eval_accuracy"', "phases where pattern = 'eval_result'", MLPERF, 248),
    "evaluations of MLPerf": Kind('"key": "eval_(start|stop)"', "phases where pattern = 'eval'", MLPERF, 264),
    "tracebacks": Kind(
        r"Traceback \(most recent call last\)", signal("traceback_header", "inductor_cache_miss"), LOGS, 275
    ),
    "time limits": Kind("DUE TO TIME LIMIT", signal("slurm_time_limit"), LOGS, 10),
    "watchdogs": Kind("Watchdog caught collective operation", signal("pgnccl_watchdog_timeout"), LOGS, 100),
    "memory of a device": Kind("CUDA out of memory", signal("cuda_oom"), LOGS, 12),
    "ends of data": Kind(r"(?<!raise )StopIteration$", signal("py_stop_iteration"), LOGS, 28),
    "missing files": Kind(r"rank\d+\]: FileNotFoundError:", signal("py_file_not_found_error"), LOGS, 2),
    "missing modules": Kind("ModuleNotFoundError:", signal("py_module_not_found_error"), LOGS, 17),
    "failed children": Kind(r"errors\.ChildFailedError", signal("elastic_childfailed_exc"), LOGS, 17),
    "aborted steps": Kind("Job step aborted: Waiting up to", signal("slurm_step_aborted"), LOGS, 6),
    "crashes under jsrun": Kind(
        "terminated with signal", signal("jsrun_process_crashed", "jsrun_process_killed"), LOGS, 1
    ),
    "Xids": Kind("NVRM: Xid", "signals where signal_id like 'xid_%'", ("kernel/",), 5),
    "crashes in NCCL": Kind(r"segfault at .* in libnccl", signal("segfault_libnccl"), ("kernel/",), 2),
    "faults of switches": Kind("non-fatal error", signal("fm_nvswitch_nonfatal"), ("fabricmanager/",), 1),
    "oopses": Kind("BUG: .*NULL pointer", signal("kernel_oops_null"), ("kernel/",), 1),
    "starts of Megatron": Kind(
        r"\[after megatron is initialized\]", "phases where pattern = 'initialized'", MEGATRON, 19
    ),
    "loads of nothing": Kind("could not find the metadata file", signal("ckpt_megatron_none"), LOGS, 12),
    "stores that left": Kind(
        r"(?:recv|send)\w+ failed on SocketImpl", signal("tcpstore_recv_failed"), LOGS, 100
    ),
    "cancelled jobs": Kind(
        r"\*\*\* JOB \d+ ON \S+ CANCELLED AT [-:T\d]+ \*\*\*", signal("slurm_cancelled_job"), LOGS, 9
    ),
    "stops by keys": Kind("SIGINT's within", signal("jsrun_interrupted"), LOGS, 1),
    "tasks that ended": Kind(
        r"srun: error: \S+: tasks? \S+: (?:Exited|Killed|Terminated|Aborted)",
        "signals where signal_id = 'slurm_exit_code' or signal_id like 'slurm_task_%'"
        " and signal_id <> 'slurm_task_failure'",
        LOGS,
        40,
    ),
    "workers that failed": Kind(r"failed \(exitcode: ", signal("elastic_child_failed"), LOGS, 17),
    "exits of hosts": Kind("ssh exited with exit code", signal("pdsh_exit_code"), LOGS, 4),
    "reports of LSF": Kind(r"^Subject: Job \d+", "allocations where pattern = 'subject'", LOGS, 2),
    "mounts that failed": Kind('"reason": "FailedMount"', signal("k8s_failed_mount"), ("k8s",), 2),
    "pods without a node": Kind('"reason": "FailedScheduling"', signal("k8s_failed_scheduling"), ("k8s",), 7),
    "images": Kind('"reason": "Pull(?:ing|ed)"', "phases where pattern like 'image_pull%'", ("k8s",), 17),
    "pods": Kind('"phase": "(?:Failed|Running)"', "allocations where scheduler = 'kubernetes'", ("k8s/",), 2),
    "jobs in JSON": Kind(
        r'"job_id": \d0\b', "allocations where format = 'slurm_sacct_json'", ("slurm-sacct/",), 4
    ),
    "jobs as text": Kind(
        r"\|#(\d{6})\|#\1\|#", "allocations where format = 'slurm_sacct'", ("slurm-sacct/",), 4
    ),
    "sizes of messages": Kind(r"^ +\d+ +\d+ +float ", "collectives", ("hw-bench/",), 34),
    "devices that burned": Kind(
        r"GPU \d+: (?:OK|FAULTY)", "telemetry where metric = 'gpu_burn_faulty'", ("hw-bench/",), 8
    ),
}


#: Files in which no line is of a kind, by the beginnings of their paths, and why.
NOTHING = {
    "README.md": "tells of the others",
    "chronicle/": "written by people",
    "cluster-trace/": "sums of traces, and no job",
    "k8s/insights-node/": "a daemon's words about pods of its own, none of which is lost",
    "kernel/gpud-kmsg/": "a boot without a fault",
    "kineto/": "no lines: `test_real_split` adds up its kernels",
    "preemption-trace/": "milliseconds and names of spot instances: made for a simulator, and no format",
    "slurm-scontrol/": "partitions, which carry nothing",
    "syslog-hpc/": "no line of it is labelled as an alert",
    "tensorboard/": "binary: exports of it are read",
}


@contextmanager
def events() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the event tables of all real logs as views."""
    with TemporaryDirectory() as store, duckdb.connect() as con:
        ingest([str(REAL)], Path(store), EMPTY_CONFIG)
        for folder in sorted((Path(store) / "events").iterdir()):
            con.execute(f"create view {folder.name} as from read_parquet('{folder}/*.parquet')")
        yield con


def counts(con: duckdb.DuckDBPyConnection, kind: Kind) -> Iterator[tuple[str, int, int]]:
    """Yield files that hold lines of a kind: path, lines by searching its bytes, and lines of event rows."""
    search = re.compile(kind.search.encode())
    found = con.execute(f"""
        select s.path, count(distinct e.line)
        from sources as s
        left join (select source_id, line from {kind.rows}) as e using (source_id)
        group by all order by all
    """).fetchall()
    for path, parsed in found:
        if path.startswith(kind.where):
            # A carriage return parts what a progress bar wrote, and a line feed ends a line.
            lines = (REAL / path).read_bytes().split(b"\n")
            searched = sum(search.search(line.rstrip(b"\r")) is not None for line in lines)
            if searched or parsed:
                yield path, searched, parsed


@pytest.fixture(scope="module", name="con")
def _con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return the event tables of all real logs."""
    with events() as con:
        yield con


@pytest.mark.parametrize("name", KINDS)
def test_every_line_of_a_kind_is_a_row(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """What a search finds in each file, the event tables have, and nothing more."""
    found = list(counts(con, KINDS[name]))
    assert [(path, parsed) for path, _, parsed in found] == [(path, searched) for path, searched, _ in found]
    assert sum(searched for _, searched, _ in found) == KINDS[name].total


def test_every_file_has_a_line_of_a_kind_or_says_why_not() -> None:
    paths = sorted(str(path.relative_to(REAL)) for path in REAL.rglob("*") if path.is_file())
    silent = []
    for path in paths:
        content = (REAL / path).read_bytes()
        kinds = [kind for kind in KINDS.values() if path.startswith(kind.where)]
        if not any(re.search(kind.search.encode(), content, re.M) for kind in kinds):
            silent.append(path)
    assert [path for path in silent if not path.startswith(tuple(NOTHING))] == []
    assert [start for start in NOTHING if not any(path.startswith(start) for path in silent)] == []


def main() -> None:
    """Print the table of all counts."""
    with events() as con:
        for name, kind in KINDS.items():
            for path, searched, parsed in counts(con, kind):
                print(f"{name:26} {searched:6} {parsed:6} {'' if searched == parsed else '!':1} {path}")


if __name__ == "__main__":
    main()
