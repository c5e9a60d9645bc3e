"""Messages of the Linux kernel, in every dress in which people collect them.

``dmesg -T`` computes its times from the boot time that holds now, local and without a zone. Raw messages
count seconds since boot, which no calendar knows until another line gives the boot time. Syslog has no year
before RFC 5424. What a message means is for the catalogue of signals to say.
"""

from __future__ import annotations

from pipeline.formats._syslog_dress import ISO as _ISO
from pipeline.formats._syslog_dress import JOURNAL_MARK, dress_patterns
from pipeline.formats.format import Format, Pattern, Value

_LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def _line(name: str, literals: tuple[str, ...], regex: str, note: str = "") -> Pattern:
    """Return the pattern of one dress: the text behind it is for the catalogue."""
    return Pattern(name=name, table="", literals=literals, regex=regex, note=note)


FORMAT = Format(
    name="kernel",
    title="Linux kernel messages (dmesg, kmsg, pstore, syslog, journal)",
    link="https://www.kernel.org/doc/Documentation/ABI/testing/dev-kmsg",
    role="node",
    versions="dmesg of util-linux, /dev/kmsg, pstore, RFC 3164 and RFC 5424 syslog, journalctl",
    deciding=(
        *("syslog", "syslog_iso", "syslog_5424", "journal_full", "journal_unix", "journal_delta"),
        *("kmsg", "decoded"),
    ),
    least_share=0.2,
    patterns=(
        # [Thu Apr  9 05:42:17 2026] NVRM: …
        _line(
            "dmesg_ctime",
            tuple(f"[{day} " for day in _DAYS),
            r"^(?:\w+ *: *\w+ *: *)?\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] ",
            note="Off by as much as the clock was set since boot, or the machine slept.",
        ),
        # kern  :warn  : 2026-04-09T05:42:17,285060+00:00 NVRM: …
        _line(
            "decoded",
            tuple(f":{level}" for level in _LEVELS),
            rf"^(?:kern|user|daemon|syslog) *: *(?:{'|'.join(_LEVELS)}) *: {_ISO} ",
        ),
        # 2026-04-09T05:42:17,285060+00:00 NVRM: …; the comma tells it from other programs.
        _line("dmesg_iso", ("T0", "T1", "T2"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}[+-]\d\d:?\d\d "),
        # 6,1207,91004410,-;NVRM: …: priority, number, microseconds since boot.
        _line("kmsg", (",-;", ",c;", ",+;"), r"^\d+,\d+,\d+,[-c+](?:,[^;]*)?;"),
        # The key and value of a device below a kmsg record.
        _line(
            "kmsg_device",
            (" SUBSYSTEM=", " DEVICE=", " DRIVER="),
            r"^ (?:SUBSYSTEM|DEVICE|DRIVER)=\S+$",
        ),
        # [    1.204117] rtc_cmos 00:01: setting system clock to 2026-10-01T03:12:44 UTC (1790824364)
        Pattern(
            name="clock_set",
            table="facts",
            columns={"key": Value(const="clock_at_boot"), "value": Value("epoch")},
            literals=(": setting system clock to ",),
            regex=r"\brtc\S* .*: setting system clock to \S+ UTC \((?P<epoch>\d{9,10})\)\s*$",
            note="Once per boot: it says which time the seconds since boot are counted from.",
        ),
        # [  88.417003] BUG: …, with `<1>` before it in a pstore record.
        # What clocks say is for the pattern above.
        _line(
            "boot_seconds",
            ("[",),
            r"^(?:<\d+>)?\[ *\d+\.\d{6}\](?:$|[^ ]| (?:$|[^r]|r(?:$|[^t])|rt(?:$|[^c])))",
        ),
        # [Apr 9 05:42] …, then [  +0.000316] …: what `dmesg -H` leaves of the time.
        _line("dmesg_human", ("[",), r"^\[(?: *\+\d+\.\d{6}|[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d)\] "),
        # Oops#1 Part1: the head of a pstore record.
        _line("pstore_part", ("Oops#", "Panic#"), r"^(?:Oops|Panic)#\d+ Part\d+"),
        # Mar  1 10:11:12 gx017 kernel: [412007.930514] NVRM: …, and what the journal makes of it.
        *dress_patterns("", (" kernel: ",), "kernel"),
        # <4>1 2026-03-01T10:11:12.003456Z gx017 kernel - - - NVRM: …
        _line("syslog_5424", (" kernel - ",), rf"^<\d+>\d {_ISO} [\w.-]+ kernel - \S+ [-\[]"),
        JOURNAL_MARK,
    ),
)
