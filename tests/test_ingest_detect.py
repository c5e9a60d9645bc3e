"""A file is taken for what it is, or for unknown: never for something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.formats import registry
from pipeline.ingest.detect import detect
from pipeline.ingest.jobs import find_job_id
from pipeline.ingest.sample import read_sample
from tests.golden import read_lines, samples

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"

#: Names that files of these folders may get; all others are of programs that we do not know.
NAMED = {
    "kernel": {"kernel"},
    "megatron": {"megatron", "pytorch_nccl", "python_traceback", "slurm_messages", "torchrun", "unknown"},
    "mlperf": {"mlperf"},
    "nccl/fwyc-tiny": {"megatron"},
    "slurm-sacct/gcm-multiline": {"slurm_sacct"},
    "slurm-out/deformable-detr": {"slurm_messages"},
    "tensorboard": {"binary"},
    "torchelastic-dir": {"megatron"},
    "torchrun-failure/alps-1857626": {"megatron", "python_traceback"},
    "torchrun-failure/fwyc-ws8": {"megatron", "torchrun"},
    # A trainer that died before it printed a line of its own, and a stderr of its own: what is in them.
    "torchrun-failure/lockclock-dual32-base1": {"python_traceback", "torchrun", "unknown"},
    "megatron-deepspeed/summit-moe-3363503/moe-5.2.3363503.e": {"python_traceback", "unknown"},
    "bert-perf": {"dllogger"},
    "fairseq/perf-transformer": {"dllogger"},
    "nanogpt": {"nanogpt"},
    "paddle": {"dllogger"},
    "rl-trainer/verl-maze": {"verl"},
}


def real_files() -> list[str]:
    return sorted(path.relative_to(REAL).as_posix() for path in REAL.rglob("*") if path.is_file())


@pytest.mark.skipif(not REAL.is_dir(), reason="the real logs are not here")
@pytest.mark.parametrize("name", real_files() if REAL.is_dir() else [])
def test_a_real_file_gets_its_name_or_none(name: str) -> None:
    allowed = next(
        (names for prefix, names in NAMED.items() if f"{name}/".startswith(f"{prefix}/")), {"unknown"}
    )
    assert detect(read_sample(REAL / name)).format in allowed


@pytest.mark.skipif(not REAL.is_dir(), reason="the real logs are not here")
def test_the_console_of_every_real_megatron_run_is_recognised() -> None:
    outs = sorted((REAL / "megatron").rglob("*.out"))
    assert outs
    assert {detect(read_sample(path)).format for path in outs} == {"megatron"}


PRIMARY = [fmt.name for fmt in registry().values() if fmt.primary and samples(fmt.name)]


@pytest.mark.parametrize("name", PRIMARY)
def test_the_samples_of_a_format_are_recognised(name: str, tmp_path: Path) -> None:
    texts = ["\n".join(read_lines(path).to_list()) for path in samples(name)]
    shape = registry()[name].shape
    for text in texts if shape == "table" else ["\n".join(texts)]:
        (tmp_path / "log").write_text(text + "\n", encoding="utf-8")
        assert name == detect(read_sample(tmp_path / "log")).format


@pytest.mark.parametrize(
    "text", ["", "\n\n", "hello\n", "no line end", "\x00\x00", "{\n}\n", "a|b|c\n1|2|3\n"]
)
def test_a_file_of_nothing_we_know_is_unknown(text: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text, encoding="utf-8")
    assert detect(read_sample(tmp_path / "log")).format in ("unknown", "binary")


def test_proof_may_stand_anywhere_in_a_file(tmp_path: Path) -> None:
    sample = [line for path in samples("megatron") for line in read_lines(path).to_list()]
    chatter = [f"gx001:{number}:1 [0] NCCL INFO Channel {number}" for number in range(20_000)]
    (tmp_path / "log").write_text("\n".join([*chatter[:9000], *sample, *chatter[9000:]]), encoding="utf-8")
    assert detect(read_sample(tmp_path / "log")).format == "megatron"


JOBS = {
    ("slurm-880100.out", ""): "880100",
    ("runs/heron-880100.out", ""): "880100",
    ("880100.err", ""): "880100",
    ("heron.880100.o", ""): "880100",
    ("heron.o880100", ""): "880100",
    ("slurm-880100_4.out", ""): "880100",
    ("train.log", "slurmstepd: error: *** JOB 880100 ON gx001 CANCELLED AT x"): "880100",
    ("train.log", "slurmstepd: error: Detected 1 oom_kill event in StepId=880100.0."): "880100",
    ("train.log", "SLURM_JOB_ID=880100"): "880100",
    ("train.log", "SLURM_JOB_ID=880100\nSLURM_JOBID=880101"): None,
    ("job-880101.out.12.gz", ""): "880101",
    ("heron-880101.out", "SLURM_JOB_ID=880100\nSLURM_JOBID=880101"): "880101",
    ("heron-880102.out", "SLURM_JOB_ID=880100\nSLURM_JOBID=880101"): None,
    ("train.log", ""): None,
    ("2026-10-05.log", ""): None,
    ("watch-20261005.log", ""): None,
}


@pytest.mark.parametrize(("name", "text"), JOBS)
def test_the_job_of_a_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text, encoding="utf-8")
    assert JOBS[name, text] == find_job_id(name, read_sample(tmp_path / "log").lines)
