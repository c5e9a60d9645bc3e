"""What stands before a message in a syslog or a journal: time, host, program; the same for all programs.

The journal prints the time in nine ways (``journalctl -o``), syslog in three; all of them are here once, for
the kernel's own lines and for those of daemons.
"""

from __future__ import annotations

from pipeline.formats.format import Pattern, known_line

#: Mar  1 10:11:12, with microseconds in `short-precise`.
SYSLOG = r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?)"
#: 2026-03-01T10:11:12.003456+00:00; older journals write the offset without its colon.
ISO = r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
#: Sun 2026-03-01 10:11:12 CET: `short-full` and `with-unit`.
FULL = (
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? (?:[A-Z]{2,5}|[+-]\d{2,4}))"
)
#: 1772359872.003456: `short-unix`.
UNIX = r"(?:\d{10}\.\d{6})"
#: [  371.480117 <    0.000316 >]: `short-delta`.
DELTA = r"(?:\[ *\d+\.\d{6} <[ \d.]+>\])"

_NAMES = r"(?:\(\S+\))?(?:\[\d+\])?: "


def dress_patterns(prefix: str, literals: tuple[str, ...], program: str) -> tuple[Pattern, ...]:
    """Return the patterns of lines that one of some programs wrote; ``literals`` are parts of their names.

    The text behind the name is for the catalogue of signals.
    """

    def line(name: str, stamp: str, versions: str, note: str = "") -> Pattern:
        regex = rf"^{stamp} [\w.-]+ {program}{_NAMES}"
        return known_line(f"{prefix}{name}", literals, regex, versions, note)

    return (
        line(
            "syslog",
            rf"(?:<\d+>)?{SYSLOG}",
            "RFC 3164; journalctl -o short, short-precise",
            "No year and no zone: the year is the one that brings the line nearest to dated ones.",
        ),
        line("syslog_iso", rf"(?:<\d+>)?{ISO}", "rsyslog; journalctl -o short-iso, short-iso-precise"),
        line("journal_full", FULL, "journalctl -o short-full, with-unit", "The name of a zone is no offset."),
        line("journal_unix", UNIX, "journalctl -o short-unix"),
        line("journal_delta", DELTA, "journalctl -o short-delta", "Seconds since boot: no wall time."),
    )


#: What `journalctl` says itself: between boots, at the begin of an export, where there is nothing.
JOURNAL_MARK = known_line(
    "journal_mark",
    ("-- Boot ", "-- Reboot --", "-- Logs begin at ", "-- Journal begins at ", "-- No entries --"),
    r"^-- (?:Boot [0-9a-f]{32}|Reboot|(?:Logs begin|Journal begins) at .*, ends? at .*|No entries) --$",
)
