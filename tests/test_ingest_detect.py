"""A file is taken for what it is, or for unknown: never for something else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from pipeline.config import load_config
from pipeline.formats import registry
from pipeline.ingest import ingest
from pipeline.ingest.detect import detect
from pipeline.ingest.jobs import find_job_ids
from pipeline.ingest.sample import lines_of, read_sample
from pipeline.places import FilePlace
from tests.golden import read_lines, samples

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"

#: Names that files of these folders may get; all others are of programs that we do not know.
NAMED = {
    "fabricmanager": {"fabric_manager"},
    "hw-bench/superbench-gpuburn": {"gpu_burn"},
    "hw-bench/superbench-nccl": {"nccl_tests"},
    "k8s/insights-node": {"syslog"},
    "hf-trainer": {"hf_trainer"},
    "deepspeed": {"deepspeed"},
    "kernel": {"kernel"},
    "megatron": {"megatron", "pytorch_nccl", "python_traceback", "slurm_messages", "torchrun", "unknown"},
    "mlperf": {"mlperf"},
    "nccl/fwyc-tiny": {"megatron"},
    "slurm-sacct/clockwork": {"slurm_sacct_json"},
    "nccl/lockclock-smoke-0328": {"megatron_deepspeed"},
    "nccl/lockclock-watch-0328": {"megatron_deepspeed"},
    "slurm-sacct/gcm-multiline": {"slurm_sacct"},
    "slurm-scontrol": {"scontrol_node"},
    "slurm-out/deformable-detr": {"slurm_messages"},
    "syslog-hpc": {"syslog"},
    "tensorboard": {"binary"},
    "torchelastic-dir": {"megatron"},
    "torchrun-failure/alps-1857626": {"megatron", "python_traceback"},
    "torchrun-failure/fwyc-ws8": {"megatron", "torchrun"},
    # A trainer that died before it printed a line of its own, and a stderr of its own: what is in them.
    "torchrun-failure/lockclock-dual16-oom": {"megatron_deepspeed"},
    "torchrun-failure/lockclock-dual32-base1": {"python_traceback", "torchrun", "unknown"},
    "megatron-deepspeed/summit-3329260/gpt3-megatron.3329260.e": {"deepspeed_library", "unknown"},
    "megatron-deepspeed/summit-moe-3363503/moe-5.2.3363503.e": {"python_traceback", "unknown"},
    "megatron-deepspeed": {"megatron_deepspeed"},
    "nanogpt": {"nanogpt"},
    "bert-perf": {"dllogger"},
    "fairseq": {"fairseq_2018"},
    "paddle": {"fairseq_2018"},
    "k8s/insights-pod-failed": {"kubernetes"},
    "k8s/insights-pods": {"kubernetes"},
    "k8s-events": {"kubernetes"},
    "rl-trainer": {"verl"},
    "kineto": {"kineto"},
}


def real_files() -> list[str]:
    return sorted(path.relative_to(REAL).as_posix() for path in REAL.rglob("*") if path.is_file())


@pytest.mark.skipif(not REAL.is_dir(), reason="the real logs are not here")
@pytest.mark.parametrize("name", real_files() if REAL.is_dir() else [])
def test_a_real_file_gets_its_name_or_none(name: str) -> None:
    allowed = next(
        (names for prefix, names in NAMED.items() if f"{name}/".startswith(f"{prefix}/")), {"unknown"}
    )
    assert detect(read_sample(FilePlace(REAL / name))).format in allowed


@pytest.mark.skipif(not REAL.is_dir(), reason="the real logs are not here")
def test_the_console_of_every_real_megatron_run_is_recognised() -> None:
    outs = sorted((REAL / "megatron").rglob("*.out"))
    assert outs
    assert {detect(read_sample(FilePlace(path))).format for path in outs} == {"megatron"}


PRIMARY = [fmt.name for fmt in registry().values() if fmt.primary and samples(fmt.name)]


@pytest.mark.parametrize("name", PRIMARY)
def test_the_samples_of_a_format_are_recognised(name: str, tmp_path: Path) -> None:
    texts = ["\n".join(read_lines(path).to_list()) for path in samples(name)]
    shape = registry()[name].shape
    for text in texts if shape in ("table", "csv", "document") else ["\n".join(texts)]:
        (tmp_path / "log").write_text(text + "\n", encoding="utf-8")
        assert name == detect(read_sample(FilePlace(tmp_path / "log"))).format


@pytest.mark.parametrize(
    "text", ["", "\n\n", "hello\n", "no line end", "\x00\x00", "{\n}\n", "a|b|c\n1|2|3\n"]
)
def test_a_file_of_nothing_we_know_is_unknown(text: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text, encoding="utf-8")
    assert detect(read_sample(FilePlace(tmp_path / "log"))).format in ("unknown", "binary")


def test_a_table_with_the_column_of_another_program_is_the_other_programs(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        "loss,val_loss,iter,step,epoch,iter_time,tokens,total_tokens,time\n4.1,,640,639,0,0.4,1,8,271.4\n"
    )
    assert detect(read_sample(FilePlace(tmp_path / "log"))).format == "litgpt_csv"


def test_bare_progress_bars_prove_nothing(tmp_path: Path) -> None:
    bars = (f" {n}%|#         | {n}/100 [00:{n:02d}<01:{n:02d},  1.00s/it]" for n in range(1, 60))
    (tmp_path / "log").write_text("\r".join(bars), encoding="utf-8")
    assert detect(read_sample(FilePlace(tmp_path / "log"))).format == "unknown"


def test_proof_may_stand_anywhere_in_a_file(tmp_path: Path) -> None:
    sample = [line for path in samples("megatron") for line in read_lines(path).to_list()]
    chatter = [f"gx001:{number}:1 [0] NCCL INFO Channel {number}" for number in range(20_000)]
    (tmp_path / "log").write_text("\n".join([*chatter[:9000], *sample, *chatter[9000:]]), encoding="utf-8")
    assert detect(read_sample(FilePlace(tmp_path / "log"))).format == "megatron"


EXCERPTS = [name for name in PRIMARY if registry()[name].least_share]


def test_programs_whose_output_is_printed_into_that_of_jobs_need_a_share() -> None:
    assert {"kernel", "syslog", "nccl_tests", "nvidia_smi_q"} <= set(EXCERPTS)


@pytest.mark.parametrize("name", EXCERPTS)
def test_an_excerpt_names_no_file(name: str, tmp_path: Path) -> None:
    """A trainer that we do not know, and what somebody had printed of a host before it started."""
    excerpt = [line for path in samples(name) for line in read_lines(path).to_list()]
    steps = [f"heron> batch {number} took {number % 7} s" for number in range(6 * len(excerpt))]
    (tmp_path / "log").write_text("\n".join([*excerpt, *steps]), encoding="utf-8")
    assert detect(read_sample(FilePlace(tmp_path / "log"))).format == "unknown"


JOBS = {
    ("slurm-880100.out", ""): "880100",
    ("runs/heron-880100.out", ""): "880100",
    ("880100.err", ""): "880100",
    ("heron.880100.o", ""): "880100",
    ("heron.o880100", ""): "880100",
    ("sweep.o4420.3", ""): "4420[3]",
    ("sweep.o4420-12", ""): "4420[12]",
    ("sweep.o4420.3", "PBS_JOBID=4420[3].pbs1"): "4420[3]",
    ("sweep.out", "PBS_JOBID=4420[3].pbs1"): "4420[3]",
    ("sweep.out", "Subject: Job 4420[3]: <sweep[1-8]> in cluster <reed> Done\nLSB_JOBID=4420"): "4420[3]",
    ("slurm-880100_4.out", ""): "880100",
    ("train.log", "slurmstepd: error: *** JOB 880100 ON gx001 CANCELLED AT x"): "880100",
    ("train.log", "slurmstepd: error: Detected 1 oom_kill event in StepId=880100.0."): "880100",
    ("train.log", "SLURM_JOB_ID=880100"): "880100",
    ("train.log", "PBS_JOBID=4417.pbs1"): "4417",
    ("train.o", "loss 2.5\nSubject: Job 4418: <heron-70b> in cluster <aviary> Exited"): "4418",
    ("train.log", "SLURM_JOB_ID=880100\nSLURM_JOBID=880101"): None,
    ("job-880101.out.12.gz", ""): "880101",
    ("heron-880101.out", "SLURM_JOB_ID=880100\nSLURM_JOBID=880101"): "880101",
    ("heron-880102.out", "SLURM_JOB_ID=880100\nSLURM_JOBID=880101"): None,
    ("train.log", ""): None,
    ("2026-10-05.log", ""): None,
    ("watch-20261005.log", ""): None,
    ("heron/job-880100.jsonl", ""): "880100",
    ("metrics-880100.jsonl", ""): None,
}


@pytest.mark.parametrize(("name", "text"), JOBS)
def test_the_job_of_a_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text, encoding="utf-8")
    lines = lines_of([read_sample(FilePlace(tmp_path / "log")).lines])
    assert find_job_ids([name], lines) == [JOBS[name, text]]


def test_the_stream_of_a_program_takes_the_format_that_its_other_stream_proves(tmp_path: Path) -> None:
    """Bars go to standard error, and what says whose they are to standard output."""
    bars = "\r".join(f" {n}%|#         | {n}/100 [00:{n:02d}<01:{n:02d},  1.00s/it]" for n in range(1, 60))
    (tmp_path / "job-7.err").write_text(bars + "\n", encoding="utf-8")
    (tmp_path / "other-7.err").write_text(bars.replace("100", "90") + "\n", encoding="utf-8")
    (tmp_path / "job-7.out").write_text(
        "{'loss': 2.1, 'learning_rate': 2e-05, 'epoch': 0.1}\n", encoding="utf-8"
    )
    config = load_config([str(tmp_path)], None)
    ingest([str(tmp_path)], tmp_path / "store", config, workers=1)
    files = str(tmp_path / "store" / "events" / "sources" / "**" / "*.parquet")
    found = dict(duckdb.sql(f"select path, format from read_parquet('{files}')").fetchall())
    assert found == {"job-7.err": "hf_trainer", "job-7.out": "hf_trainer", "other-7.err": "unknown"}


GIVEN_UP = """\
W1004 20:09:13.106680 4102 torch/distributed/elastic/multiprocessing/api.py:897] \
Sending process 21 closing signal SIGTERM
E1004 20:09:13.107680 4102 torch/distributed/elastic/multiprocessing/api.py:869] \
failed (exitcode: 1) local_rank: 5 (pid: 21) of binary: /usr/bin/python3
Traceback (most recent call last):
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
pretrain.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-10-04_20:09:12
  host      : gx101
  rank      : 13 (local_rank: 5)
  exitcode  : 1 (pid: 21)
  error_file: <N/A>
============================================================
"""


def test_a_launch_that_failed_at_once_takes_the_format_that_another_launch_proves(tmp_path: Path) -> None:
    start = "[INFO|training_args.py:1902] 2026-10-04 20:07:31,178 >> PyTorch: setting up devices\n"
    step = "{'loss': 2.1, 'learning_rate': 2e-05, 'epoch': 0.1}\n"
    # Of what a launcher prints when it gives up, other trainers know lines, too.
    files_of = {
        "job-7.out": start + step,
        "job-8.out": start,
        "job-9.out": start + GIVEN_UP,
        "job-10.out": GIVEN_UP,
    }
    for name, text in (files_of | {"probe-9.out": start * 2}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ingest([str(tmp_path)], tmp_path / "store", load_config([str(tmp_path)], None), workers=1)
    files = str(tmp_path / "store" / "events" / "sources" / "**" / "*.parquet")
    found = dict(duckdb.sql(f"select path, format from read_parquet('{files}')").fetchall())
    assert found == {
        **dict.fromkeys(("job-7.out", "job-8.out", "job-9.out"), "hf_trainer"),
        "job-10.out": "torchrun",
        "probe-9.out": "unknown",
    }
