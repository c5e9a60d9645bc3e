"""Faults of a GPU, its memory, its bus and the links between the GPUs of a host."""

from __future__ import annotations

from pipeline.simulate.faults.kinds import (
    OTHERS_REMOVED,
    Line,
    cuda,
    found_at_once,
    found_by_watchdog,
    xid,
)

_OFF_BUS = (
    Line("kernel", "NVRM: Xid (PCI:{pci}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
    Line("kernel", "NVRM: GPU {pci}.0: GPU has fallen off the bus.", after_s=0.1),
)
_EGRESS = Line(
    "kernel",
    "nvidia-nvswitch2: SXid (PCI:0000:86:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV"
    " error (First)",
    after_s=0.3,
)
_RESET = Line(
    "kernel",
    "NVRM: Xid (PCI:{pci}): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
    after_s=0.4,
)
_ECC = Line("rank", cuda("uncorrectable ECC error encountered"), "detected")
_REMAP = Line(
    "kernel",
    xid(63, "Row Remapper: New row (0x0000000001f3a2c0) marked for remapping, reset gpu to activate."),
    after_s=0.023,
)
_CONTAINED = xid(94, "Contained: SM (0x1). RST: No, D-RST: No")
_LINK = "NVLink: fatal error detected on link 6(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"

FAULTS = (
    found_by_watchdog("gpu_off_bus_hang", "gpu_fell_off_bus", *_OFF_BUS, _EGRESS, *OTHERS_REMOVED),
    found_at_once(
        "gpu_off_bus",
        "gpu_fell_off_bus",
        *_OFF_BUS,
        Line("kernel", xid(45, "Ch 00000008", "{peer_pci}"), after_s=0.2),
        Line("rank", cuda("unspecified launch failure"), "detected"),
        *OTHERS_REMOVED,
    ),
    found_by_watchdog(
        "gpu_off_bus_after_bus_error",
        "gpu_fell_off_bus",
        Line(
            "kernel",
            "pcieport 0000:16:01.0: AER: Uncorrectable (Fatal) error message received from 0000:17:00.0",
        ),
        Line("kernel", "pcieport 0000:16:01.0: pciehp: Slot(12): Link Down", after_s=0.2),
        Line("kernel", xid(79, "GPU has fallen off the bus."), after_s=1.1),
        *OTHERS_REMOVED,
    ),
    found_at_once(
        "double_bit_ecc",
        "gpu_memory_error",
        Line("kernel", xid(48, "DBE (double bit error) has occurred.")),
        _REMAP,
        Line("kernel", _CONTAINED, after_s=0.025),
        _ECC,
        Line(
            "ranks",
            "{nccl} [0] misc/socket.cc:60 NCCL WARN socketProgress: Connection closed by remote peer"
            " {host}<55231>",
            "detected",
            2.0,
        ),
        *OTHERS_REMOVED,
    ),
    found_at_once("contained_ecc", "gpu_memory_error", Line("kernel", _CONTAINED), _ECC, *OTHERS_REMOVED),
    found_at_once(
        "uncontained_ecc",
        "gpu_memory_error",
        # Newer drivers tell beside it whether memory or the chip failed.
        Line("kernel", xid(48, "DBE (double bit error) has occurred.")),
        Line("kernel", xid(172, "GSP-RISCV, Uncorrectable SRAM error"), after_s=0.002),
        Line("kernel", xid(95, "Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No"), after_s=0.005),
        Line("kernel", xid(45, "Ch 00000008"), after_s=0.01),
        _RESET,
        _ECC,
        *OTHERS_REMOVED,
    ),
    found_by_watchdog(
        "uncontained_ecc_hang",
        "gpu_memory_error",
        Line("kernel", xid(95, "Uncontained: FBHUB (0x2, 0x1). RST: Yes, D-RST: No")),
        Line("kernel", xid(45, "Ch 00000008"), after_s=0.01),
        _RESET,
    ),
    # The driver has waited for 45 s when it says so.
    found_by_watchdog(
        "gsp_timeout",
        "gpu_gsp_timeout",
        Line(
            "kernel",
            xid(
                119,
                "Timeout after 45s of waiting for RPC response from GPU{gpu} GSP! Expected function 76"
                " (GSP_RM_CONTROL) (0x20801348 0x410).",
            ),
            after_s=45.0,
        ),
        Line(
            "kernel",
            "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:{pci} (printing 1 of every 30).  The GPU"
            " likely needs to be reset.",
            after_s=90.0,
        ),
    ),
    found_by_watchdog(
        "gsp_crash", "gpu_gsp_timeout", Line("kernel", xid(120, "GSP task exception: load access page fault"))
    ),
    found_by_watchdog("pmu_halt", "gpu_other", Line("kernel", xid(62, "2027(2168) 8503d0c6 00000000"))),
    found_at_once(
        "context_switch_timeout",
        "gpu_other",
        Line("kernel", xid(109, "Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x1c008")),
        Line("rank", cuda("unspecified launch failure"), "detected"),
        *OTHERS_REMOVED,
    ),
    found_by_watchdog(
        "nvlink_hang",
        "nvlink_error",
        Line("kernel", xid(74, _LINK)),
        Line("kernel", xid(74, _LINK, "{peer_pci}"), after_s=0.002),
        Line(
            "kernel",
            "nvidia-nvswitch2: SXid (PCI:0000:86:00.0): 22013, Non-fatal, Link 61 Minion Link DLREQ"
            " interrupt",
            after_s=0.1,
        ),
        *OTHERS_REMOVED,
    ),
    found_at_once(
        "nvswitch_fatal",
        "nvlink_error",
        Line("kernel", "nvidia-nvswitch2: SXid (PCI:0000:86:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"),
        Line("kernel", xid(74, _LINK), after_s=0.1),
        Line("kernel", xid(45, "Ch 00000008"), after_s=0.3),
        Line("rank", cuda("uncorrectable NVLink error detected during the execution"), "detected"),
        *OTHERS_REMOVED,
    ),
    found_by_watchdog(
        "nvlink5_fatal",
        "nvlink_error",
        Line(
            "kernel",
            "NVRM: Xid (PCI:{pci}): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x00000201 0x00000000"
            " 0x00000000 0x00000000 0x00000000 0x00000000)",
        ),
        _RESET,
    ),
    found_at_once(
        "pcie_timeout",
        "pcie_error",
        Line("kernel", xid(167, "PCIe fatal timeout")),
        Line("rank", cuda("unknown error"), "detected"),
    ),
    found_by_watchdog(
        "gpu_too_hot",
        "power_thermal",
        Line("kernel", "NVRM: GPU at {pci}.0 has exceeded its maximum operating temperature."),
        Line("kernel", xid(79, "GPU has fallen off the bus."), after_s=2.5),
    ),
    found_by_watchdog(
        "gpu_power_cable", "power_thermal", Line("kernel", xid(54, "Auxiliary power is not connected"))
    ),
)
