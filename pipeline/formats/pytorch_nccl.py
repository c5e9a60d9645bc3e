"""Messages of PyTorch's native code and of NCCL: watchdogs, stores, transports, and stacks of C++.

A header of the native code has no year and no zone, and up to PyTorch 2.3 not even a time. NCCL prints a
time before its warnings only, and only from 2.26 on. What a message means is for the catalogue of signals
to say; most lines here are chatter at start-up, and much of the rest is noise of an orderly exit.
"""

from __future__ import annotations

from pipeline.formats.format import Format, Head, Pattern, Value, known_line

FORMAT = Format(
    name="pytorch_nccl",
    title="PyTorch native code and NCCL",
    link="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
    role="any",
    primary=False,
    versions="PyTorch 1.9 to 2.9, NCCL 2.7 to 2.30",
    # What every rank says about every channel and peer when communicators are set up.
    chatter=(
        *("NCCL INFO Channel ", "NCCL INFO Ring ", "NCCL INFO Trees ", "NCCL INFO Connected all "),
        *("NCCL INFO threadThresholds ", "NCCL INFO P2P Chunksize ", "NCCL INFO Setting affinity "),
        "- Init COMPLETE",
        "[Gloo] Rank ",
    ),
    # The prefix of the launcher belongs to it.
    heads=(
        Head(r"\[rank[0-9]+\]:\[[EWF]", "any"),
        Head(r"terminate called after throwing an instance of ", "words"),
        # Kernels print past all buffers.
        Head(r"(?:/pytorch|\.\.)/aten/src/ATen/native/", "cut"),
    ),
    patterns=(
        known_line(
            # [E412 08:12:41.109716087 ProcessGroupNCCL.cpp:684] …: severity, month, two digits of day.
            # Glog programs print the number of the thread before the file and zero-pad the month.
            "native",
            (".cpp:", ".hpp:", ".cc:"),
            r"^\[?[VIWEF]\d{3,4} \d\d:\d\d:\d\d\.\d+ (?:\d+ )?[\w./-]+\.(?:cpp|hpp|cc):\d+\] ?",
            versions="PyTorch 2.4 on",
        ),
        known_line(
            "native_untimed",
            (".cpp:", ".hpp:", ".cc:"),
            r"^\[[VIWEF] [\w./-]+\.(?:cpp|hpp|cc):\d+\] ?",
            versions="PyTorch to 2.3",
        ),
        known_line(
            # W0801 09:41:07.503000 40771 torch/_inductor/codecache.py:988] …, on every line of a message.
            "python_logging",
            ("torch/_", "torch/fx", "torch/utils", "torch/nn", "torch/cuda", "torch/distributed/"),
            r"^[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ (?:\S*/)?torch/(?:(?:_\w+|fx|utils|nn|cuda)\b[\w./]*"
            r"|distributed/(?:_\w+|\w*c10d\w*|checkpoint|fsdp|tensor|nn|pipelining|rpc)\b[\w./]*):\d+\]",
            note="A traceback behind such a header at level W was caught: the program goes on.",
        ),
        known_line("native_frame", ("frame #",), r"^frame #\d+: "),
        known_line(
            # …/Indexing.cu:1308: indexSelectLargeIndex: block: [17,0,0], … Assertion `…` failed.
            "kernel_assertion",
            ("/aten/src/ATen/native/",),
            r"^\S+/aten/src/ATen/native/\S+\.cu:\d+: .*Assertion `.*` failed\.",
        ),
        known_line(
            "native_raised",
            ("Exception raised from ",),
            r"^Exception raised from .+ \(most recent call first\):",
        ),
        known_line(
            "native_terminate",
            ("terminate called ",),
            r"^terminate called (?:after throwing|without an active)",
        ),
        known_line("native_what", (" what():  ",), r"^\s+what\(\):  "),
        known_line(
            "native_omitted",
            ("<omitting python frames>", "C++ CapturedTraceback:"),
            r"^\s*(?:<omitting python frames>|C\+\+ CapturedTraceback:)",
        ),
        Pattern(
            name="nccl_device",
            table="facts",
            columns={
                "key": Value(const="nccl_device"),
                "value": Value("device"),
                "host": Value("host"),
                "rank": Value("rank", "int"),
            },
            literals=(" nvmlDev ",),
            regex=r"\b(?P<host>[A-Za-z][\w.-]*):\d+:\d+ \[\d+\] NCCL (?:INFO|TRACE) .*\brank (?P<rank>\d+) "
            r"nranks \d+ cudaDev \d+ nvmlDev (?P<device>\d+ busId [0-9a-f]+) .*- Init START\s*$",
            versions="NCCL 2.13 on",
            note="Index of the driver and number of the bus: domain, bus, device, function, in hexadecimal.",
        ),
        known_line(
            "nccl_info",
            ("NCCL INFO ", "NCCL TRACE "),
            # Whatever does not end in START, which only the two patterns around this one do.
            r"\bNCCL (?:INFO|TRACE) (?:.*(?:[^T\s]|[^R]T|[^A]RT|[^T]ART|[^S]TART)|T?)\s*$",
        ),
        known_line(
            "nccl_start",
            ("- Init START",),
            r"\bNCCL (?:INFO|TRACE) (?:[^n]|n[^v])*- Init START\s*$",
            versions="NCCL to 2.12",
        ),
        known_line(
            "nccl_warning",
            ("NCCL WARN ", "NCCL ERROR "),
            r"\bNCCL (?:WARN|ERROR) \S",
            note="An empty line stands before it; the name of the host is cut at its first dot.",
        ),
        Pattern(
            name="nccl_version",
            table="facts",
            columns={"key": Value(const="nccl_version"), "value": Value("version")},
            literals=("NCCL version ",),
            regex=r"^NCCL version (?P<version>\d[\w.+]*)",
        ),
        known_line(
            "nccl_result",
            ("nccl", "Last error:", "Cuda failure "),
            r"^(?:Last error:\s*$|nccl[A-Z]\w+: \S|Cuda failure (?:\d+ )?'[^']+'\s*$)",
            note="The result behind `NCCL error in:`, on a line of its own.",
        ),
        known_line(
            "cuda_advice",
            (
                "CUDA kernel errors might",
                "CUDA_LAUNCH_BLOCKING",
                "TORCH_USE_CUDA_DSA",
                "Search for `cudaError",
            ),
            r"^(?:CUDA kernel errors might be|For debugging consider passing CUDA_LAUNCH_BLOCKING"
            r"|Compile with `TORCH_USE_CUDA_DSA`|Search for `cudaError)",
        ),
        known_line("gloo", ("[Gloo] ",), r"^\[Gloo\] Rank \d+ is connected to \d+ peer ranks"),
    ),
)
