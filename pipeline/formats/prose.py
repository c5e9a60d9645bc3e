"""How records are told apart that a program prints for people: a head, and a part for each run of a job."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prose:
    """Where records and their parts begin, and how lines were cut. Expressions look at the begin of a line.

    A record has the fields ``whole``, its text, ``head``, that before its first part, ``part``, that of the
    part, ``more``, which is ``1`` where the same member has a part after it, and ``alone``, which is ``1`` of
    one without parts; all others are cut out of these. A pattern with a ``regex`` and no table knows lines
    around them.

    Attributes:
        begin: the first line of a record.
        inside: any further line of it; the record ends before a line that is none.
        part: a line with which another part begins, such as another time that a job ran; each part makes a
            record, together with the head. Empty where there are none.
        member: its one group tells of which member of an array the line speaks; empty where none does.
        rest: what stands before the rest of a line that was cut; empty where lines are not cut.
        width: columns at which lines are cut.
    """

    begin: str
    inside: str
    part: str = ""
    member: str = ""
    rest: str = ""
    width: int = 0
