"""Faults of the program, its numbers and its data: most of them end in a traceback."""

from __future__ import annotations

from dataclasses import replace

from pipeline.simulate.faults.kinds import STOPPED, Fault, Line, found_at_once, texts, xid
from pipeline.simulate.faults.launcher import TASK_EXITED, dies, raised, raises, traceback, worker_failed

_INDEXING = (
    "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1308: indexSelectLargeIndex: block: [17,0,0],"
    " thread: [{thread},0,0] Assertion `srcIndex < srcSelectDimSize` failed."
)

FAULTS = (
    raises(
        "cuda_out_of_memory",
        "gpu_out_of_memory",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.75 GiB. GPU {gpu} has a"
        " total capacity of"
        " 79.20 GiB of which 2.31 GiB is free.",
    ),
    raises("key_error", "software_exception", "KeyError: 'input_ids'"),
    raises(
        "type_error", "software_exception", "TypeError: forward() got an unexpected keyword argument 'mask'"
    ),
    raises(
        "value_error",
        "software_exception",
        "ValueError: Expected input batch_size (8) to match target batch_size (7).",
    ),
    raises("assertion", "software_exception", "AssertionError: data parallel size mismatch"),
    raises("own_exception", "software_exception", "heron.data.ShardException: shard 7 has no index"),
    # Without a launcher nothing has a time but the end of the step.
    Fault(
        "bare_exception",
        "software_exception",
        "unplanned",
        "undated",
        (*traceback("IndexError: list index out of range"), TASK_EXITED, *STOPPED),
        (0.1, 0.5),
        (3.0, 8.0),
        when="loop",
    ),
    raises(
        "missing_file",
        "missing_file",
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/heron/shard_12.idx'",
        when="start",
    ),
    raises(
        "no_permission",
        "configuration_error",
        "PermissionError: [Errno 13] Permission denied: '/lustre/ckpt'",
        when="start",
    ),
    raises(
        "other_shape",
        "configuration_error",
        "RuntimeError: Error(s) in loading state_dict for GPTModel: Missing key(s) in state_dict:"
        ' "decoder.final_layernorm.weight"',
        when="start",
    ),
    raises(
        "bad_sample",
        "data_error",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x80 in position 64: invalid start byte",
    ),
    replace(
        raises("loader_timeout", "data_error", "RuntimeError: DataLoader timed out after 300 seconds"),
        notice="watchdog",
        waits_s=300.0,
    ),
    raises(
        "worker_killed",
        "host_out_of_memory",
        "RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Killed. ",
    ),
    raises(
        "nan_loss",
        "numerics",
        "RuntimeError: Rank {rank}, node {host}, device {gpu}, iteration {step}:"
        " Unexpected result nan (message='found NaN in local grad norm for bucket #0 in backward pass before"
        " data-parallel communication collective')",
    ),
    Fault(
        "wrong_result",
        "silent_corruption",
        "unplanned",
        "undated",
        (
            *texts(
                "rank",
                "detected",
                0.0,
                "Rank {rank}, node {host}, device {gpu}, iteration {step}: Unexpected result nan"
                " (message='loss is NaN')",
                "Possible transient error!",
            ),
            *worker_failed("16"),
            *STOPPED,
        ),
        (0.1, 0.5),
        exit_code="16:0",
        host_fails=True,
        when="loop",
    ),
    found_at_once(
        "device_assert",
        "software_exception",
        *texts("rank", "detected", -0.01, *(_INDEXING.replace("{thread}", str(at)) for at in (33, 34, 35))),
        *raised("torch.AcceleratorError: CUDA error: device-side assert triggered"),
        Line("kernel", xid(43, "Ch 00000008"), "detected", 0.02),
        host_fails=False,
    ),
    found_at_once(
        "illegal_access",
        "software_exception",
        Line(
            "kernel",
            xid(
                31,
                "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC4 GPCCLIENT_T1_6 faulted @"
                " 0x7e9f_4f200000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
            ),
        ),
        *raised("torch.AcceleratorError: CUDA error: an illegal memory access was encountered"),
        Line("kernel", xid(43, "Ch 00000008"), after_s=0.5),
        host_fails=False,
    ),
    dies(
        "segfault",
        "software_exception",
        Line(
            "kernel",
            "python3[{pid}]: segfault at 0 ip 00007f1c2a4b3319 sp 00007f1bd97fb9a8 error 4 in"
            " libtorch_cuda.so[7f1c20000000+3d00000]",
        ),
        Line("scheduler", "srun: error: {host}: task {rank}: Segmentation fault (core dumped)", "detected"),
        exit_code="0:11",
    ),
)
