"""Results of gpu-burn: a load on every GPU of a host for some minutes, with faults counted and heat shown.

Each line tells of all devices in the order of their numbers, so none is a row of one device.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

FORMAT = Format(
    name="gpu_burn",
    title="Stress test of GPUs (gpu-burn)",
    link="https://github.com/wilicc/gpu-burn",
    role="node",
    versions="0.4 to 1.1",
    deciding=("progress", "tested"),
    least_share=0.2,
    unrendered="A measurement of the machine: no training is in it.",
    patterns=(
        # Rates and heat of eight devices, number by number; a carriage return before each update.
        known_line("progress", ("%  proc'd: ",), r"^\d+\.\d%  proc'd: "),
        known_line("summary", ("\tSummary at:   ",), r"^\tSummary at:   "),
        Pattern(
            name="device",
            table="facts",
            literals=("(UUID: GPU-",),
            regex=r"^GPU \d+: (?P<model>.+?) \(UUID: GPU-[0-9a-f-]+\)\s*$",
            columns={"key": Value(const="gpu_model"), "value": Value("model")},
        ),
        Pattern(
            name="faulty",
            table="telemetry",
            literals=("GPU ",),
            regex=r"^\tGPU (?P<gpu>\d+): (?P<verdict>OK|FAULTY)\s*$",
            columns={
                "gpu": Value("gpu"),
                "metric": Value(const="gpu_burn_faulty"),
                "value": Value("verdict", "float", mapping={"OK": "0", "FAULTY": "1"}),
                "unit": Value(const="number"),
            },
        ),
        known_line("tested", ("Tested ",), r"^Tested \d+ GPUs:\s*$"),
        known_line(
            "device_log",
            (
                "Initialized device ",
                "Freed memory for dev ",
                "Uninitted cublas",
                "Results are ",
                "Killing processes",
                "Burning for ",
                "Using compare file: ",
            ),
            r"^(?:Killing processes\.\. ?(?:\w+)?|Initialized device \d+ with |Freed memory for dev \d+"
            r"|Uninitted cublas|Results are \d+ bytes each, thus performing |Burning for \d+ seconds"
            r"|Using compare file: )",
        ),
        known_line("done", ("done",), r"^done\s*$"),
    ),
)
