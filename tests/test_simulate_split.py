"""Stories whose steps divide in a known way: what is printed adds up to the step, and what is true of it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl
import pytest

from pipeline.formats import registry
from pipeline.ingest.match import match_format
from pipeline.simulate.bound import PLANS
from pipeline.simulate.efficiency import Efficiency, efficiencies
from pipeline.simulate.invent import invent
from pipeline.simulate.lines import Style
from pipeline.simulate.plan import Plan
from pipeline.simulate.renderers import trainers
from pipeline.simulate.split import FLOPS_PER_TOKEN
from pipeline.simulate.story import Run, Split, Throttle
from pipeline.simulate.truth import true_ledger
from pipeline.simulate.write import write_story

#: Ten steps of 5 s of 16 GPUs without an end before the last one.
QUIET = Plan(gpus=16, batch=112, target=10, step_s=5.0, jitter=0.0, save_every=0, max_attempts=1)
SPLIT = Split("network_bound", data_wait=0.1, exposed_comm=0.3, bubble=0.05, memory_copy=0.15)


#: The format that reads the component times of a trainer, where it is that of a library.
READERS = {"deepspeed": "deepspeed_library"}


def lived(plan: Plan) -> Run:
    return invent(3, (plan,)).runs[0]


def efficiency_of(plan: Plan) -> Efficiency:
    story = invent(3, (plan,))
    return efficiencies(story, true_ledger(story))[plan.name]


def timers_of(run: Run, interval: int = 1) -> pl.DataFrame:
    """Return the component times that the format of a trainer reads in what it prints, in order."""
    trainer = trainers()[run.trainer]
    (attempt,) = run.attempts
    lines = trainer.render(run, attempt.world(run), attempt, Style(interval))
    texts = [line.text for line in sorted(lines, key=lambda line: line.time_us)]
    reader = registry()[READERS.get(run.trainer, trainer.format)]
    found = match_format(reader, pl.Series("text", texts, dtype=pl.String))
    return found.tables["timers"].sort("line")


def times_of(timers: pl.DataFrame, component: str, column: str) -> list[float]:
    own = timers.filter(pl.col("component") == component)
    return [round(value, 5) for value in own[column].to_list()]


def test_flops_per_token_are_those_of_the_shape() -> None:
    """4096 wide, 32 layers, 8 of 32 heads for keys and values, 14336 between, 128256 words, causal."""
    layer = 2 * 4096 * (4096 + 2 * 8 * 128) + 2 * 4096**2 + 4 * 4096 * 4096 // 2 + 3 * 2 * 4096 * 14336
    assert 3 * (32 * layer + 2 * 4096 * 128256) == FLOPS_PER_TOKEN


def test_the_timers_of_megatron_add_up_to_the_step() -> None:
    """5 s: batch 0.5, exposed 1.5, bubble 0.25, copies 0.75, and 2.0 of computing: 0.64, 1.28 and 0.08."""
    timers = timers_of(lived(replace(QUIET, split=SPLIT)))
    expected = {
        "forward-backward": 0.5 + 0.64 + 1.28 + 0.25 + 0.7 * 1.5,
        "optimizer": 0.08 + 0.75 + 0.3 * 1.5,
        "batch-generator": 0.5,
        "forward-compute": 0.5 + 0.64,
        "backward-compute": 1.28,
        "forward-recv": 0.125,
        "backward-recv": 0.125,
        "all-grads-sync": 0.7 * 1.5,
        "params-all-gather": 0.3 * 1.5,
        "optimizer-copy-to-main-grad": 0.6 * 0.75,
        "optimizer-copy-main-to-model-params": 0.4 * 0.75,
        "optimizer-inner-step": 0.08,
    }
    assert expected["forward-backward"] + expected["optimizer"] == pytest.approx(5.0)
    for component, seconds in expected.items():
        assert times_of(timers, component, "max_s")[1:] == [pytest.approx(seconds)] * 9
        assert times_of(timers, component, "min_s")[1:] == [pytest.approx(seconds)] * 9


def test_a_block_divides_by_the_log_interval_however_few_steps_it_holds() -> None:
    """The first step of the process has a block of its own; the second block holds the three after it."""
    fetched = times_of(timers_of(lived(replace(QUIET, split=SPLIT)), 4), "batch-generator", "max_s")
    assert fetched == [0.5 / 4, 3 * 0.5 / 4, 0.5]


def test_gradients_are_reduced_behind_the_passes_in_old_releases() -> None:
    timers = timers_of(lived(replace(QUIET, split=SPLIT, trainer="megatron_core_0_5")), 5)
    both = times_of(timers, "forward-backward", "max_s")[-1]
    assert both == pytest.approx(0.5 + 0.64 + 1.28 + 0.25)
    assert both + times_of(timers, "all-grads-sync", "max_s")[-1] + times_of(timers, "optimizer", "max_s")[
        -1
    ] == pytest.approx(5.0)


def test_the_wait_for_a_straggler_shows_on_the_others() -> None:
    """It computes 2.0 of 5 s, the others 0.5 s less, and wait for it in the reduction of gradients."""
    timers = timers_of(lived(replace(QUIET, split=replace(SPLIT, straggler_share=0.1))))
    assert times_of(timers, "backward-compute", "max_s")[1] == pytest.approx(1.28)
    assert times_of(timers, "backward-compute", "min_s")[1] == pytest.approx(0.64 * 1.5)
    assert times_of(timers, "all-grads-sync", "min_s")[1] == pytest.approx(0.7 * 1.5)
    assert times_of(timers, "all-grads-sync", "max_s")[1] == pytest.approx(0.7 * 1.5 + 0.5)


def test_a_throttled_gpu_lengthens_computing_alone() -> None:
    """From step 6 on a step takes 6 s, one more than before, all of it on the slow GPU."""
    timers = timers_of(lived(replace(QUIET, split=SPLIT, throttle=Throttle(6, 1.2))))
    computed = [pytest.approx(1.28)] * 4 + [pytest.approx(0.64 * 3.0)] * 5
    assert times_of(timers, "backward-compute", "max_s")[1:] == computed
    assert times_of(timers, "backward-compute", "min_s")[1:] == [pytest.approx(1.28)] * 9
    assert times_of(timers, "batch-generator", "max_s") == [0.5] * 10


def test_the_wall_clock_of_deepspeed_tells_everything_but_the_batch() -> None:
    """2.0 s of computing with a bubble of 0.25 s in the forward pass, and copies of 0.75 s in the update."""
    timers = timers_of(lived(replace(QUIET, split=SPLIT, trainer="deepspeed")))
    assert times_of(timers, "fwd", "mean_s")[1:] == [pytest.approx(0.64 + 0.25)] * 9
    assert times_of(timers, "bwd", "mean_s")[1:] == [pytest.approx(1.28 + 1.5)] * 9
    assert times_of(timers, "bwd_inner", "mean_s")[1:] == [pytest.approx(1.28)] * 9
    assert times_of(timers, "bwd_allreduce", "mean_s")[1:] == [pytest.approx(1.5)] * 9
    assert times_of(timers, "step", "mean_s")[1:] == [pytest.approx(0.08 + 0.75)] * 9
    micro = times_of(timers, "bwd_microstep", "mean_s")
    assert sum(micro[8:16]) == pytest.approx(1.28 + 1.5)


def test_the_spans_of_torchtitan_tell_the_wait_for_a_batch() -> None:
    """A wait of a second would be a stall: a step of 5 s waits for half a second, and the rest is passes."""
    timers = timers_of(lived(replace(QUIET, split=SPLIT, trainer="torchtitan_events")))
    fetched = times_of(timers, "fetching_batch", "mean_s")
    assert fetched == [pytest.approx(0.5)] * 10
    assert times_of(timers, "fwd_bwd", "mean_s")[1:] == [pytest.approx(4.5 - 0.04 * 2.0)] * 9


def test_ranks_of_hosts_that_differ_have_files_of_their_own(tmp_path: Path) -> None:
    """The straggler is the second of two hosts: 2.0 s of computing there, and 0.5 s less on the first."""
    split = replace(SPLIT, straggler=1, straggler_share=0.1)
    plan = replace(QUIET, split=split, trainer="torchtitan_events")
    write_story(invent(3, (plan,)), tmp_path, Style())
    files = sorted((tmp_path / "logs" / plan.name).glob("*.jsonl"))
    assert [file.name.partition(".")[2] for file in files] == ["rank0.jsonl", "rank8.jsonl"]
    for file, expected in zip(files, (4.5 - 0.08 - 0.5, 4.5 - 0.08), strict=True):
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        spans = [record["value"] / 1000 for record in records if record["log_type_name"] == "fwd_bwd_end"]
        assert spans[1:] == [pytest.approx(expected, abs=1e-5)] * 9


def test_the_true_factors_multiply_to_model_goodput() -> None:
    """10 steps of 112 · 4096 tokens on 16 GPUs; 5 of them take 6 s, so 55 s of which 50 were planned."""
    told = efficiency_of(replace(QUIET, split=SPLIT, throttle=Throttle(6, 1.2)))
    flops = 48_249_176_064 * 112 * 4096 * 10
    assert told.steadiness == pytest.approx(50 / 55)
    assert told.input_efficiency == pytest.approx(0.9)
    assert told.network_efficiency == pytest.approx(0.6 / 0.9)
    assert told.compute_efficiency == pytest.approx(flops / (989.4e12 * 16 * 50 * 0.6))
    assert told.g_model == pytest.approx(flops / (989.4e12 * 16 * 55))
    product = told.steadiness * 0.9 * (0.6 / 0.9) * (told.compute_efficiency or 0.0)
    assert product == pytest.approx(told.g_model)
    assert (told.verdict, told.reference_step_s) == ("network_bound", 5.0)


@pytest.mark.parametrize(
    ("trainer", "known"),
    [
        ("deepspeed", {"network_efficiency": 0.7, "verdict": "network_bound"}),
        ("torchtitan_events", {"input_efficiency": 0.9, "verdict": "not_known"}),
        ("maxtext", {"verdict": "not_known"}),
    ],
)
def test_what_a_trainer_does_not_print_is_not_known(trainer: str, known: dict[str, object]) -> None:
    """What a missing factor would hold is in the next one: without a batch the network has 1 − 0.3."""
    told = asdict(efficiency_of(replace(QUIET, split=SPLIT, trainer=trainer)))
    names = ("input_efficiency", "network_efficiency", "compute_efficiency", "g_model", "verdict")
    assert {name: told[name] for name in names if told[name] is not None} == known


@pytest.mark.parametrize("name", sorted(PLANS))
def test_shares_of_a_preset_leave_time_to_compute(name: str) -> None:
    for plan in PLANS[name]:
        assert plan.split is not None
        assert 0.2 < plan.split.compute_share < 1
        assert plan.split.straggler_share < plan.split.compute_share


def test_a_story_without_a_split_has_no_factors(tmp_path: Path) -> None:
    write_story(invent(3, (QUIET,)), tmp_path, Style())
    assert "efficiency" not in json.loads((tmp_path / "truth.json").read_text())
    assert "gpu_model" not in (tmp_path / "logs" / "goodput.toml").read_text()
