"""What suits a trainer of which only the begin and the steps are dated."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.plan import Plan


def only_steps(plan: Plan) -> Plan:
    """Return a plan in which the first step holds the whole start, and nothing is saved.

    What nothing dates is left out: starts that fail, ends inside the first step, which look like them, and
    the end of a run that goes on.
    """
    starts = (plan.init_s, plan.setup_s, plan.data_setup_s, plan.warmup_s)
    start = (sum(shortest for shortest, _ in starts), sum(longest for _, longest in starts))
    nothing = (0.0, 0.0)
    return replace(
        plan,
        init_s=nothing,
        setup_s=nothing,
        data_setup_s=nothing,
        warmup_s=start,
        save_every=0,
        failed_start=0.0,
        by_time=0.0,
        goes_on=False,
    )
