"""What an invented run is like: how long things take, and what goes wrong how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.simulate.story import SECOND, Split, Throttle

#: Shortest and longest, in seconds.
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Ending:
    """An end that is written down beforehand.

    Attributes:
        fault: its kind.
        after_s: seconds of the loop before it comes.
        maintenance_s: how long the maintenance takes that it makes room for, and that is declared when it is
            over; 0 where there is none. All runs of a cluster stop for it: for stories of one.
    """

    fault: str
    after_s: float
    maintenance_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is like; lengths in seconds, ranges from shortest to longest.

    Attributes:
        slow: share of steps with which a slow stretch begins: ``slow_for`` steps that take ``slower`` times
            as long. They are training all the same.
        split: how a clean step divides, printed by the trainers that can; None where nobody asked.
        throttle: steps that a slow GPU makes longer.
        saves_last: True where the last step is saved as well, and the loop waits until that is done.
        ends: kinds of ends with their weights; a run that reaches its last step is completed.
        steps_between: steps that an attempt makes before its end comes.
        by_time: share of ends that come at some time, into a save too, and not inside a step.
        restart_inside: share of unplanned ends after which the launcher starts again inside the allocation.
        requeue: share of ends after which the scheduler puts the same job back.
        narrow: share of jobs that get fewer hosts than were asked for.
        spares: hosts that are held beyond what the run trains on, to take the place of failed ones.
        shrink: share of faults that take a host away after which, with no spare left, the launcher starts
            again inside the allocation without it.
        lemon: share of faults that strike the same host of the run, which is not replaced.
        failed_start: share of attempts that end before their first step.
        roll_back: share of restarts for which a person chooses an earlier checkpoint than the latest.
        script: the ends of the attempts in order, in place of random ones; what follows them goes on to the
            target, or is killed with the story.
        goes_on: True where the logs end while the run goes on.
        shows_exit: True where the last process stamps that it leaves.
        shows_world: True where the trainer tells on how many GPUs it runs.
    """

    name: str = "heron-70b"
    trainer: str = "megatron"
    gpus: int = 64
    gpus_per_host: int = 8
    batch: int = 512
    start_us: int = 1_791_158_400 * SECOND  # 2026-10-05 00:00 UTC, a Monday
    target: int = 400
    step_s: float = 9.0
    jitter: float = 0.01
    warmup_s: Range = (15.0, 45.0)
    slow: float = 0.0
    slow_for: tuple[int, int] = (5, 25)
    slower: Range = (1.15, 1.8)
    split: Split | None = None
    throttle: Throttle | None = None
    save_every: int = 50
    saves_last: bool = False
    save_async: bool = True
    save_s: Range = (2.0, 6.0)
    background_s: Range = (20.0, 60.0)
    eval_every: int = 0
    eval_s: Range = (20.0, 60.0)
    data_stall: float = 0.0
    data_stall_s: Range = (20.0, 120.0)
    loop_gap: float = 0.0
    queue_s: Range = (30.0, 900.0)
    gap_s: Range = (60.0, 1800.0)
    requeue_delay_s: Range = (60.0, 180.0)
    provisioning_s: Range = (30.0, 120.0)
    init_s: Range = (30.0, 90.0)
    setup_s: Range = (20.0, 90.0)
    restore_s: Range = (15.0, 90.0)
    data_setup_s: Range = (5.0, 40.0)
    watchdog_s: float = 600.0
    ends: Mapping[str, float] = field(default_factory=lambda: {"gpu_off_bus_hang": 1.0})
    steps_between: tuple[int, int] = (40, 160)
    by_time: float = 0.3
    restart_inside: float = 0.0
    requeue: float = 0.0
    narrow: float = 0.0
    spares: int = 0
    shrink: float = 0.0
    lemon: float = 0.0
    script: tuple[Ending, ...] = ()
    failed_start: float = 0.0
    roll_back: float = 0.0
    max_attempts: int = 12
    goes_on: bool = False
    shows_exit: bool = False
    shows_world: bool = True
