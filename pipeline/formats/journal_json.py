"""The journal as JSON (``journalctl -o json``): one entry per line, of the kernel or of any daemon.

The catalogue of signals reads the message of each entry. A message that is no UTF-8 comes as a list of bytes
and is not read.
"""

from __future__ import annotations

from pipeline.formats.format import Derived, Format, Pattern, Value

FORMAT = Format(
    name="journal_json",
    title="systemd journal as JSON (journalctl -o json)",
    link="https://systemd.io/JOURNAL_EXPORT_FORMATS/",
    role="node",
    shape="records",
    versions="systemd 219 to 258",
    deciding=("entry",),
    derive={
        # Bytes in a list are no message.
        "message": Derived(("MESSAGE",), r"(?s)^(?P<v>[^\[].*|\[[^0-9].*)$"),
    },
    patterns=(
        Pattern(
            name="entry",
            table="signals",
            when=("__REALTIME_TIMESTAMP", "_BOOT_ID"),
            columns={
                "ts": Value(
                    ("_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP"), "stamp", stamp="epoch_us"
                ),
                "host": Value("_HOSTNAME"),
                "text": Value("message"),
            },
            note="The time is the one at which the program logged, where the journal knows it, else the one "
            "at which the journal received the entry.",
        ),
    ),
)
