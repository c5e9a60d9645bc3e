"""What really happened: the lives of runs in continuous time, before anybody wrote a line about them.

Times are whole microseconds since the epoch. A story knows nothing of logs: what of it can be seen is for
the renderers to say, and what it cost for `truth.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

SECOND = 1_000_000
HOUR = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Step:
    """A training step, without the stalls around it. The first of an attempt holds its warm-up."""

    number: int
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Stall:
    """A stretch in which the loop stood still, between two steps.

    Attributes:
        category: ``checkpoint_stall``, ``evaluation``, ``data_stall`` or ``loop_gap``.
        after: the step that it followed.
    """

    category: str
    after: int
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Save:
    """A save of a checkpoint.

    Attributes:
        blocked_us: when the loop went on, or None where it never did.
        durable_us: when the checkpoint could be restored, or None where it never could.
    """

    step: int
    start_us: int
    blocked_us: int | None
    durable_us: int | None


@dataclass(frozen=True, slots=True)
class Restore:
    """A checkpoint that an attempt began with: its step, who had saved it, and when it was read."""

    step: int
    saved_by: int
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class End:
    """How an attempt ended.

    Attributes:
        fault: name of a kind of end in `faults.py`.
        stop_us: when the loop, or the start-up, stood still: the fault.
        detected_us: when somebody or something noticed.
        left_us: when the last process had gone.
        host: the host at fault, or empty.
        rank: a rank of that host.
        gpu: its number on that host.
        waited_s: how long a watchdog had waited when it noticed; 0 where none did.
        told_us: when a trainer that could still save was told to stop; None where it was not.
        job_goes_on: True where the launcher started again inside the allocation.
    """

    fault: str
    stop_us: int
    detected_us: int
    left_us: int
    host: str = ""
    rank: int = 0
    gpu: int = 0
    waited_s: float = 0.0
    told_us: int | None = None
    job_goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """A host that the scheduler took out of an allocation, which went on without it."""

    time_us: int
    host: str


@dataclass(frozen=True, slots=True)
class Job:
    """One allocation of a run.

    Attributes:
        job_id, restart: of the scheduler; a requeue keeps the id and counts up.
        hosts: those that are held in the beginning; the last ones may be spares.
        state: final state in the words of Slurm.
        exit_code: as ``code:signal``.
        removed: hosts that were taken out of it, in order.
    """

    job_id: int
    restart: int
    submit_us: int
    eligible_us: int
    start_us: int
    end_us: int
    hosts: tuple[str, ...]
    gpus: int
    state: str
    exit_code: str = "0:0"
    removed: tuple[Removal, ...] = ()


@dataclass(slots=True)
class Attempt:
    """One launch of the trainer.

    Attributes:
        number: in its run, from 1.
        job: index of its allocation in the run.
        hosts: those that it trains on, in the order of ranks.
        process_us: first process up. init_us: communicators ready. built_us: model built, checkpoint
            included. loop_us: the loop begins. None where the attempt did not get there.
        warmup_us: what the first step takes beyond a step.
        step_us: clean time of a step at its width.
    """

    number: int
    job: int
    hosts: tuple[str, ...]
    process_us: int
    step_us: int
    init_us: int | None = None
    built_us: int | None = None
    loop_us: int | None = None
    warmup_us: int = 0
    restore: Restore | None = None
    steps: list[Step] = field(default_factory=list)
    stalls: list[Stall] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    end: End | None = None

    def gpus(self, run: Run) -> int:
        """Return the GPUs that it trains on; spares of its allocation are not among them."""
        return len(self.hosts) * run.gpus_per_host

    def world(self, run: Run) -> Job:
        """Return its allocation as the trainer sees it: without spares, hosts in the order of ranks."""
        return replace(run.jobs[self.job], hosts=self.hosts, gpus=self.gpus(run))

    @property
    def first_step(self) -> int:
        """Number of the step that it begins with."""
        return (self.restore.step if self.restore else 0) + 1


@dataclass(frozen=True, slots=True)
class Split:
    """How a clean step divides: shares of it, of which computing is what the others leave.

    Attributes:
        verdict: what such a step is bound by.
        data_wait: waiting for a batch.
        exposed_comm: communication under which nothing is computed.
        bubble: stages of a pipeline that have nothing to do.
        memory_copy: copies under which nothing else runs.
        pipeline: stages of the pipeline.
        straggler: which host of the run computes longer than the others, counted from 0.
        straggler_share: by how much, as a share of the step; the others wait for it.
    """

    verdict: str
    data_wait: float = 0.0
    exposed_comm: float = 0.0
    bubble: float = 0.0
    memory_copy: float = 0.0
    pipeline: int = 1
    straggler: int = 0
    straggler_share: float = 0.0

    @property
    def compute_share(self) -> float:
        """Share of the step that computes."""
        return 1.0 - self.data_wait - self.exposed_comm - self.bubble - self.memory_copy


@dataclass(frozen=True, slots=True)
class Throttle:
    """Steps in which a GPU computes with a lower clock, and all others wait for it.

    Attributes:
        first: the first of them; it lasts to the end.
        slower: how many times as long a step takes.
        host: the host of the GPU, in the order of ranks.
        gpu: its index there.
    """

    first: int
    slower: float
    host: int = 5
    gpu: int = 2

    def holds(self, step: int) -> bool:
        """Return whether it holds in a step."""
        return step >= self.first


@dataclass(slots=True)
class Run:
    """One training effort, across all its restarts.

    Attributes:
        split: how its steps divide, where anybody asked for that.
        throttle: steps that a slow GPU makes longer.
    """

    name: str
    trainer: str
    gpus: int
    gpus_per_host: int
    batch: int
    target: int
    save_async: bool
    split: Split | None = None
    throttle: Throttle | None = None
    jobs: list[Job] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A maintenance that was declared, before it came or afterwards."""

    start_us: int
    end_us: int
    declared_us: int


@dataclass(frozen=True, slots=True)
class Decoy:
    """A line in the kernel log of a host that means nothing for any run."""

    host: str
    time_us: int
    text: str


@dataclass(slots=True)
class Story:
    """Everything that happened."""

    seed: int
    runs: list[Run]
    maintenance: list[Maintenance] = field(default_factory=list)
    decoys: list[Decoy] = field(default_factory=list)
