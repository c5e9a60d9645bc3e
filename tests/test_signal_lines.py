"""What lines of logs are taken for by the catalogue of signals, those of the real logs among them."""

from __future__ import annotations

import pytest

from tests.catalogue import BY_ID, ROOT, chosen, evidence

REAL = ROOT.parent / "shared" / "real"


@pytest.mark.parametrize(
    "line",
    [
        # A caught traceback: every line stands behind a header at level W.
        "W0801 09:41:07.503000 501 torch/_inductor/codecache.py:988] [2/0] fx graph cache unable "
        "to load compiled graph",
        "W0801 09:41:07.503000 501 torch/_inductor/codecache.py:988] [2/0] Traceback (most "
        "recent call last):",
        "49: [rank49]:W0801 09:41:07.503000 501 torch/_inductor/codecache.py:988] [2/0] "
        "FileNotFoundError: [Errno 2] "
        "No such file or directory: '/tmp/torchinductor/ab'",
        "[W801 09:41:07.503000 helper.cpp:52] RuntimeError: tried again",
        # An error that a program logs and gets over.
        "2026-10-05 03:05:12,004 WARNING retry 3 of 5: ValueError: bad token",
        "    raise ValueError(f'bad token')",
        "/opt/heron/lib.py:4: UserWarning: Failed to import a plugin due to: ImportError('cannot "
        "import name')",
        # Noise of an orderly exit.
        "[rank0]:[W412 08:18:45.197379300 ProcessGroupNCCL.cpp:1250] Warning: WARNING: "
        "destroy_process_group() was not "
        "called before program exit, which can leak resources.",
        "[rank9]:[W412 08:19:44.101000000 ProcessGroupNCCL.cpp:1662] [PG ID 0 PG GUID "
        "0(default_pg) Rank 9] Failed to "
        'check the "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early)',
        "ImportError: sys.meta_path is None, Python is likely shutting down",
        # What people and pages say of a kernel's line.
        "mira: NVRM: Xid (PCI:0000:9b:00): 79, again on gx017?",
        "- `NVRM: Xid (PCI:0000:9b:00): 79, …` in the kernel log: the GPU is gone, power-cycle the node",
        "2026-03-03 08:03:20,123 INFO health: last seen NVRM: Xid (PCI:0000:9b:00): 48, pid=1",
        "see https://wiki/x: python3 invoked oom-killer: means that memory of the host ran out",
        "heron: the last one ended with Cuda failure 'out of memory'",
        "a wrapper that says so when ssh exited with exit code 1",
        # Configuration that speaks of time-outs.
        "[rank0]:[I412 08:00:01.100000000 ProcessGroupNCCL.cpp:881] [PG ID 0 PG GUID 0(default_pg) Rank 0] "
        "ProcessGroupNCCL initialization options: size: 64, global rank: 0, TIMEOUT(ms): 600000",
        "TORCH_NCCL_DUMP_ON_TIMEOUT=1",
    ],
)
def test_is_no_evidence(line: str) -> None:
    assert evidence(line) == []


