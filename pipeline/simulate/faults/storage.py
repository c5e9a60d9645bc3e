"""Faults of shared storage."""

from __future__ import annotations

from pipeline.simulate.faults.kinds import Line, found_at_once, found_by_watchdog
from pipeline.simulate.faults.launcher import raised, raises

_OST = "scratch-OST0007-osc-ff2d8c11a0b3e000"

FAULTS = (
    # Data that was read ahead lasts for some seconds.
    found_by_watchdog(
        "nfs_lost",
        "storage_unavailable",
        Line("kernel", "nfs: server filer07 not responding, still trying", after_s=-3.0),
        Line("kernel", "INFO: task pt_data_worker:24855 blocked for more than 120 seconds.", after_s=121.0),
        Line("kernels", "nfs: server filer07 not responding, still trying", after_s=-2.0),
        Line("kernel", "nfs: server filer07 OK", "left"),
        host_fails=False,
    ),
    found_by_watchdog(
        "lustre_lost",
        "storage_unavailable",
        Line(
            "kernel",
            f"Lustre: {_OST}: Connection to scratch-OST0007 (at 10.29.25.56@tcp) was lost; in progress"
            " operations using this service will wait for recovery to complete",
            after_s=-1.5,
        ),
        Line(
            "kernel", f"Lustre: {_OST}: Connection restored to scratch-OST0007 (at 10.29.25.56@tcp)", "left"
        ),
        host_fails=False,
    ),
    found_at_once(
        "lustre_evicted",
        "storage_unavailable",
        Line(
            "kernel",
            f"LustreError: 167-0: {_OST}: This client was evicted by scratch-OST0007; in progress"
            " operations using this service will fail.",
        ),
        *raised("OSError: [Errno 5] Input/output error"),
        host_fails=False,
    ),
    raises(
        "no_space", "storage_full", "OSError: [Errno 28] No space left on device: '/lustre/ckpt/heron/events'"
    ),
    raises("no_quota", "storage_full", "OSError: [Errno 122] Disk quota exceeded: '/home/mira/ckpt'"),
)
