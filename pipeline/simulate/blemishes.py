"""What logs of real clusters look like on their way from a program to a folder: every blemish by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What launchers and collectors put before a line.
Prefix = Literal["none", "srun", "torchrun", "rank", "stacked", "host", "kubectl", "mpirun"]

#: What goes into one file.
Files = Literal["attempt", "job", "run"]

Compression = Literal["none", "gzip", "zstd"]

#: How a kernel log writes its times: `dmesg --time-format iso`, `dmesg -T`, syslog, seconds since boot,
#: `journalctl -k -o short-iso-precise`, or that journal as JSON.
KernelForm = Literal["iso", "ctime", "syslog", "boot", "journal", "json"]

#: How accounting is exported: `sacct --parsable2`, `sacct --json`.
AccountingForm = Literal["text", "json"]

#: Those with which something is missing that the truth cannot be told without.
LOSING = ("no_accounting", "kernel_lost", "lost_console", "no_errors")


@dataclass(frozen=True, slots=True)
class Blemishes:
    """What happens to lines after they were printed. Nothing, by default, but the label of `srun`.

    Attributes:
        prefix: what stands before each line of a rank.
        every_rank: every rank prints what one would print.
        interleaved: lines of several ranks reach the file late, each rank in its own order.
        files: one file for each attempt, for each job with its restarts, or for the whole run.
        together: standard error in the file of standard output.
        rotate_bytes: size at which a file is cut at a line end; 0 for never. As `logrotate` names them,
            the last part keeps the name, and of the others `.1` is the latest.
        compression: of the consoles.
        torn: the last line on standard output of an attempt that was killed ends in its middle.
        kernel: how kernel logs write their times.
        accounting: how the scheduler's accounting is exported.
        no_accounting: the scheduler's accounting is missing.
        no_controller: the log of the scheduler's controller is missing.
        kernel_lost: share of the hosts whose kernel log is missing.
        lost_console: number of the attempt of which nothing was printed; 0 for none.
        no_errors: standard error was thrown away.
        noise_mb: million bytes that ranks print beside.
        samples: seconds from one sample of the devices of a host to the next; 0 for none.
    """

    prefix: Prefix = "srun"
    every_rank: bool = False
    interleaved: bool = False
    files: Files = "job"
    together: bool = False
    rotate_bytes: int = 0
    compression: Compression = "none"
    torn: bool = False
    kernel: KernelForm = "iso"
    accounting: AccountingForm = "text"
    no_accounting: bool = False
    no_controller: bool = False
    kernel_lost: float = 0.0
    lost_console: int = 0
    no_errors: bool = False
    noise_mb: float = 0.0
    samples: float = 0.0

    @property
    def loses(self) -> bool:
        """Whether something is missing that the truth cannot be told without."""
        return any(getattr(self, name) for name in LOSING)


#: Logs as they should be.
CLEAN = Blemishes()