@pytest.mark.parametrize(
    ("line", "name", "cause"),
    [
        (
            "3: [default1]:[rank25]: FileNotFoundError: [Errno 2] No such file or directory: "
            "'/data/doc_idx.npy'",
            "py_file_not_found_error",
            "missing_file",
        ),
        (
            "[E0412 08:12:47.964218 2585 torch/x.py:1] KeyError: 'input_ids'",
            "py_key_error",
            "software_exception",
        ),
        (
            "[rank5]: RuntimeError: Storage size calculation overflowed with sizes=[4, 47245574]",
            "exception_line",
            "software_exception",
        ),
        # An exception that quotes a kernel is an exception; the kernel's own line is the kernel's anywhere.
        (
            "[rank3]: RuntimeError: rank 3 is gone, dmesg has NVRM: Xid (PCI:0000:9b:00): 79, pid=1",
            "exception_line",
            "software_exception",
        ),
        (
            "3: [Tue Mar  3 08:03:20 2026] NVRM: Xid (PCI:0000:9b:00): 79, pid=1, name=python3",
            "xid_79_fallen_off_bus",
            "gpu_fell_off_bus",
        ),
        (
            "12:Mar  2 10:06:05 gx990 kernel: NVRM: Xid (PCI:0000:9b:00): 79, pid=1, name=python3",
            "xid_79_fallen_off_bus",
            "gpu_fell_off_bus",
        ),
        (
            "INFO dmesg: [  412.930514] NVRM: Xid (PCI:0000:9b:00): 79, pid=1, name=python3",
            "xid_79_fallen_off_bus",
            "gpu_fell_off_bus",
        ),
        (
            "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, name=python3, GPU has fallen off the bus.",
            "xid_79_fallen_off_bus",
            "gpu_fell_off_bus",
        ),
        (
            "nvidia 0000:9b:00.0: AER: Uncorrectable (Fatal) error message received from 0000:9b:00.0",
            "pcie_aer_uncorrectable",
            "pcie_error",
        ),
        ("AssertionError", "py_assertion_error", "software_exception"),
        ("NotImplementedError", "exception_bare_any", "software_exception"),
        (
            "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 130.00 MiB. GPU 3 has",
            "cuda_oom",
            "gpu_out_of_memory",
        ),
        # What CUDA says of a call is no fault of a GPU: memory that the program used up, a call that it made
        # wrongly, a build that does not fit.
        *(
            (front + text + ("'" if front.endswith("'") else ""), name, cause)
            for front, names in (
                (
                    "gx017:4411:4702 [3] enqueue.cc:1451 NCCL WARN Cuda failure 2 '",
                    ("nccl_cuda_oom", "nccl_cuda_invalid_call", "nccl_cuda_wrong_build"),
                ),
                ("Cuda failure '", ("nccl_cuda_oom", "nccl_cuda_invalid_call", "nccl_cuda_wrong_build")),
                ("RuntimeError: CUDA error: ", ("cuda_oom_driver", "cuda_invalid_call", "cuda_wrong_build")),
                (
                    "RuntimeError: HIP error: ",
                    ("cuda_hip_oom", "cuda_hip_invalid_call", "cuda_hip_wrong_build"),
                ),
            )
            for name, text, cause in zip(
                names,
                ("out of memory", "invalid argument", "invalid device function"),
                ("gpu_out_of_memory", "software_exception", "environment_error"),
                strict=True,
            )
        ),
        (
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when",
            "cublas_alloc_failed",
            "gpu_out_of_memory",
        ),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_BAD_PARAM", "cudnn_invalid_call", "software_exception"),
        # What leaves open what failed.
        ("RuntimeError: CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when", "cublas_error", "gpu_other"),
        ("RuntimeError: CUDA error: initialization error", "cuda_error_any", "gpu_other"),
        ("RuntimeError: HIP error: unknown error", "cuda_hip_error_any", "gpu_other"),
        (
            "gx017:4411:4702 [3] enqueue.cc:1451 NCCL WARN Cuda failure 999 'unknown error'",
            "nccl_cuda_failure",
            "gpu_other",
        ),
        (
            "[rank3]: RuntimeError: NCCL Error 2: unhandled system error (run with NCCL_DEBUG=INFO)",
            "nccl_err_system",
            "network_other",
        ),
        (
            "  what():  [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread "
            "terminated with exception: [Rank 3] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=4, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600042 milliseconds "
            "before timing out.",
            "pgnccl_watchdog_timeout",
            "collective_timeout",
        ),
        (
            "slurmstepd-gx01: error: *** JOB 88123 ON gx01 CANCELLED AT 2026-10-05T20:22:50 ***",
            "slurm_cancelled_job",
            "operator_stop",
        ),
        (
            "2026-03-03 01:22:51,310 INFO default.py:42 -- Deciding to TERMINATE, since the total failure "
            "count (2) exceeded the maximum allowed failures: FailureConfig(max_failures=1).",
            "ray_train_gave_up",
            "exit_code",
        ),
        (
            "(TrainController pid=33120) [FailurePolicy] Decision: FailureDecision.RETRY, Error source: "
            "controller, Error count / maximum errors allowed: 1/inf, Error: The worker group timed out.",
            "ray_train_failure_decision",
            "exit_code",
        ),
        ("pdsh@gx016: gx017: ssh exited with exit code 1", "pdsh_exit_code", "exit_code"),
        ("TERM_RUNLIMIT: job killed after reaching LSF run time limit.", "lsf_run_limit", "time_limit"),
        ("TERM_OWNER: job killed by owner.", "lsf_killed_by_owner", "operator_stop"),
        ("=>> PBS: job killed: walltime 172812 exceeded limit 172800", "pbs_walltime", "time_limit"),
        (
            " 0: [2026-10-05T20:22:50.113] error: *** STEP 88123.1 ON gx001 CANCELLED AT "
            "2026-10-05T20:22:50 DUE TO TIME LIMIT ***",
            "slurm_time_limit",
            "time_limit",
        ),
        (
            "Mar  1 10:11:12 gx017 kernel: [412007.93] NVRM: Xid (PCI:0000:9b:00): 79, "
            "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            "xid_79_fallen_off_bus",
            "gpu_fell_off_bus",
        ),
        (
            "6,1207,91004410,-;NVRM: Xid (PCI:0000:9b:00): 145, RLW_REMAP  Nonfatal XC0 i0 Link 08 (0x7 0xb)",
            "xid_nvlink5_nonfatal",
            "nvlink_error",
        ),
    ],
)
def test_is_taken_for(line: str, name: str, cause: str) -> None:
    assert (chosen((line,)), BY_ID[name]["cause"]) == ([name], cause)


