"""Invented kernel logs say when, in each of the forms in which kernels and collectors do."""

from __future__ import annotations

from typing import get_args

import pytest

from pipeline.simulate.blemishes import KernelForm
from pipeline.simulate.kernel import kernel_log
from pipeline.simulate.lines import Style

#: 2026-10-05 03:00:01.250 UTC
NOON = 1_791_169_201_250_000

KERNEL = {
    "iso": ["kern  :err   : 2026-10-05T05:00:01,250000+02:00 NVRM: text"],
    "ctime": ["[Mon Oct  5 05:00:01 2026] NVRM: text"],
    "syslog": ["Oct  5 05:00:01 gx017 kernel: [1765154.895677] NVRM: text"],
    "boot": ["[1765154.895677] NVRM: text"],
    "journal": ["2026-10-05T05:00:01.250000+02:00 gx017 kernel: NVRM: text"],
    "json": [
        '{"__REALTIME_TIMESTAMP": "1791169201250000", "__MONOTONIC_TIMESTAMP": "1765154895677", '
        '"_BOOT_ID": "0000000000000000000000001930931e", "_TRANSPORT": "kernel", '
        '"SYSLOG_IDENTIFIER": "kernel", "PRIORITY": "3", "_HOSTNAME": "gx017", "MESSAGE": "NVRM: text"}'
    ],
}


@pytest.mark.parametrize("form", KERNEL)
def test_forms_of_kernel_times(form: KernelForm) -> None:
    lines = list(kernel_log("gx017", [(NOON, "NVRM: text")], form, Style(offset_s=7200), 7))
    assert KERNEL[form] == lines[-1:]
    assert set(KERNEL) == set(get_args(KernelForm))


def test_the_kernel_says_which_second_the_clock_showed_at_boot() -> None:
    lines = list(kernel_log("gx017", [(NOON, "NVRM: text")], "boot", Style(), 7))
    clock = next(line for line in lines if "setting system clock" in line)
    taken_s, since_s, now_s = (
        float(text.split("(")[-1].rstrip(")]").lstrip("[ ")) if "(" in text else float(text.strip("[ ]"))
        for text in (clock, clock.split("]")[0], lines[-1].split("]")[0])
    )
    assert 0 <= NOON / 1e6 - (taken_s - since_s + now_s) < 1
