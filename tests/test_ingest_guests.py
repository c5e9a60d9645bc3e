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
HOSTS = [
    name
    for name, fmt in registry().items()
    if fmt.primary and fmt.shape not in ("document", "blocks", "prose")
]
REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"


def sample_of(name: str) -> list[str]:
    return read_lines(samples(name)[0]).to_list()


def read_together(files: dict[str, list[str]], folder: Path) -> dict[str, dict[str, int]]:
    """Return how many rows of each format and signal each file gives, of files that are read in one go."""
    for name, lines in files.items():
        # Each stands alone: no two files are parts or copies of one log.
        path = folder / "logs" / name / "job.out"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    ingest([str(folder / "logs")], folder / "store", EMPTY_CONFIG)
    events = folder / "store" / "events"
    sources = pl.read_parquet(events / "sources" / "*.parquet", columns=["source_id", "path", "duplicate_of"])
    assert sources["duplicate_of"].null_count() == sources.height == len(files)
    names = {source: path.partition("/")[0] for source, path, _ in sources.rows()}
    counts: dict[str, dict[str, int]] = {name: {} for name in files}
    for table in events.iterdir():
        if table.name in ("sources", "formats", "templates"):
            continue
        rows = pl.read_parquet(table / "*.parquet")
        if table.name == "signals":
            # The catalogue reads them, whatever the format is.
            rows = rows.with_columns(format="signal " + pl.col("signal_id"))
        for source, fmt, count in rows.group_by("source_id", "format").len().rows():
            own = counts[names[source]]
            own[fmt] = own.get(fmt, 0) + count
    return counts


PAIRS = (
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
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """Return the rows of each sample alone, of each pair in one file, and of a table inside a console."""
    alone = {*HOSTS, *(name for pair in PAIRS for name in pair)}
    files = {name: sample_of(name) for name in sorted(alone)}
    for pair in PAIRS:
        files["+".join(pair)] = [line for name in pair for line in sample_of(name)]
    console = sample_of("megatron")
    files["pasted"] = [*console[:20], *sample_of("slurm_sacct"), *console[20:]]
    return read_together(files, tmp_path_factory.mktemp("guests"))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_logs_in_one_file_are_read_as_both(
    first: str, second: str, found: dict[str, dict[str, int]]
) -> None:
    alone = {name: found[name].get(name, 0) for name in (first, second)}
    together = found[f"{first}+{second}"]
    assert {name: together.get(name, 0) for name in (first, second)} == alone
    assert min(alone.values()) > 0


def test_a_few_lines_pasted_into_a_log_are_read(found: dict[str, dict[str, int]]) -> None:
    for name in ("slurm_sacct", "megatron"):
        assert found["pasted"][name] == found[name][name]


@pytest.mark.parametrize("name", HOSTS)
def test_a_log_has_no_guests(name: str, found: dict[str, dict[str, int]]) -> None:
    """Of its samples a format reads all by itself."""
    others = {fmt for fmt in found[name] if fmt != name and not fmt.startswith("signal ")}
    assert {fmt for fmt in others if registry()[fmt].primary} == set()


#: Real logs of two programs, by the beginnings of their paths.
REAL_PAIRS = (
    ("megatron/alps-2561509/2561509.out", "mlperf/v5.0-amd-llama2_70b_lora"),
    ("kernel/gpud-xid119", "megatron/alps-2561509/2561509.out"),
    ("mlperf/v5.0-amd-llama2_70b_lora", "hw-bench/superbench-nccl"),
    ("fabricmanager", "nanogpt/jackokeefe-output"),
    ("k8s/insights-node", "torchelastic-dir"),
    ("deepspeed", "kernel/gpud-nccl-segv"),
    ("hw-bench/superbench-nccl", "rl-trainer"),
)


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """Return the rows of real logs alone, of each pair in one file, and of lines of one inside the other."""
    if not REAL.is_dir():
        pytest.skip("the public logs are not here")
    whole = {start: real_lines(start) for pair in REAL_PAIRS for start in pair}
    files = {f"{at}": lines for at, lines in enumerate(whole.values())}
    names = dict(zip(whole, files, strict=True))
    for first, second in REAL_PAIRS:
        one, other = whole[first], whole[second][:400]
        files[f"{names[first]}+{names[second]}"] = one + whole[second]
        files[f"few {names[second]}"] = [*other, "the end"]
        files[f"{names[first]}<{names[second]}"] = [*one[: len(one) // 3], *other, *one[len(one) // 3 :]]
    folder = tmp_path_factory.mktemp("joined")
    found = read_together(files, folder)
    both = str(folder / "logs" / "+".join(names[start] for start in REAL_PAIRS[0]))
    assert {report.format for report in diagnose([both], EMPTY_CONFIG)} <= {"megatron", "mlperf"}
    return (
        {start: found[name] for start, name in names.items()}
        | {
            mark.join(pair): found[mark.join(names[start] for start in pair)]
            for pair in REAL_PAIRS
            for mark in "+<"
        }
        | {f"few {start}": found[f"few {names[start]}"] for _, start in REAL_PAIRS}
    )


def real_lines(start: str) -> list[str]:
    """Return the lines of the real log whose path begins so."""
    (path,) = (
        path for path in REAL.rglob("*") if path.is_file() and str(path.relative_to(REAL)).startswith(start)
    )
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


@pytest.mark.parametrize(("first", "second"), REAL_PAIRS)
def test_two_real_logs_in_one_file_are_read_as_both(
    first: str, second: str, joined: dict[str, dict[str, int]]
) -> None:
    for mark, other in (("+", second), ("<", f"few {second}")):
        own, guest = joined[first], joined[other]
        expected = {name: own.get(name, 0) + guest.get(name, 0) for name in {*own, *guest}}
        assert expected == joined[mark.join((first, second))]
        assert sum(expected.values()) > 0


def test_samples_of_every_host_exist() -> None:
    assert [name for name in HOSTS if not (FOLDER / name).is_dir()] == []
