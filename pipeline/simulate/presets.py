"""Stories that somebody may want by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

from pipeline.simulate.bound import PLANS
from pipeline.simulate.faults import FAULTS
from pipeline.simulate.plan import Ending, Plan
from pipeline.simulate.story import SECOND, Maintenance

Plans = tuple[tuple[Plan, ...], tuple[Maintenance, ...]]

_DAY_S = 86_400.0

#: Unexpected interruptions of the 54 days of Llama 3 405B by component, with the kind of end that stands for
#: it: Grattafiori et al. 2024, arXiv:2407.21783, table 5, and its names. The planned ones are 47. Somebody
#: stops the run for the maintenance of a host; that nobody had planned it is why the report counts it here.
LLAMA3_UNEXPECTED: tuple[tuple[str, int, str], ...] = (
    ("Faulty GPU", 148, "gpu_off_bus_hang"),
    ("GPU HBM3 Memory", 72, "double_bit_ecc"),
    ("Software Bug", 54, "value_error"),
    ("Network Switch/Cable", 35, "port_down"),
    ("Host Maintenance", 32, "operator_stop"),
    ("GPU SRAM Memory", 19, "uncontained_ecc"),
    ("GPU System Processor", 17, "gsp_timeout"),
    ("NIC", 7, "adapter_dead"),
    ("NCCL Watchdog Timeouts", 7, "collective_hang"),
    ("Silent Data Corruption", 6, "wrong_result"),
    ("GPU Thermal Interface + Sensor", 6, "gpu_too_hot"),
    ("SSD", 3, "disk_lost"),
    ("Power Supply", 3, "gpu_power_cable"),
    ("Server Chassis", 2, "board_fault"),
    ("IO Expansion Board", 2, "pcie_timeout"),
    ("Dependency", 2, "hub_down"),
    ("CPU", 2, "processor_check"),
    ("System Memory", 2, "machine_check"),
)
LLAMA3_PLANNED = 47
LLAMA3_DAYS = 54
#: How long the maintenance of a host takes there, in seconds.
_MAINTENANCE_S = 900.0

#: Failures per node-day of RSC-1: Kokolis et al. 2025, arXiv:2410.21680.
RSC1_RATE = 6.50e-3
#: GPUs of the jobs of a week, and how many of each; larger jobs are rarer.
_RSC1_JOBS = ((8, 12), (16, 8), (64, 6), (256, 4), (1024, 2), (4096, 1))


def quickstart(seed: int) -> Plans:
    """Return a morning of 64 GPUs: a GPU that falls off the bus, a preemption, and the last step."""
    script = (Ending("gpu_off_bus_hang", 2400.0), Ending("preempted", 1500.0))
    return (Plan(target=450, save_every=50, eval_every=150, script=script),), ()


def llama3_54_days(seed: int) -> Plans:
    """Return 54 days of 16,384 GPUs with the published interruptions, in an order that the seed decides."""
    rng = Random(f"llama3/{seed}")
    ends = [
        (fault, _MAINTENANCE_S if component == "Host Maintenance" else 0.0)
        for component, count, fault in LLAMA3_UNEXPECTED
        for _ in range(count)
    ]
    ends += [("operator_stop", 0.0)] * LLAMA3_PLANNED
    rng.shuffle(ends)
    # What a restart costs beside its loop: about eight minutes, and ten more where a watchdog had to find it.
    weights = [rng.expovariate(1.0) + 0.25 for _ in range(len(ends) + 1)]
    loop_s = LLAMA3_DAYS * _DAY_S - len(ends) * 560.0 - sum(length for _, length in ends)
    shares = [weight / sum(weights) * loop_s for weight in weights]
    ends.append(("in_progress", 0.0))
    script = tuple(Ending(fault, share, length) for (fault, length), share in zip(ends, shares, strict=True))
    plan = Plan(
        name="llama3-405b",
        gpus=16_384,
        batch=2048,
        target=round(loop_s / 5),
        step_s=10.0,
        save_every=24,
        save_s=(1.0, 2.5),
        background_s=(40.0, 90.0),
        warmup_s=(15.0, 40.0),
        queue_s=(5.0, 20.0),
        gap_s=(20.0, 90.0),
        provisioning_s=(20.0, 60.0),
        init_s=(40.0, 80.0),
        setup_s=(20.0, 40.0),
        restore_s=(30.0, 60.0),
        watchdog_s=600.0,
        script=script,
    )
    return (plan,), ()


def rsc1_week(seed: int) -> Plans:
    """Return a week of jobs of 8 to 4,096 GPUs that fail at the published rate per node-day."""
    rng = Random(f"rsc1/{seed}")
    # Of a fleet that its users share nobody is asked to stop: a host that is taken away is lost.
    kinds = [(fault if fault != "operator_stop" else "node_lost", n) for _, n, fault in LLAMA3_UNEXPECTED]
    plans = []
    for gpus, count in _RSC1_JOBS:
        for at in range(count):
            begin = rng.uniform(0, 2 * _DAY_S)
            length = rng.uniform(1.0, 4.5) * _DAY_S
            rate = RSC1_RATE * (gpus / 8) / _DAY_S
            script: list[Ending] = []
            left = length
            while (until := rng.expovariate(rate)) < left:
                fault = rng.choices([name for name, _ in kinds], [weight for _, weight in kinds])[0]
                script.append(Ending(fault, until))
                left -= until
            # Long steps keep the logs of a whole fleet small.
            step_s = rng.uniform(20.0, 40.0)
            plans.append(
                Plan(
                    name=f"job-{gpus}-{at:02d}",
                    gpus=gpus,
                    start_us=Plan().start_us + round(begin) * SECOND,
                    target=max(40, round(0.9 * length / step_s)),
                    step_s=step_s,
                    save_every=100,
                    script=tuple(script) or (Ending("operator_stop", 2 * length),),
                )
            )
    return tuple(plans), ()


def bad_week(seed: int) -> Plans:
    """Return a week in which everything goes wrong that can, of three runs on one cluster."""
    rng = Random(f"bad/{seed}")
    monday = Plan().start_us
    ends = {fault.name: 1.0 for fault in FAULTS if fault.kind not in ("completed", "ongoing")}
    common = Plan(
        target=9_000,
        step_s=30.0,
        save_every=60,
        eval_every=500,
        loop_gap=0.002,
        ends=ends,
        steps_between=(150, 1500),
        restart_inside=0.4,
        requeue=0.4,
        narrow=0.1,
        shrink=0.3,
        slow=0.0005,
        slow_for=(20, 200),
        failed_start=0.15,
        roll_back=0.1,
        max_attempts=24,
    )
    plans = (
        common,
        replace(common, name="egret-13b", gpus=32, spares=1, lemon=0.3, start_us=monday + 3600 * SECOND),
        replace(common, name="otter-8b", gpus=16, save_async=False, start_us=monday + 7200 * SECOND),
    )
    begin = monday + round(rng.uniform(2.0, 4.0) * _DAY_S) * SECOND
    return plans, (Maintenance(begin, begin + 2 * 3600 * SECOND, monday - 5 * 86_400 * SECOND),)


def _as_planned(plans: tuple[Plan, ...]) -> Callable[[int], Plans]:
    """Return a preset of plans in which the seed decides nothing but lengths."""
    return lambda seed: (plans, ())


PRESETS: Mapping[str, Callable[[int], Plans]] = {
    "quickstart": quickstart,
    "llama3_54_days": llama3_54_days,
    "rsc1_week": rsc1_week,
    "bad_week": bad_week,
    **{name: _as_planned(plans) for name, plans in PLANS.items()},
}
