"""How the time of a step divides: what a run computes, waits for and copies, and on which host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.simulate.story import Attempt, Run, Split, Step

#: A part of a step that a log may tell of, or what a step computes.
Told = Literal["data_wait", "exposed_comm", "bubble", "memory_copy", "flops"]

#: Peak of an H100-SXM in 16-bit floating point, dense, as its data sheet has it.
PEAK = 989.4e12
GPU_MODEL = "H100-SXM"

#: Shape of the model of a run whose step is divided, under the names of Megatron-LM's arguments.
SHAPE = {
    "ffn_hidden_size": 14_336,
    "group_query_attention": True,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_layers": 32,
    "num_query_groups": 8,
    "padded_vocab_size": 128_256,
    "swiglu": True,
}
SEQUENCE = 4096

#: FLOPs per token of that shape, forward and twice as much backward, two for each multiplication with its
#: addition, and half of the attention, since it is causal. By layer: queries, keys and values
#: 2·4096·(4096 + 2·1024) = 50,331,648; their projection 2·4096² = 33,554,432; scores and values
#: 4·4096·4096 / 2 = 33,554,432; the three matrices of a gated layer 6·4096·14336 = 352,321,536; together
#: 469,762,048. Thirty-two of them, and the logits 2·4096·128256 = 1,050,673,152: 16,083,058,688, three times.
FLOPS_PER_TOKEN = 48_249_176_064


@dataclass(frozen=True, slots=True)
class Parts:
    """Time of each part of one step, in microseconds; where hosts differ, of the fastest and the slowest.

    Attributes:
        compute: of the slowest host, which sets the pace.
        compute_least: of the others.
        comm: communication that nothing hides, of the slowest host: the transfer itself.
        comm_most: of the others, which wait for the slowest one in it.
    """

    data_wait: float
    compute: float
    compute_least: float
    comm: float
    comm_most: float
    bubble: float
    memory_copy: float


def parts_of(run: Run, attempt: Attempt, step: Step, split: Split) -> Parts:
    """Return what a step consists of, without the warm-up of the first one."""
    length = float(step.end_us - step.start_us)
    if step is attempt.steps[0]:
        length -= attempt.warmup_us
    slower = run.throttle.slower if run.throttle is not None and run.throttle.holds(step.number) else 1.0
    clean = length / slower
    behind = split.straggler_share * clean + length - clean
    compute = split.compute_share * clean + length - clean
    return Parts(
        data_wait=split.data_wait * clean,
        compute=compute,
        compute_least=compute - behind,
        comm=split.exposed_comm * clean,
        comm_most=split.exposed_comm * clean + behind,
        bubble=split.bubble * clean,
        memory_copy=split.memory_copy * clean,
    )


def flops_of_a_step(run: Run, flops_per_token: int = FLOPS_PER_TOKEN) -> float:
    """Return the model FLOPs of a step, for what the program counts for a token."""
    return float(flops_per_token) * run.batch * SEQUENCE
