"""What the trainers' formats find in real public logs, where a folder of them lies beside the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.ingest.match import Found, match_format

REAL = Path(__file__).resolve().parents[1].parent / "shared" / "real"
CASES = REAL.parent / "cases" / "google"


@cache
def found(name: str, path: Path) -> Found:
    text = path.read_bytes().decode("utf-8", "replace").replace("\0", "")
    return match_format(registry()[name], pl.Series("text", text.split("\n")))


def real_file(path: str) -> Path:
    if not (REAL / path).is_file():
        pytest.skip(f"no real log {path} beside the checkout")
    return REAL / path


def count(table: pl.DataFrame, **values: str) -> int:
    return table.filter(**values).height


@pytest.mark.parametrize(
    ("path", "first", "last", "lines", "saves", "restored"),
    [
        ("megatron/alps-1861140-timelimit/1861140.out", 1, 344, 344, [50, 100, 150, 200, 250, 300], None),
        ("megatron/alps-2340717-watchdog/2340717.out", 14001, 15549, 1549, [15549], 14000),
        ("megatron/alps-2561509/2561509.out", 1, 19, 19, [5, 10, 15, 19], None),
        ("megatron/alps-2609830-timelimit/2609830.out", 1, 154, 154, list(range(10, 151, 10)), None),
        ("megatron/bigscience-meg-base/meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out", 10, 200, 20, [], None),
        ("megatron/bigscience-meg-base/meg_gpt2_base_n64_dp1_tp4_pp64-1809655.out", 10, 60, 6, [], None),
        ("megatron/bigscience-meg-perf-n16/meg_gpt2_perf_n16-1999618.out", 1, 4, 4, [], None),
    ],
)
def test_megatron_steps_saves_and_loads(
    path: str, first: int, last: int, lines: int, saves: list[int], restored: int | None
) -> None:
    result = found("megatron", real_file(path))
    steps, checkpoints = result.tables["steps"], result.tables["checkpoints"]
    assert (steps["step_last"].min(), steps["step_last"].max(), steps.height) == (first, last, lines)
    assert steps["step_last"].is_sorted()
    assert checkpoints.filter(op="save", edge="begin")["step"].to_list() == saves
    assert checkpoints.filter(op="save", edge="end")["step"].to_list() == saves
    loaded = checkpoints.filter(op="load", edge="end")["step"].to_list()
    assert loaded == ([] if restored is None else [restored])
    assert count(checkpoints, op="load", edge="none") == (1 if restored is None else 0)
    assert len(result.torn) == 0


def test_megatron_says_that_the_data_ran_out() -> None:
    phases = found("megatron", real_file("megatron/alps-2561509/2561509.out")).tables["phases"]
    assert phases.filter(phase="exit").select("step", "detail").rows() == [(19, "data_exhausted")]


@pytest.mark.parametrize(
    ("path", "gpus"),
    [
        ("megatron/alps-1861140-timelimit/1861140.out", "40"),
        ("megatron/alps-2340717-watchdog/2340717.out", "56"),
        ("megatron/alps-2561509/2561509.out", "4"),
        ("megatron/bigscience-meg-perf-n16/meg_gpt2_perf_n16-1999618.out", "64"),
    ],
)
def test_megatron_says_how_wide_it_runs(path: str, gpus: str) -> None:
    facts = found("megatron", real_file(path)).tables["facts"]
    assert facts.filter(key="world_size")["value"].unique().to_list() == [gpus]


@pytest.mark.parametrize(
    "path",
    [
        "megatron-deepspeed/lockclock-qwen7b-baseline/qwen7b_baseline_500.log",
        "megatron-deepspeed/summit-3329260/gpt3-megatron.3329260.o",
        "chronicle/bigscience/tr11-176B-chronicles.md",
    ],
)
def test_no_step_line_of_a_fork_is_taken_for_megatron(path: str) -> None:
    assert "steps" not in found("megatron", real_file(path)).tables


@pytest.mark.parametrize(
    ("path", "init_starts", "run_s", "evaluations", "step_rows"),
    [
        ("mlperf/v1.0-google-bert/tpu-v4-4096-TF_result_0.txt", 1, 19.8, 17, 0),
        ("mlperf/v1.0-graphcore-bert/ipu-pod64-POPART-closed_result_0.txt", 1, 633.7, 14, 0),
        ("mlperf/v1.0-nvidia-bert/dgxa100_ngc21.05_pytorch_result_0.txt", 8, 1433.9, 20, 0),
        ("mlperf/v1.0-pcl-resnet/CloudBrainII_1024_mindspore_close_result_0.txt", 1, 38.8, 14, 0),
        ("mlperf/v2.1-baidu-bert/8_node_64_A100_PaddlePaddle_result_0.txt", 1, 161.2, 17, 0),
        ("mlperf/v3.1-intel-habanalabs-gpt3/HLS-Gaudi2-N32-PT_result_0.txt", 1, 13432.1, 24, 0),
        ("mlperf/v3.1-nvidia-gpt3/eos_n96_ngc23.09_nemo_result_0.txt", 768, 2437.6, 25, 200),
        ("mlperf/v4.0-google-gpt3/cloud-tpu-v5p-12288-maxtext_result_0.txt", 1, 730.2, 28, 0),
        ("mlperf/v4.0-intel-habanalabs-llama2_70b_lora/HLS-Gaudi2-PT_result_0.txt", 1, 5115.5, 6, 9),
        ("mlperf/v4.0-nvidia-gpt3/eos_n64_ngc24.04_nemo_result_0.txt", 512, 3147.9, 24, 0),
        ("mlperf/v5.0-amd-llama2_70b_lora/MI300X_EPYC_9575F_pytorch_result_0.txt", 1, 1695.6, 5, 0),
        (
            "mlperf/v5.0-ibm+coreweave+nvidia-llama31_405b/carina_ngpu2048_ngc25.04_nemo_result_0.txt",
            2048,
            1917.7,
            7,
            252,
        ),
        ("mlperf/v5.1-nvidia-flux1/theia_ngpu512_ngc25.09_nemo_result_0.txt", 1, 1007.5, 44, 563),
        (
            "mlperf/v5.1-university-of-florida-llama31_405b/hpg.dgxb200x8.n32_result_0.txt",
            1,
            14151.9,
            3,
            500,
        ),
    ],
)
def test_mlperf_runs(path: str, init_starts: int, run_s: float, evaluations: int, step_rows: int) -> None:
    result = found("mlperf", real_file(path))
    phases = result.tables["phases"]
    loop = phases.filter(phase="loop").sort("ts")
    assert loop["edge"].to_list() == ["begin", "end"]
    assert loop["detail"].to_list() == [None, "success"]
    assert round((loop["ts"][1] - loop["ts"][0]).total_seconds(), 1) == run_s
    assert count(phases, phase="init", edge="begin") == init_starts
    assert count(phases, pattern="eval_result") == evaluations
    assert result.tables.get("steps", pl.DataFrame()).height == step_rows
    assert len(result.torn) == 0


def test_every_goodput_record_is_known() -> None:
    paths = sorted(CASES.glob("*.jsonl"))
    if not paths:
        pytest.skip("no job records beside the checkout")
    for path in paths:
        result = found("goodput_records", path)
        records = len([line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()])
        assert (path.name, result.matches["line"].n_unique()) == (path.name, records)
        assert result.matches.height == records, f"{path.name}: a record has two meanings"
        assert len(result.torn) == 0
