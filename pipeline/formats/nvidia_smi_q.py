"""``nvidia-smi -q``: all that a driver knows of its devices, at one time.

The catalogue of signals knows what slows a device down. The time stands at the head of each report only.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Pattern, Value, known_line

FORMAT = Format(
    name="nvidia_smi_q",
    title="Report of a driver about its GPUs (nvidia-smi -q)",
    link="https://docs.nvidia.com/deploy/nvidia-smi/index.html",
    role="node",
    versions="driver 418 to 580",
    deciding=("head",),
    least_share=0.2,
    unrendered="A report at one time; the kernel log of the host tells of the same faults.",
    patterns=(
        known_line("head", ("==NVSMI LOG==",), r"^=+NVSMI LOG=+\s*$"),
        Pattern(
            name="driver",
            table="facts",
            columns={"key": Value(const="driver_version"), "value": Value("version")},
            literals=("Driver Version ",),
            regex=r"^Driver Version {2,}: (?P<version>[\d.]+)\s*$",
        ),
        Pattern(
            name="model",
            table="facts",
            columns={"key": Value(const="gpu_model"), "value": Value("model")},
            literals=("    Product Name ",),
            regex=r"^    Product Name {2,}: (?P<model>\S.*?)\s*$",
        ),
        known_line("time", ("Timestamp ",), r"^Timestamp {2,}: [A-Z][a-z]{2} [A-Z][a-z]{2} "),
        known_line("counts", ("Attached GPUs ", "CUDA Version "), r"^(?:Attached GPUs|CUDA Version) {2,}: "),
        Pattern(
            name="device",
            table="facts",
            columns={"key": Value(const="gpu_pci"), "value": Value("pci")},
            literals=("GPU 0000",),
            regex=r"^GPU (?P<pci>[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s*$",
            note="The driver lists its devices in the order of their indices.",
        ),
        # What one field says, or the head of a group of fields.
        known_line(
            "field",
            ("    ",),
            r"^(?: {8,}\w[^:]*? {2,}: |    (?:[^P\s]|P[^r])[^:]*? {2,}: |    Pr(?:[^o]|o[^d])[^:]*? {2,}: "
            r"|    Product [^N\s][^:]*? {2,}: | {4,20}[A-Z][\w /()-]*\s*$)",
        ),
    ),
)
