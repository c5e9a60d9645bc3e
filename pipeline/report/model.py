"""The review as it is printed: pages of sentences, figures and tables; every print is made from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pipeline.report.facts import Facts

#: Version of the shape of model.json.
SCHEMA = 1


class Chart(Protocol):
    """Plain values of one figure, which know how to be drawn."""

    def draw(self, name: str, alt: str) -> str:
        """Return the figure as SVG; ``name`` is the prefix of its ids, ``alt`` its text alternative."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its caption and text alternative."""

    name: str
    caption: str
    alt: str
    chart: Chart
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; ``share`` is its part of the free width, 0 for as wide as its content."""

    title: str
    align: Literal["left", "right"] = "left"
    share: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: text of the cells.
        weight: ``total`` is set bold below a rule.
        detail: a second line below the cells, over the whole width.
        anchor: name by which links reach the row.
    """

    cells: tuple[str, ...]
    weight: Literal["body", "total"] = "body"
    detail: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``more`` holds the rows that only the HTML print shows, ``after`` the line below the table.

    Where rows have details, the first or the last column is as wide as its content (share 0).
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    more: tuple[Row, ...] = ()
    after: str = ""
    kind: Literal["table"] = "table"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list: a bold lead and a text."""

    lead: str
    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A titled list; ``empty`` is printed where there are no items, ``note`` below them.

    ``more`` holds the items that only the HTML print shows.
    """

    title: str
    items: tuple[Item, ...]
    empty: str = ""
    note: str = ""
    more: tuple[Item, ...] = ()
    kind: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class Box:
    """A framed box: pairs of label and value, and a line below."""

    title: str
    rows: tuple[tuple[str, str], ...]
    note: str
    kind: Literal["box"] = "box"


@dataclass(frozen=True, slots=True)
class Beside:
    """Two blocks side by side; the left one takes ``share`` per cent of the width."""

    left: Listing | Box | Table
    right: Listing | Box | Table
    share: int
    kind: Literal["beside"] = "beside"


Block = Figure | Table | Text | Listing | Box | Beside


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the review.

    Attributes:
        number: place in the fixed order.
        key: name of the anchor.
        question: what the page answers.
        sentence: its message.
        blocks: what stands on it; none for a page that only says why it is empty.
        marks: meaning of the footnote marks that its data set.
    """

    number: int
    key: str
    question: str
    sentence: str
    blocks: tuple[Block, ...] = ()
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """A whole review.

    Attributes:
        name: run or fleet.
        period: the period in words.
        start, end: the same as times in UTC.
        paper: a4 or letter.
        headline, second: the two sentences that everybody reads.
        footer: what the numbers rest on.
        pages: in their fixed order.
        facts: every number, as loaded from the marts.
    """

    name: str
    period: str
    start: datetime
    end: datetime
    paper: str
    headline: str
    second: str
    footer: str
    pages: tuple[Page, ...]
    facts: Facts
    schema: int = SCHEMA
