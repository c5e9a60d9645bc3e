"""Lines of kernel logs that mean nothing for a run: other people's faults, and the noise of healthy hosts."""

from __future__ import annotations

from random import Random

from pipeline.simulate.story import HOUR, SECOND, Decoy, Story

#: What a healthy host prints now and then: seconds after the first line, and the text.
_BENIGN: tuple[tuple[tuple[float, str], ...], ...] = (
    ((0.0, "NVRM: Xid (PCI:0000:5d:00): 43, pid=71204, name=python3, Ch 00000010"),),
    ((0.0, "NVRM: Xid (PCI:0000:9b:00): 45, pid=71204, name=python3, Ch 00000012"),),
    (
        (
            0.0,
            "NVRM: Xid (PCI:0000:3b:00): 63, pid=0, name=<unknown>, Row Remapper: New row"
            " (0x00000000013fa2c0)"
            " marked for remapping, reset gpu to activate.",
        ),
    ),
    (
        (0.0, "mlx5_core 0000:d2:00.0 ib3: Link down"),
        (3.4, "mlx5_core 0000:d2:00.0 ib3: Link up"),
    ),
    (
        (0.0, "nfs: server filer02 not responding, still trying"),
        (4.0, "nfs: server filer02 OK"),
    ),
    (
        (
            0.0,
            "Lustre: home-OST0002-osc-ff2d8c11a0b3e000: Connection to home-OST0002 (at"
            " 10.29.25.61@tcp) was lost;"
            " in progress operations using this service will wait for recovery to complete",
        ),
        (
            6.5,
            "Lustre: home-OST0002-osc-ff2d8c11a0b3e000: Connection restored to home-OST0002 (at"
            " 10.29.25.61@tcp)",
        ),
    ),
    ((0.0, "pcieport 0000:43:00.4: AER: Correctable error message received from 0000:c8:00.0"),),
    ((0.0, "EDAC MC1: 2 CE memory read error on CPU_SrcID#1_MC#1_Chan#0_DIMM#0"),),
    ((0.0, "{1}[Hardware Error]: event severity: corrected"),),
    (
        (
            0.0,
            "mlx5_core 0000:d2:00.0: mlx5_pcie_event:299:(pid 912): Detected insufficient power"
            " on the PCIe slot"
            " (27W).",
        ),
    ),
    (
        (
            0.0,
            "nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 20009, Non-fatal, Link 44 RX Short"
            " Error Rate (First)",
        ),
    ),
)

#: What would be a cause, were it on a host of the run.
_FAULTS = (
    "NVRM: Xid (PCI:0000:9b:00): 79, pid=71204, name=python3, GPU has fallen off the bus.",
    "NVRM: Xid (PCI:0000:5d:00): 48, pid=71204, name=python3, DBE (double bit error) has occurred.",
    "NVRM: Xid (PCI:0000:3b:00): 119, pid=71204, name=python3, Timeout after 45s of waiting for"
    " RPC response from"
    " GPU2 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20801348 0x410).",
    "Kernel panic - not syncing: Fatal exception in interrupt",
)


def add_decoys(story: Story, per_host_day: float) -> None:
    """Add noise to the kernel logs of a story: so many benign events a day on each host that it holds.

    Half as many faults appear on hosts that no run holds, in the minutes around the ends of attempts too.
    """
    rng = Random(f"{story.seed}/decoys")
    jobs = [job for run in story.runs for job in run.jobs]
    begin, end = min(job.start_us for job in jobs), max(job.end_us for job in jobs)
    hosts = sorted({host for job in jobs for host in job.hosts})
    count = round(per_host_day * len(hosts) * (end - begin) / (24 * HOUR)) or 1
    near = [it.end.stop_us for run in story.runs for it in run.attempts if it.end is not None]
    for at in range(count):
        # Every third comes close to an end, where it could pass for its cause.
        close = rng.choice(near) + round(rng.uniform(-90.0, 120.0) * SECOND)
        when = rng.randrange(begin, end) if at % 3 else close
        host = rng.choice(hosts)
        story.decoys += [
            Decoy(host, when + round(after * SECOND), text) for after, text in rng.choice(_BENIGN)
        ]
        if at % 2:
            story.decoys.append(Decoy(f"gy{at % 40:03d}", close, rng.choice(_FAULTS)))
