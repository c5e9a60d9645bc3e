"""Several formats in one file: each is read as if it stood alone, and what proves nothing is no guest."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pipeline.config import EMPTY_CONFIG
from pipeline.formats import registry
from pipeline.ingest import ingest
from pipeline.ingest.doctor import diagnose
from tests.golden import FOLDER, read_lines, samples

#: Formats that name files and can stand in others.
HOSTS = [name for name, fmt in registry().items() if fmt.primary and fmt.shape not in ("document", "blocks")]
REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"


def sample_of(name: str) -> list[str]:
    return read_lines(samples(name)[0]).to_list()


def events_of(lines: list[str], folder: Path) -> dict[str, int]:
    """Return how many rows of each format a file gives."""
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs" / "job.out").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ingest([str(folder / "logs")], folder / "store", EMPTY_CONFIG)
    counts: dict[str, int] = {}
    for table in (folder / "store" / "events").iterdir():
        if table.name in ("sources", "formats", "templates", "signals"):
            continue
        rows = pl.read_parquet(table / "*.parquet", columns=["format"])
        for fmt, count in rows.group_by("format").len().rows():
            counts[fmt] = counts.get(fmt, 0) + count
    return counts


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("megatron", "torchtitan"),
        ("torchtitan", "megatron"),
        ("megatron", "slurm_sacct"),
        ("slurm_sacct", "megatron"),
        ("torchtitan", "goodput_records"),
        ("goodput_records", "torchtitan"),
        ("mlperf", "megatron"),
        ("megatron", "nccl_tests"),
        ("torchtitan", "nvidia_smi_csv"),
        ("torchtitan", "nvidia_smi_dmon"),
    ],
)
def test_two_logs_in_one_file_are_read_as_both(first: str, second: str, tmp_path: Path) -> None:
    alone = {name: events_of(sample_of(name), tmp_path).get(name, 0) for name in (first, second)}
    together = events_of(sample_of(first) + sample_of(second), tmp_path)
    assert {name: together.get(name, 0) for name in (first, second)} == alone
    assert min(alone.values()) > 0


def test_a_few_lines_pasted_into_a_log_are_read(tmp_path: Path) -> None:
    table = sample_of("slurm_sacct")
    console = sample_of("megatron")
    counts = events_of([*console[:20], *table, *console[20:]], tmp_path)
    assert counts["slurm_sacct"] == events_of(table, tmp_path)["slurm_sacct"]
    assert counts["megatron"] == events_of(console, tmp_path)["megatron"]


@pytest.mark.parametrize("name", HOSTS)
def test_a_log_has_no_guests(name: str, tmp_path: Path) -> None:
    """Of its samples a format reads all by itself."""
    found = events_of(sample_of(name), tmp_path)
    others = {fmt for fmt in found if fmt != name and registry()[fmt].primary}
    assert others == set()


def test_two_real_logs_in_one_file_are_read_as_both(tmp_path: Path) -> None:
    one = REAL / "megatron/alps-2561509/2561509.out"
    other = REAL / "mlperf/v5.0-amd-llama2_70b_lora/MI300X_EPYC_9575F_pytorch_result_0.txt"
    if not (one.is_file() and other.is_file()):
        pytest.skip("the public logs are not here")
    texts = [path.read_text(encoding="utf-8", errors="replace").splitlines() for path in (one, other)]
    alone = {}
    for name, text in zip(("megatron", "mlperf"), texts, strict=True):
        alone[name] = events_of(text, tmp_path)[name]
    together = events_of(texts[0] + texts[1], tmp_path)
    assert {name: together[name] for name in alone} == alone
    assert {report.format for report in diagnose([str(tmp_path / "logs")], EMPTY_CONFIG)} <= set(alone)


def test_samples_of_every_host_exist() -> None:
    assert [name for name in HOSTS if not (FOLDER / name).is_dir()] == []
