"""Real public logs, end to end: FLOPs and MFU are those that the shape of a model comes to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

import duckdb
import pytest

from pipeline.ledger.query import open_store
from tests.real_truths import REAL, real_store

pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real logs are not beside this checkout: {REAL}"
)


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_store(real_store(tmp_path_factory)) as connection:
        yield connection


#: FLOPs of a token that the shape of a model comes to, worked out by hand: width, layers, heads, groups,
#: width of a head and of the feed-forward part and its matrices, vocabulary, tokens of a sample.
_SHAPES = {
    "megatron/alps-1861140-timelimit": (2048, 16, 32, 8, 64, 8192, 3, 128256, 8192),
    "megatron/alps-2340717-watchdog": (2048, 16, 32, 8, 64, 8192, 3, 128256, 8192),
    "megatron-deepspeed/lockclock-qwen7b-baseline": (3584, 28, 28, 4, 128, 18944, 3, 152064, 2048),
}


def _causal_flops(
    h: int, layers: int, a: int, g: int, d: int, f: int, matrices: int, vocabulary: int, s: int
) -> int:
    """Return model FLOPs of one token of a dense decoder that looks at half of the sequence."""
    layer = 2 * h * a * d + 2 * h * g * d + s * a * d + matrices * h * f
    return 6 * (layers * layer + h * vocabulary)


@pytest.mark.parametrize("run", sorted(_SHAPES))
def test_printed_flops_are_those_of_the_shape(run: str, con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select source, flops_per_token, recompute_counted, convention from ledger.flops_sources "
        "where run_id = ? and source in ('shape', 'line_ratio')",
        [run],
    ).fetchall()
    found = {source: (flops, recomputed, convention) for source, flops, recomputed, convention in rows}
    expected = _causal_flops(*_SHAPES[run])
    assert found["shape"] == (expected, False, "causal_halved")
    ratio, recomputed, _ = found["line_ratio"]
    if recomputed:
        # 4/3 for what is computed twice, and attention over the whole sequence: no model FLOPs.
        assert 4 / 3 < ratio / expected < 1.37
        source = "shape"
    else:
        # Four digits are printed of TFLOP/s, and five of the time of a step.
        assert ratio == pytest.approx(expected, rel=5e-4)
        source = "line_ratio"
    (taken,) = con.execute("select source from ledger.flops where run_id = ?", [run]).fetchall()
    assert taken == (source,)


#: Run, accelerators, peak in 16 bits, and FLOPs of a token: GPT-3 175B, and twice Llama 3.1 405B.
_PUBLISHED = (
    ("mlperf/v3.1-nvidia-gpt3", 768, 989.4e12, 1_061_947_441_152, 3072 * 2048, 0.794),
    (
        "mlperf/v5.0-ibm+coreweave+nvidia-llama31_405b",
        *(2048, 2500e12, 2_523_955_986_432, 1280 * 8192, 0.723),
    ),
    (
        "mlperf/v5.1-university-of-florida-llama31_405b",
        *(256, 2250e12, 2_523_955_986_432, 576 * 8192, 0.748),
    ),
)


@pytest.mark.parametrize(
    ("run", "gpus", "peak", "flops", "tokens", "mfu"), _PUBLISHED, ids=[row[0] for row in _PUBLISHED]
)
def test_mfu_of_published_runs(
    run: str, gpus: int, peak: float, flops: int, tokens: int, mfu: float, con: duckdb.DuckDBPyConnection
) -> None:
    """The median of the step times that the file prints gives the MFU; no line of it tells MFU or FLOPs."""
    (row,) = con.execute(
        "select f.flops_per_token, m.tokens_per_step, r.clean_step_s, sum(w.steady_flops), f.source "
        "from ledger.runs as r inner join ledger.flops as f using (run_id) "
        "inner join ledger.model_shapes as m using (run_id) left join marts.model_work as w using (run_id) "
        "where run_id = ? group by all",
        [run],
    ).fetchall()
    assert (row[0], row[1], row[4]) == (flops, tokens, "shape")
    text = next((REAL / run).iterdir()).read_text(encoding="utf-8", errors="replace")
    printed = [float(value) for value in re.findall(r'"train_step_tim(?:e|ing)":\s*([\d.]+)', text)]
    assert flops * tokens / median(printed) / gpus / peak == pytest.approx(mfu, abs=0.0005)
    assert row[0] * row[1] / row[2] / gpus / peak == pytest.approx(mfu, rel=0.01)
    assert row[3] > 0