@pytest.mark.skipif(not REAL.exists(), reason="the folder of real logs is not beside the checkout")
@pytest.mark.parametrize(
    ("path", "causes", "first"),
    [
        ("nccl/fwyc-tiny", set(), None),
        ("megatron/alps-2561509", {"data_exhausted"}, "megatron_data_exhausted"),
        ("kernel/gpud-xid119", {"gpu_gsp_timeout"}, "xid_119_gsp_rpc_timeout"),
        ("nccl/lockclock-smoke-0328", {"missing_file", "collective_timeout"}, "py_file_not_found_error"),
        ("nccl/lockclock-watch-0328", {"missing_file", "collective_timeout"}, "py_file_not_found_error"),
        ("torchrun-failure/alps-1857626", {"software_exception"}, "py_type_error"),
        ("torchrun-failure/lockclock-dual32-base1", {"environment_error"}, "py_module_not_found_error"),
        ("torchrun-failure/lockclock-dual16-oom", {"gpu_out_of_memory"}, "cuda_oom"),
        ("megatron/alps-2609830-timelimit", {"time_limit"}, "slurm_time_limit"),
        ("megatron/alps-1861140-timelimit", {"time_limit"}, "slurm_time_limit"),
    ],
)
def test_real_logs_give_the_causes_that_were_read_there(
    path: str, causes: set[str], first: str | None
) -> None:
    lines = [
        line
        for file in sorted((REAL / path).iterdir())
        for line in file.read_bytes().decode("utf-8", "replace").split("\n")
    ]
    found = [name for name in chosen(tuple(lines)) if name and BY_ID[name]["weight"] == "cause"]
    assert {BY_ID[name]["cause"] for name in found} == causes
    assert (found[0] if found else None) == first


@pytest.mark.skipif(not REAL.exists(), reason="the folder of real logs is not beside the checkout")
def test_exceptions_come_before_the_watchdogs_that_they_bring_about() -> None:
    """The data ran out on half of the ranks; the others waited 600 s for them."""
    text = (REAL / "megatron" / "alps-2340717-watchdog" / "2340717.err").read_text("utf-8", "replace")
    found = [name for name in chosen(tuple(text.split("\n"))) if name]
    first = {name: found.index(name) for name in ("py_stop_iteration", "pgnccl_watchdog_timeout")}
    assert first["py_stop_iteration"] < first["pgnccl_watchdog_timeout"]
    assert found.count("pgnccl_watchdog_timeout") == 84
