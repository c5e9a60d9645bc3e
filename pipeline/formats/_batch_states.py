"""What other schedulers' exit statuses mean in the words of Slurm's states, which the ledger understands."""

from __future__ import annotations

#: Signals that a process can die of.
_SIGNALS = range(1, 65)

# --- PBS: an exit code, 256 and a signal, or what the server did with the job.

PBS_STATES = {
    "0": "COMPLETED",
    **dict.fromkeys(("-4", "-5", "-6", "-7"), "NODE_FAIL"),  # the daemon of the node restarted
    **dict.fromkeys(("-11", "-12", "-3", "-18"), "REQUEUED"),
    **dict.fromkeys(("-14", "-20"), "NODE_FAIL"),  # a node, or the first one, was lost
    **dict.fromkeys(("-26", "-27"), "OUT_OF_MEMORY"),  # virtual memory, memory
    **dict.fromkeys(("-28", "-29"), "TIMEOUT"),  # processor time, run time
    "*": "FAILED",
}
#: Torque means limits by what elsewhere is a job that was put back.
TORQUE_STATES = PBS_STATES | {"-10": "OUT_OF_MEMORY", "-11": "TIMEOUT", "-12": "TIMEOUT"}
#: A job that was put back: why, where the status says more than that.
PBS_REQUEUED = {
    **{code: state for code, state in PBS_STATES.items() if state == "NODE_FAIL"},
    "*": "REQUEUED",
}
#: Starts of a job are counted from 1.
PBS_RESTARTS = {str(number): str(number - 1) for number in range(1, 1000)}
PBS_SIGNALS = {**{str(256 + signal): str(signal) for signal in _SIGNALS}, "*": "0"}
PBS_CODES = {str(256 + signal): "0" for signal in _SIGNALS}

# --- LSF: a raw wait status, and why LSF ended the job.

LSF_CODES = {
    **{str(256 * code): str(code) for code in range(1, 256)},
    **{str(core + signal): "0" for core in (0, 128) for signal in _SIGNALS},
}
LSF_SIGNALS = {**{str(core + signal): str(signal) for core in (0, 128) for signal in _SIGNALS}, "*": "0"}
LSF_STATES = {
    "1": "PREEMPTED",
    **dict.fromkeys(("2", "5", "12"), "TIMEOUT"),  # window, run time, processor time
    "6": "DEADLINE",
    **dict.fromkeys(("8", "9", "14", "15", "23"), "CANCELLED"),
    **dict.fromkeys(("10", "11", "13"), "REQUEUED"),
    **dict.fromkeys(("16", "20"), "OUT_OF_MEMORY"),
    "22": "NODE_FAIL",
    "*": "FAILED",
}
LSF_REASONS = {
    "0": "",
    **{
        str(number): f"TERM_{name}"
        for number, name in enumerate(
            (
                *(
                    "PREEMPT",
                    "WINDOW",
                    "LOAD",
                    "OTHER",
                    "RUNLIMIT",
                    "DEADLINE",
                    "PROCESSLIMIT",
                    "FORCE_OWNER",
                ),
                *("FORCE_ADMIN", "REQUEUE_OWNER", "REQUEUE_ADMIN", "CPULIMIT", "CHKPNT", "OWNER", "ADMIN"),
                *("MEMLIMIT", "EXTERNAL_SIGNAL", "RMS", "ZOMBIE", "SWAP", "THREADLIMIT", "SLURM"),
                *("BUCKET_KILL", "CTRL_PID", "CWD_NOTEXIST"),
            ),
            start=1,
        )
    },
}
#: The same by the words that LSF prints.
LSF_WORDS = {
    **{word: LSF_STATES.get(number, "FAILED") for number, word in LSF_REASONS.items() if word},
    "*": "FAILED",
}

# --- SGE: what failed, and a code as a shell has it, with a colon between them.

_SGE_FAILED = {
    "24": "REQUEUED",  # moved
    "25": "REQUEUED",  # put back
    "30": "REQUEUED",  # put back on the job's own wish
    "37": "TIMEOUT",  # a limit that the master enforced
    "44": "TIMEOUT",  # a limit of time that the host enforced
}
SGE_STATES = {
    "0:0": "COMPLETED",
    **{f"{failed}:{code}": state for failed, state in _SGE_FAILED.items() for code in range(256)},
    "*": "FAILED",
}
SGE_SIGNALS = {**{str(128 + signal): str(signal) for signal in _SIGNALS}, "*": "0"}
